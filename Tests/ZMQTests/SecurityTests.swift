internal import CoreAPI
internal import CoreAPITesting
internal import FileNotifyBackend
internal import Glibc
internal import InMemoryBackend
internal import Platform
internal import TestSupport
internal import Testing

@testable import ZMQBackend

extension ZMQTests {
    /// The clients that are admitted, and a hub's handling of unexpected input.
    @Suite("A hub's doors")
    struct SecurityTests {
        @Test("a port without keys is refused at start, also on loopback, and so is a client without keys")
        func portWithoutKeys() async throws {
            for text in ["tcp://0.0.0.0:0", "tcp://*:5555", "tcp://192.0.2.1:5555", "tcp://127.0.0.1:0"] {
                let endpoint = try HubEndpoint(text)
                try await expect(.invalidArgument, from: "a hub at \(endpoint)") {
                    _ = try await Hub.start(
                        HubOptions(group: "group", storage: .memory(MemorySpace()), endpoints: [endpoint]))
                }
                try await expect(.invalidArgument, from: "a client of \(endpoint)") {
                    _ = try await ZMQGroup.open(endpoint, group: "group")
                }
            }
        }

        @Test("a client is let in by its key alone: not without one, not with another, not to another hub")
        func keys() async throws {
            let stage = try HubStage()
            let (own, clientKeys) = stage.keys
            let other = try CurveKeyPair.generate()
            let hub = try await stage.hub(at: [.tcp(host: "127.0.0.1", port: 0)])
            let endpoint = hub.endpoints[0]
            let client = try await stage.client(at: endpoint)
            try await client.put("k", [1])

            let error = await #expect(throws: SharedCoreError.self) {
                _ = try await stage.client(at: endpoint) {
                    $0.keys = try? CurveClientKeys(own: other, hub: own.publicKey)
                }
            }
            // The connection of this client is refused before any message of it is read.
            #expect(error?.code == .forbidden && error?.message.contains("does not let this client's key in") == true)
            try await expect(.unavailable, from: "a client that expects another hub") {
                _ = try await stage.client(at: endpoint) {
                    $0.keys = try? CurveClientKeys(own: clientKeys, hub: other.publicKey)
                    $0.openTimeout = .milliseconds(500)
                }
            }
            // The client gets the reason, although the hub cannot send it any message.
            let link = try HubLink(
                to: endpoint, group: "group", as: SessionDescription(),
                options: ZMQGroupOptions(
                    openTimeout: nil, keys: CurveClientKeys(own: clientKeys, hub: other.publicKey)))
            let joining = Task { _ = try await link.join() }
            try await eventually("the cause is a wrong key") {
                await link.lastTrouble?.contains("another key than is configured") == true
            }
            joining.cancel()
            _ = await joining.result
            #expect(try await client.get("k")?.value == [1])
            #expect(try await client.sessions().count == 1)
            await client.close()
            await hub.stop()
        }

        @Test("L4: a reader is let in by its key, to the hub's own group alone, and the hub keeps nothing of it")
        func readers() async throws {
            let stage = try HubStage()
            let hub = try await stage.hub(at: [.tcp(host: "127.0.0.1", port: 0)])
            let endpoint = hub.endpoints[0]
            let client = try await stage.client(at: endpoint)
            let revision = try await client.put("k", [1]).revision
            var options = ZMQGroupOptions(openTimeout: .seconds(60), keys: try stage.clientKeys(for: endpoint))
            for _ in 0..<3 {
                let reader = try await ZMQGroup.openToRead(endpoint, group: "group", options: options)
                #expect(try await reader.get("k")?.value == [1])
                #expect(try await reader.sessions().map(\.id) == [client.session.id])
                #expect(try await reader.list().revision == revision)
                await reader.close()
            }
            try await expect(.forbidden, from: "a reader of another group") {
                try await ZMQGroup.openToRead(endpoint, group: "other", options: options)
            }
            options.keys = nil
            try await expect(.invalidArgument, from: "a reader without a key") {
                try await ZMQGroup.openToRead(endpoint, group: "group", options: options)
            }
            options.keys = try CurveClientKeys(own: .generate(), hub: stage.keys.hub.publicKey)
            try await expect(.forbidden, from: "a reader with a foreign key") {
                try await ZMQGroup.openToRead(endpoint, group: "group", options: options)
            }
            #expect(try await client.list().revision == revision)
            await client.close()
            await hub.stop()
        }

