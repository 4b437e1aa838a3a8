internal import CoreAPI
internal import Platform
internal import SharedCoreConfiguration
internal import StoreEngine
internal import WormholeFormat

@testable internal import Coordination
@testable internal import FileNotifyBackend
@testable internal import ZMQBackend

/// The first inputs of the targets: `sharedcore-fuzz TARGET --seeds DIRECTORY` writes them.
enum Seeds {
    static func of(_ target: FuzzTarget) -> [[UInt8]] {
        switch target {
        case .journal: journal
        case .snapshot: [SnapshotTarget.seal.joined([3], snapshot + effects)]
        case .request: requests.compactMap { try? $0.bytes() }
        case .reply: replies
        case .timeline: timeline
        case .configuration: configurations.map { Array($0.utf8) }
        case .follower: follower
        case .envelope:
            [
                Envelope(codec: "json", schema: 1, replyTo: "a/b", content: .message([1, 2])).bytes,
                Envelope(codec: "x", schema: 0, content: .failure("none")).bytes,
            ]
        case .keeper: keeper.map { Array($0.utf8) }
        case .mime: mails.map { Array($0.utf8) }
        case .command: [7, 255].map { [$0] + Array(commands.utf8) }
        case .push: [3, 255].map { [$0] + Array(pushes.utf8) }
        }
    }

    private static let process = ProcessIdentity(bootID: BootID(high: 7, low: 9), pid: 4711, startTime: 99)
    private static let session = Session(
        id: SessionID(rawValue: 1), process: process, role: .main, name: "the app",
        openedAt: BootInstant(nanoseconds: 5))

    private static let transaction: Transaction = {
        var transaction = Transaction(requestNumber: 17)
        transaction.require(.absent("a"))
        transaction.require(.revision("b", Revision(rawValue: 3)))
        transaction.put("a", [0, 255, 1], lifetime: .session)
        transaction.put("b", [], lifetime: .expiring(after: .milliseconds(1500)))
        transaction.delete("c")
        transaction.deleteAll(under: "d/e")
        transaction.post("news", state: .max)
        return transaction
    }()

    private static func revision(_ number: UInt64) -> Revision { Revision(rawValue: number) }

    private static var effectValues: [Effect] {
        let at = BootInstant(nanoseconds: 10)
        return [
            Effect(
                revision: revision(1), time: at,
                body: .sessionOpened(
                    SessionOpening(
                        process: process, description: SessionDescription(role: .main, name: "app"), backendData: [1]))),
            Effect(
                revision: revision(2), time: at,
                body: .committed(
                    session.id, requestNumber: 1,
                    [
                        .put("a", .inline([1, 2]), .session), .put("b", .inline([3]), .expiring(after: .seconds(1))),
                        .put("c", .inline([UInt8](repeating: 5, count: 100)), .persistent), .post("news", state: 4),
                        .delete("x"),
                    ]), delivery: 3),
            Effect(
                revision: revision(3), time: at,
                body: .refused(
                    session.id, requestNumber: 2,
                    GuardFailure(
                        index: 0, condition: .revision("a", revision(9)),
                        found: Entry(
                            key: "a", value: [1], revision: revision(2), creationRevision: revision(2),
                            lifetime: .session, origin: session.id)))),
            Effect(revision: revision(4), time: at, body: .expired(["b"])),
            Effect(
                revision: revision(5), time: at,
                body: .committed(session.id, requestNumber: nil, [.deletePrefix("c"), .post("quiet", state: nil)])),
            Effect(revision: revision(6), time: at, body: .restarted(BootID(high: 1, low: 2))),
            Effect(revision: revision(7), time: at, body: .sessionEnded(session.id)),
        ]
    }

    private static var effects: [[UInt8]] {
        effectValues.compactMap { effect in
            try? Effect(
                revision: revision(effect.revision.rawValue + 5), time: effect.time, body: effect.body,
                delivery: effect.delivery
            ).payload()
        }
    }

    /// A snapshot with every kind of record.
    private static var snapshot: [[UInt8]] {
        var state = StoreState(historyByteCount: 1 << 16)
        for effect in effectValues.prefix(5) { state.apply(effect) }
        var payloads: [[UInt8]] = []
        try? state.writeSnapshot { payload throws(SharedCoreError) in payloads.append(payload) }
        try? state.writeHistory(after: .zero) { payload throws(SharedCoreError) in
            payloads.insert(payload, at: payloads.count - 1)
        }
        return payloads
    }

    private static var journal: [[UInt8]] {
        let snapshot = snapshot.filter { $0.first != historyTag }
        func header(_ continuation: JournalHeader.Continuation?) -> [UInt8] {
            self.header(of: 2, hasSnapshot: true, continuation)
        }
        let end = JournalHeader.byteCount + snapshot.reduce(0) { $0 + JournalChain.headerByteCount + $1.count }
        return [
            JournalTarget.seal.joined([2], [header(nil)] + snapshot + effects),
            // A record with a valid checksum that cannot be read: salvage keeps the ones before it.
            JournalTarget.seal.joined([2], [header(nil)] + snapshot + effects + [[1, 0xff]]),
            JournalTarget.seal.joined(
                [10],
                [header(JournalHeader.Continuation(predecessorTail: end, offset: end, chain: 5))] + snapshot + effects),
        ]
    }