        @Test("E2: a key that is none is refused, and a secret is in no message")
        func wrongKeys() throws {
            let pair = try CurveKeyPair.generate()
            for text in ["", "short", String(repeating: "\"", count: 40), pair.secretKey + "a"] {
                let error = #expect(throws: SharedCoreError.self) { _ = try CurveKeyPair(secretKey: text) }
                #expect(error?.code == .invalidArgument)
                #expect(text.isEmpty || error?.description.contains(text) == false)
            }
            #expect(throws: SharedCoreError.self) {
                _ = try CurveKeyPair(publicKey: CurveKeyPair.generate().publicKey, secretKey: pair.secretKey)
            }
            #expect(try CurveKeyPair(secretKey: pair.secretKey) == pair)
            #expect(throws: SharedCoreError.self) { _ = try CurveHubKeys(own: pair, clients: []) }
            #expect(throws: SharedCoreError.self) { _ = try CurveClientKeys(own: pair, hub: "no key") }
        }

        @Test("another group's client, another version and a second hub are refused by name")
        func mistakes() async throws {
            let stage = try HubStage()
            let hub = try await stage.hub()
            let error = await #expect(throws: SharedCoreError.self) {
                _ = try await ZMQGroup.open(stage.endpoint, group: "other")
            }
            #expect(error?.code == .forbidden)
            #expect(error?.message.contains("“group”") == true && error?.message.contains("“other”") == true)
            try await expect(.unavailable, from: "a second hub at one socket") { _ = try await stage.hub() }
            try await expect(.unavailable, from: "a second hub of one group") {
                _ = try await stage.hub(at: [.ipc(path: stage.directory.path(of: "hub2"))])
            }
            let client = try await stage.client()
            #expect(try await client.sessions().count == 1)
            await client.close()
            await hub.stop()
            // The place of the former hub is free again.
            let next = try await stage.hub()
            await next.stop()
        }

        @Test("E2: what stands at the socket's path and is no socket is left alone")
        func regularFile() async throws {
            let stage = try HubStage()
            let path = stage.directory.path(of: "hub")
            let file = try OpenFile(path: path, .create)
            try file.write(Array("notes".utf8), at: 0)
            try await expect(.invalidArgument, from: "a hub in a file's place") { _ = try await stage.hub() }
            #expect(try file.status().byteCount == 5)
            #expect(try FileStatus(ofPath: path).isRegularFile)
        }

        @Test(
            "a socket in a directory that others may enter, of another user, or behind a link is refused",
            .enabled(if: getuid() == 0, "it takes root to give a directory away"),
            arguments: ["others may enter it", "it is theirs", "it is a link", "a link of theirs is on the way"])
        func openDirectory(way: String) async throws {
            let stage = try HubStage()
            let (place, link) = (stage.directory.path(of: "place"), stage.directory.path(of: "link"))
            #expect(mkdir(place, 0o700) == 0)
            func hub(in directory: String) async throws -> Hub {
                try await stage.hub(at: [.ipc(path: directory + "/hub")])
            }
            try await hub(in: place).stop()
            var directory = place
            switch way {
            case "others may enter it": #expect(chmod(place, 0o755) == 0)
            case "it is theirs": #expect(chown(place, 65534, 65534) == 0)
            case "it is a link":
                directory = link
                #expect(symlink(place, link) == 0)
            default:
                directory = link + "/place"
                #expect(symlink(stage.directory.path, link) == 0)
                try await hub(in: directory).stop()
                #expect(lchown(link, 65534, 65534) == 0)
            }
            try await expect(.forbidden, from: "a hub where \(way)") { _ = try await hub(in: directory) }
        }

        @Test(
            "without a hello, and with what another connection was given, each request is unknown and changes nothing",
            arguments: [false, true])
        func unknownRequests(saysHello: Bool) async throws {
            let stage = try HubStage()
            let hub = try await stage.hub()
            let client = try await stage.client()
            try await client.put("k", [1])
            let raw = try RawClient(at: stage.endpoint)
            if saysHello {
                let hello = Request.Hello(
                    group: "group", process: .current, description: SessionDescription(),
                    token: [UInt8](repeating: 1, count: Wire.tokenByteCount), resumed: nil)
                guard case .welcome = try await raw.ask(.hello(hello)).body else {
                    Issue.record("no welcome")
                    return
                }
            }
            let before = try await client.list().revision
            let sessions = try await client.sessions().map(\.id)
            #expect(sessions.count == (saysHello ? 2 : 1))
            for (number, request) in Samples.requests.enumerated() {
                if case .hello = request.body { continue }
                let bytes = try Request(number: UInt64(number + 10), nonce: Samples.nonce, body: request.body).bytes()
                #expect(try await raw.ask(bytes).body == .unknown, "\(request.body)")
            }
            #expect(try await client.list().revision == before)
            #expect(try await client.sessions().map(\.id) == sessions)
            await client.close()
            await hub.stop()
        }

        @Test(
            "a token is that of a session when each of its bytes is, and a nonce that of a connection when all bits are"
        )
        func comparison() {
            let token = (0..<UInt8(Wire.tokenByteCount)).map { $0 }
            #expect(token.isSame(as: token) && !token.isSame(as: token.dropLast()) && !token.isSame(as: token + [0]))
            for index in token.indices {
                var other = token
                other[index] ^= 0x80
                #expect(!token.isSame(as: other) && !other.isSame(as: token), "\(index)")
            }
            let nonce = ConnectionNonce.random()
            #expect(nonce.isSame(as: nonce))
            for bit in 0..<64 {
                #expect(!nonce.isSame(as: ConnectionNonce(high: nonce.high ^ 1 << bit, low: nonce.low)))
                #expect(!nonce.isSame(as: ConnectionNonce(high: nonce.high, low: nonce.low ^ 1 << bit)))
            }
        }

        @Test("L1: a client is not told the token of another one, by no answer and not by the stream")
        func hiddenTokens() async throws {
            let stage = try HubStage()
            let hub = try await stage.hub()
            let updates = HubEndpoint.ipc(path: stage.directory.path(of: "hub") + HubEndpoint.streamSuffix)
            let stream = try Socket(.subscriber, for: updates.description)
            try stream.set(.subscribe, [UInt8]())
            try stream.connect()
            let (token, name) = ([UInt8](1...32), "the one with a token")
            var heard: [[UInt8]] = []
            func listen(to socket: Socket, until count: Int) async throws {
                try await eventually("the session is told of") {
                    while let message = socket.receive(upTo: 64) { heard += message.frames }
                    return heard.count { !$0.ranges(of: Array(name.utf8)).isEmpty } >= count
                }
            }
            func hello(_ token: [UInt8], _ name: String) -> Request.Body {
                .hello(
                    Request.Hello(
                        group: "group", process: .current, description: SessionDescription(name: name), token: token,
                        resumed: nil))
            }
            // The subscription must exist before the next update.
            let other = try await stage.client()
            try await eventually("the stream is heard") {
                try await other.post("n")
                return stream.receive(upTo: 64) != nil
            }
            let owner = try RawClient(at: stage.endpoint)
            guard case .welcome = try await owner.ask(hello(token, name)).body else {
                Issue.record("no welcome")
                return
            }
            try await listen(to: stream, until: 1)
            let curious = try Socket(.dealer, for: stage.endpoint.description)
            try curious.connect()
            try await eventually("hello is sent") {
                curious.send([try Request(number: 1, body: hello([UInt8](repeating: 9, count: 32), "curious")).bytes()])
            }
            var nonce = ConnectionNonce.none
            try await eventually("the hub answers") {
                guard let frames = curious.receive(upTo: 64)?.frames else { return false }
                if case .welcome(let welcome) = try Reply(frames[0]).body { nonce = welcome.nonce }
                heard += frames
                return true
            }
            for (index, body) in [Request.Body.catchUp(after: nil), .history(after: .zero)].enumerated() {
                let bytes = try Request(number: UInt64(index + 2), nonce: nonce, body: body).bytes()
                try await eventually("the question is sent") { curious.send([bytes]) }
                try await listen(to: curious, until: 2)
            }
            #expect(heard.allSatisfy { $0.ranges(of: token).isEmpty })
            curious.close()
            stream.close()
            await other.close()
            await hub.stop()
        }

        @Test("another user is refused, and its connection cut before a word, also at a socket that is open to all")
        func otherUser() async throws {
            let stage = try HubStage()
            let hub = try await stage.hub()
            let peer = try Peer(
                PeerProgram(path: try ChildProcess.built("sharedcore-test-peer")),
                through: ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"])
            _ = try await peer.answer()
            // Even after another program has opened the way to the socket.
            for (path, mode) in [
                (stage.directory.path, 0o755), (stage.directory.path(of: "hub"), 0o777),
                (stage.directory.path(of: "hub.news"), 0o777),
            ] as [(String, mode_t)] { #expect(chmod(path, mode) == 0) }
            try peer.send("open zmq \(stage.endpoint)")
            var answer = try await peer.answer()
            #expect(answer.contains("forbidden") && answer.contains("the user 0's"), "the stranger's answer: \(answer)")
            // A connection that the program refuses by itself, another program may try.
            #expect(chown(stage.directory.path(of: "hub"), 65534, 65534) == 0)
            try peer.send("open zmq \(stage.endpoint) 1000")
            answer = try await peer.answer()
            #expect(answer.contains("unavailable"), "the stranger's answer: \(answer)")
            #expect(chown(stage.directory.path(of: "hub"), 0, 0) == 0)
            let client = try await stage.client()
            try await client.put("k", [1])
            #expect(try await client.sessions().map(\.id) == [client.session.id])
            await peer.killNow()
            await client.close()
            await hub.stop()
        }

        @Test(
            "a client talks to no hub whose socket another user has made, or may have",
            .enabled(if: getuid() == 0, "it takes root to give a file away"),
            arguments: ["the directory is theirs", "the socket is theirs", "others may write there"])
        func strangersHub(way: String) async throws {
            let stage = try HubStage()
            let place = stage.directory.path(of: "place")
            let endpoint = HubEndpoint.ipc(path: place + "/hub")
            let hub = try await stage.hub(at: [endpoint])
            let changed =
                switch way {
                case "the directory is theirs": chown(place, 65534, 65534)
                case "the socket is theirs": chown(place + "/hub", 65534, 65534)
                default: chmod(place, 0o722)
                }
            #expect(changed == 0)
            let error = await #expect(throws: SharedCoreError.self) { _ = try await stage.client(at: endpoint) }
            #expect(error?.code == .forbidden)
            let problem = way.hasPrefix("others") ? "722" : "user 65534"
            #expect(error?.message.contains(problem) == true, "\(error?.message ?? "")")
            #expect(chown(place, 0, 0) == 0 && chown(place + "/hub", 0, 0) == 0 && chmod(place, 0o700) == 0)
            try await stage.client(at: endpoint).close()
            await hub.stop()
        }

        @Test(
            "a client comes to no hub over a path that another user may lead elsewhere",
            .enabled(if: getuid() == 0, "it takes root to give a link away"),
            arguments: [
                "a link is theirs", "a directory is theirs", "others may write there",
                "others may write there, not rename",
            ])
        func strangersPath(way: String) async throws {
            let stage = try HubStage()
            let (parent, link) = (stage.directory.path(of: "parent"), stage.directory.path(of: "link"))
            #expect(mkdir(parent, 0o700) == 0 && symlink("parent", link) == 0)
            let hub = try await stage.hub(at: [.ipc(path: link + "/place/hub")])
            #expect(hub.endpoints == [.ipc(path: parent + "/place/hub")])
            let endpoint = HubEndpoint.ipc(path: link + "/place/hub")
            try await stage.client(at: endpoint).close()
            var isTrusted = false
            switch way {
            case "a link is theirs": #expect(lchown(link, 65534, 65534) == 0)
            case "a directory is theirs": #expect(chown(parent, 65534, 65534) == 0)
            case "others may write there": #expect(chmod(parent, 0o777) == 0)
            default:
                #expect(chmod(parent, 0o1777) == 0)
                isTrusted = true
            }
            func refusal(_ body: () async throws(SharedCoreError) -> Void) async -> SharedCoreError.Code? {
                do throws(SharedCoreError) {
                    try await body()
                    return nil
                } catch {
                    return error.code
                }
            }
            let options = ZMQGroupOptions(openTimeout: TestTimeout.usual)
            let expected: SharedCoreError.Code? = isTrusted ? nil : .forbidden
            #expect(
                await refusal { () throws(SharedCoreError) in
                    try await ZMQGroup.open(endpoint, group: "group", options: options).close()
                } == expected)
            #expect(
                await refusal { () throws(SharedCoreError) in
                    try await ZMQGroup.openToRead(endpoint, group: "group", options: options).close()
                } == expected)
            #expect(
                await refusal { () throws(SharedCoreError) in _ = try HubEndpointState.ofSocket(link + "/place/hub") }
                    == expected)
            if !isTrusted {
                #expect(
                    await refusal { () throws(SharedCoreError) in
                        _ = try await HubEnding.stop(at: endpoint, ofGroup: stage.files)
                    } == expected)
                #expect(
                    await refusal { () throws(SharedCoreError) in
                        try HubLock.ofSocket(link + "/place/other").lock.release()
                    } == expected)
            }
            await hub.stop()
        }

        @Test("a link that is turned leads no client elsewhere that has followed it")
        func turnedLink() async throws {
            let stage = try HubStage()
            let (real, link) = (stage.directory.path(of: "real"), stage.directory.path(of: "link"))
            #expect(symlink("real", link) == 0)
            let first = try await stage.hub(at: [.ipc(path: real + "/hub")])
            let client = try await stage.client(at: .ipc(path: link + "/hub"))
            try await client.put("k", [1])
            #expect(mkdir(stage.directory.path(of: "other"), 0o700) == 0)
            #expect(unlink(link) == 0 && symlink("other", link) == 0)
            await first.stop()
            let second = try await stage.hub(at: [.ipc(path: real + "/hub")])
            #expect(try await client.put("k", [2]).changed)
            await client.close()
            await second.stop()
        }

        @Test(
            "a client says nothing to a hub that another user has put in the place of a directory that was removed",
            .enabled(if: getuid() == 0, "it takes root to give a directory away"))
        func replacedDirectory() async throws {
            let stage = try HubStage()
            let place = stage.directory.path(of: "place")
            let endpoint = HubEndpoint.ipc(path: place + "/hub")
            let hub = try await stage.hub(at: [endpoint])
            let client = try await stage.client(at: endpoint)
            await hub.stop()
            Directory.removeWithFiles(path: place)
            #expect(mkdir(place, 0o700) == 0 && chown(place, 65534, 65534) == 0)
            let stranger = try ScriptedHub(at: endpoint)
            try await stranger.serve(until: "it says why") { await client.link.lastTrouble?.contains("65534") == true }
            #expect(stranger.hellos.isEmpty)
            await client.close()
        }

        @Test("E2: a refusal quotes no more of a client's text than a name may have")
        func longName() async throws {
            let stage = try HubStage()
            let reported = Box<[String]>([])
            let hub = try await stage.hub(onRefusal: { error in reported.update { $0.append("\(error)") } })
            let error = await #expect(throws: SharedCoreError.self) {
                _ = try await ZMQGroup.open(stage.endpoint, group: String(repeating: "x", count: 1 << 20))
            }
            #expect(error?.code == .forbidden)
            #expect((error?.message.utf8.count ?? .max) < 1_024)
            #expect(reported.value.count == 1 && reported.value.allSatisfy { $0.utf8.count < 1_024 })
            await hub.stop()
        }

        @Test("E2: of very many connections that are refused, ten in a second are reported, and the rest is counted")
        func refusalReports() throws {
            var reports = RefusalReports()
            let error = SharedCoreError(.invalidArgument, "No.", at: "hub")
            func refuse(_ connections: Range<UInt16>, after milliseconds: UInt64) -> [SharedCoreError] {
                connections.compactMap { number in
                    reports.report(
                        error, to: HubAddress(hubListener: 0, connection: [UInt8(number >> 8), UInt8(number & 0xFF)]),
                        at: BootInstant(nanoseconds: 5_000_000_000 + milliseconds * 1_000_000))
                }
            }
            #expect(refuse(0..<500, after: 0).count == 10)
            #expect(refuse(0..<10, after: 1_000).isEmpty, "each connection once")
            #expect(refuse(500..<600, after: 999).isEmpty)
            let next = refuse(600..<602, after: 1_000)
            #expect(next.map(\.message) == ["No. 590 other connections were refused before it.", "No."])
        }

        @Test(
            "E2: garbage, cut, replayed, endless and huge messages: the hub goes on serving, and keeps nothing of them")
        func garbage() async throws {
            let stage = try HubStage()
            let refusals = Box(0)
            let hub = try await stage.hub(onRefusal: { _ in refusals.update { $0 += 1 } })
            let client = try await stage.client()
            var random = SeededRandom(Seed.several(1)[0])
            let before = try #require(OwnMemory.residentByteCount)
            for round in 0..<20 {
                let raw = try Socket(.dealer, for: stage.endpoint.description)
                try raw.connect()
                for _ in 0..<200 {
                    switch Int.random(in: 0..<6, using: &random) {
                    case 0: _ = raw.send([random.bytes(.random(in: 0...400, using: &random))])
                    case 1: _ = raw.send((0..<50).map { _ in [1, 2, 3] })
                    case 2: _ = raw.send([[]])
                    case 3:
                        let bytes = try Samples.requests.randomElement(using: &random)?.bytes() ?? []
                        _ = raw.send([Array(bytes.prefix(.random(in: 0...bytes.count, using: &random)))])
                    case 4:
                        _ = raw.send([
                            try Request(
                                number: 1,
                                body: .commit(Transaction(operations: [.post("x", state: nil)]), known: .zero)
                            ).bytes()
                        ])
                    default: _ = raw.send([[Wire.version, 200] + random.bytes(20)])
                    }
                }
                if round == 10 { _ = raw.send([[UInt8](repeating: 1, count: 100 << 20)]) }
                #expect(try await client.put("k", [UInt8(round)]).changed)
                raw.close()
            }
            #expect(refusals.value <= 20, "one report for each connection, not \(refusals.value)")
            #expect(refusals.value > 0)
            #expect(try await client.state(of: "x") == .never, "nobody writes who did not say hello")
            #expect(try await client.sessions().map(\.id) == [client.session.id])
            let after = try #require(OwnMemory.residentByteCount)
            #expect(after < before + 200 << 20, "from \(before) to \(after) bytes of memory")
            await client.close()
            await hub.stop()
        }

        @Test("S1, L1: a leased client that is stopped loses its session, and its late write takes no effect")
        func leaseRunsOut() async throws {
            // A lease that lasts on a busy machine until the stop.
            let stage = try HubStage()
            let hub = try await stage.hub(at: [.tcp(host: "127.0.0.1", port: 0), stage.endpoint])
            let witness = try await stage.client()
            let peer = try await stage.peer(at: hub.endpoints[0])
            try await peer.tell("hold mine here")
            let watch = try await witness.watch("mine", from: .now)
            peer.signal(.stop)
            try await peer.stopped()
            let event = try await withTimeout(TestTimeout.usual, "the lease runs out") { try await watch.next() }
            guard case .changes(let set)? = event else {
                Issue.record("no change: \(String(describing: event))")
                return
            }
            #expect(set.changes.map(\.kind) == [.sessionEnded])
            try peer.send("put late here")
            peer.signal(.continue)
            let answer = try await peer.answer()
            #expect(answer.contains("sessionEnded") && !answer.contains("outcomeUnknown"), "the answer: \(answer)")
            #expect(try await witness.get("late") == nil)
            await witness.close()
            await hub.stop()
        }

        @Test("a hub that is not there: a clear error in time, or waiting when told to")
        func waiting() async throws {
            let stage = try HubStage()
            let error = await #expect(throws: SharedCoreError.self) {
                _ = try await stage.client { $0.openTimeout = .milliseconds(300) }
            }
            #expect(error?.code == .unavailable)
            #expect(error?.message.contains("\(stage.endpoint)") == true)
            let opening = Task { try await stage.client { $0.openTimeout = nil } }
            let hub = try await stage.hub()
            let client = try await withTimeout(TestTimeout.usual, "the client finds the hub") {
                try await opening.value
            }
            await client.close()
            let cancelled = Task {
                try await stage.client(at: .ipc(path: stage.directory.path(of: "none"))) { $0.openTimeout = nil }
            }
            cancelled.cancel()
            let code = await #expect(throws: SharedCoreError.self) {
                try await withTimeout(TestTimeout.usual, "the cancelled open ends") { try await cancelled.value }
            }
            #expect(code?.code == .cancelled)
            await hub.stop()
        }

        @Test("a hub that is stopped: the error says that something listens, and what to do", arguments: [true, false])
        func stoppedHub(isLocal: Bool) async throws {
            let stage = try HubStage()
            let hub = try await stage.hubProcess(at: isLocal ? nil : .tcp(host: "127.0.0.1", port: 0))
            hub.process.signal(.stop)
            try await eventually("the hub stands still") { hub.process.isStopped }
            let error = await #expect(throws: SharedCoreError.self) {
                _ = try await stage.client(at: hub.endpoint) { $0.openTimeout = .seconds(2) }
            }
            #expect(error?.code == .unavailable)
            #expect(error?.cause?.contains("kill -CONT") == true, "\(String(describing: error))")
            hub.process.signal(.kill)
        }

        @Test("within one process: by a name")
        func inproc() async throws {
            let stage = try HubStage()
            let endpoint = try HubEndpoint("inproc://chat")
            let hub = try await stage.hub(at: [endpoint])
            let (first, second) = (try await stage.client(at: endpoint), try await stage.client(at: endpoint))
            let observation = try await second.observe("n")
            let revision = try await first.post("n", state: 5)
            let delivery = try await withTimeout(TestTimeout.usual, "the post arrives") { try await observation.next() }
            #expect(delivery?.revision == revision)
            await first.close()
            await second.close()
            await hub.stop()
        }
    }
}