    /// The payload of the header of a journal.
    private static func header(
        of generation: UInt64, hasSnapshot: Bool = false, _ continuation: JournalHeader.Continuation? = nil
    ) -> [UInt8] {
        let header = JournalHeader(
            generation: generation, incarnation: 1, bootID: process.bootID, salt: 77, hasSnapshot: hasSnapshot,
            continuation: continuation)
        return Array(header.bytes[(16 + JournalChain.headerByteCount)...])
    }

    private static let historyTag: UInt8 = 8

    private static let nonce = ConnectionNonce(high: .max, low: 1)

    private static var requests: [Request] {
        let bodies: [Request.Body] = [
            .commit(transaction, known: revision(1_000)), .read(known: revision(5)), .probe(known: revision(1 << 33)),
            .catchUp(after: nil), .catchUp(after: revision(9)), .keepAlive, .close, .history(after: revision(300)),
            .keepBaton([0, 255], of: revision(1), for: .seconds(2)), .fetchBaton(of: revision(3), under: revision(4)),
        ]
        let hello = Request.Hello(
            group: "chat", process: process, description: SessionDescription(role: .main, name: "the app"),
            token: [UInt8](repeating: 1, count: 32), resumed: SessionID(rawValue: 12))
        return [Request(number: 1, body: .hello(hello)), Request(number: 1, body: .view(group: "chat"))]
            + bodies.map { Request(number: 2, nonce: nonce, body: $0) }
    }

    private static var replies: [[UInt8]] {
        var updates = Updates(after: revision(41))
        updates.effects = [effects[0], []]
        let capabilities = Capabilities(
            backend: "files", features: [.linearizableReads, .multipleProcesses], durability: .disk, limits: Limits())
        let bodies: [Reply.Body] = [
            .welcome(
                Reply.Welcome(
                    session: session, incarnation: .max, capabilities: capabilities, lease: .seconds(3),
                    streamPort: 5_556, nonce: nonce)),
            .outcome(.committed(Commit(revision: revision(42), changed: true)), at: revision(45), updates),
            .current(revision(44), updates), .done, .unknown, .baton([1, 2]),
            .refused(SharedCoreError(.storageFull, "There is no space.", at: "/data", cause: "write: ENOSPC")),
        ]
        let recorded: [Reply.Body] = [
            .snapshot(revision(44)), .history(revision(301)), .view(revision(3), capabilities),
        ]
        let frames = recorded.map { body in
            Reply(number: 9, body: body).bytes()
                + [[1, 2], [UInt8](repeating: 3, count: 20)].flatMap { [UInt8($0.count)] + $0 }
        }
        let stream: [StreamMessage] = [
            .updates(updates, incarnation: 3), .beacon(revision(99), incarnation: .max),
            .armed([UInt8](repeating: 5, count: StreamMessage.armedByteCount)),
        ]
        return bodies.map { Reply(number: 9, body: $0).bytes() } + frames + stream.map(\.bytes)
    }

    private static var timeline: [[UInt8]] {
        func entry(_ kind: TimelineEntry.Kind, epoch: UInt64? = nil, other: UInt64? = nil) -> [UInt8] {
            TimelineEntry(
                kind, by: session, epoch: epoch.map(revision), other: other.map(revision), from: .starting,
                to: .running,
                previous: kind.isAcquisition ? PreviousOwnership(epoch: revision(1), end: .released) : nil,
                bound: .seconds(1), reason: "because", at: BootInstant(nanoseconds: 9), bootID: process.bootID
            ).encoded()
        }
        let all = TimelineEntry.Kind.allCases.map { entry($0, epoch: 3, other: 4) }
        func joined(_ values: [[UInt8]]) -> [UInt8] {
            values.flatMap { [UInt8($0.count & 0xff), UInt8($0.count >> 8)] + $0 }
        }
        let run: [[UInt8]] = [
            entry(.acquired), entry(.coreStarted, epoch: 3), entry(.asked, other: 3), entry(.stateChanged, epoch: 3),
            entry(.coreStopped, epoch: 3), entry(.released, epoch: 3), entry(.tookOver, other: 3),
        ]
        let checkpoint = TimelineCheckpoint(through: revision(2), droppedCount: 3, ledger: OwnershipLedger()).encoded()
        let first = [UInt8(checkpoint.count & 0xff), UInt8(checkpoint.count >> 8) | 0x80] + checkpoint
        return [joined(all), joined(run), first + joined(run), checkpoint, all[0]]
    }

    /// Steps of a writer, with records of every kind between them.
    private static var follower: [[UInt8]] {
        func input(_ steps: [(FollowerTarget.Step, [UInt8])]) -> [UInt8] {
            FollowerTarget.shape.joined([], steps.map { [$0.rawValue] + $1 })
        }
        typealias Steps = [(FollowerTarget.Step, [UInt8])]
        let records: Steps = effects.map { (.effect, $0) }
        // Values that stay in their journals, of two keys.
        let value: Steps = [(.put, [200, 1, 2, 3])]
        let other: Steps = [(.put, [200, 1, 2, 4])]
        let ways: [Steps] = [
            records + [(.follow, []), (.roll, [])] + value + [(.follow, []), (.compact, [1])] + other + [(.follow, [])],
            value + [(.compact, [1])] + value + [(.follow, []), (.restart, [])] + records + [(.begin, [])],
            value + [(.roll, [])] + value + [(.seal, []), (.follow, []), (.compact, [0]), (.compact, [1])],
            records + [(.follow, []), (.cut, [1])],
            [(.header, header(of: 2)), (.follow, []), (.payload, [1, 2]), (.words, [1]), (.floor, [2])],
            records + [(.damage, [1, 0, 7]), (.begin, []), (.truncate, [9, 0]), (.remove, [])],
        ]
        return ways.map(input)
    }

    /// Every setting with its default, and each kind of value.
    private static var configurations: [String] {
        let settings = Settings.all.map { ($0.name, $0.fallback.description) }
        let lines = settings.map { "\($0): \"\($1)\"\n" }
        let middle = lines.count / 2
        let sections = """
            backend: zmq
            zmq:
              endpoint: tcp://127.0.0.1:5555
              clientMemory: 54MiB
              secretKey: /k
            core:
              command: python3 "a b" 'c"d'
              startTimeout: 1.5s
            main: {command: x, restartLimit: 3}
            executor:
              memory: 24MiB
              budget: 2m
            redis: {url: x}
            serviceLevels:
              push: {background: full}
            """
        return [
            lines[..<middle].joined(), lines[middle...].joined(), sections,
            "{\"backend\": \"zmq\", \"zmq\": {\"hub\": \"auto\"}}\u{0}GROUP=chat\u{0}CORE_COMMAND=a 'b c'",
            "# nothing\n---\n? [a, b]\n: |\n  text\n", "redis.url: x\nredis: {a: b}\nhandover: {timeout: 1h}\n",
            // A word that begins with a mark, which makes one character with a quote before it.
            #"core.command: "x \n\u0301\" \"""# + "\n",
        ]
    }

    private static let keeper = [
        "HELLO 1", "KEEP a:b", "RELEASE x", "TAKE", "CALLS 3", "WOKEN 12 99", "START foreground", "STATUS",
        "CONFIGURE --window-ms\u{0}10\u{0}--restart-limit\u{0}3\u{0}--watchdog-ms\u{0}5\u{0}--\u{0}main\u{0}-x",
        "ERROR busy it is", "KEPT a", "WAKE 100", "ENDING 7",
        "STATUS keeper 4\nstate running\nmain 7\ncalls 1\nrestartIn 5\nkept a\nlastEnd exited 1",
    ]

    private static let mails = [
        "Message-ID: <a@b>\r\nFrom: =?utf-8?q?n=C3=A9?= <x@y>\r\nTo: z@y\r\n"
            + "Date: Mon, 1 Jan 2024 00:00:00 +0000\r\n\r\nhello\r\n",
        "Call-ID: 1\nContent-Type: multipart/mixed; boundary=\"b\"\n\n--b\nContent-Type: text/html; charset=latin1\n"
            + "Content-Transfer-Encoding: base64\n\nPGI+aGk8L2I+\n--b\nContent-Disposition: attachment\n\nx\n--b--\n",
        "Message-ID: <c@d>\nX-SharedCore-Kind: invitation\nSubject: hi\n"
            + "Content-Type: application/conference-info+xml\n\n"
            + "<conference-info entity=\"sip:a@b\"><subject>s &amp; t</subject></conference-info>\n",
        "Message-ID: <c@d>\nContent-Type: text/plain; charset*0=ut; charset*1=f-8\n"
            + "Content-Transfer-Encoding: quoted-printable\n\n=C3=A9 =\nx\n",
    ]

    private static let commands = [
        #"{"jsonrpc":"2.0","id":1,"method":"deliver","params":{"callID":"a","from":"x","to":"y","text":"t","body":"AQI="}}"#,
        #"{"jsonrpc":"2.0","id":"b","method":"beginCall","params":{"callID":"a","direction":"incoming","from":"x","to":"y","media":["audio"]}}"#,
        #"{"jsonrpc":"2.0","method":"endCall","params":{"callID":"a","reason":"failed","text":"x\u00e9\ud83d\ude00"}}"#,
        #"{"jsonrpc":"2.0","id":2,"result":{"a":[1,-2.5e3,true,null]}}"#,
        #"{"jsonrpc":"2.0","id":3,"error":{"code":-32000,"message":"no"}}"#,
        #"{"jsonrpc":"2.0","method":"beginActivity","params":{"kind":"k","id":"i","boundMs":5,"expectedEndMs":7}}"#,
    ].joined(separator: "\n")

    private static let pushes = """
        PUSH 1@x
        PUSH \u{301}a@x\r
        {"callID":"2@x","type":"call","account":"ümit@x","payload":"AP8K"}
        {"callID":"{3@x}","payload":"AA=="}
        {"callID":"\\u00e9\\ud83d\\ude00"}
        PUSH

        """
}
