internal import CoreAPI
internal import CoreAPITesting
internal import FileNotifyBackend
internal import InMemoryBackend
internal import Platform
internal import TestSupport
internal import Testing

@testable import ZMQBackend

extension ZMQTests {
    @Suite("C1: clients of a former hub have their time to stop regardless of later hubs")
    struct FormerClientsTests {
        private let stage: HubStage
        private let clock = SystemClock()

        init() throws {
            stage = try HubStage()
        }

        private func hub(onMemory: Bool, at others: [HubEndpoint] = []) async throws -> Hub {
            try await Hub.start(
                HubOptions(
                    group: "group",
                    storage: onMemory
                        ? .memory(MemorySpace()) : .files(directory: stage.files, FileGroupOptions()),
                    endpoints: [stage.endpoint] + others,
                    keys: CurveHubKeys(own: stage.keys.hub, clients: [stage.keys.client.publicKey])))
        }

        /// Reads the record in the lock's file; nil if the file has none.
        private func record() throws -> HubRecord? {
            let file = try OpenFile(path: stage.directory.path(of: "hub.lock"), .read)
            return HubRecord(String(decoding: try file.read(count: 256, at: 0), as: UTF8.self))
        }

        /// Runs a hub that has a client at its end, and returns the content of the file then.
        private func firstHub(onMemory: Bool) async throws -> FormerClients {
            let first = try await hub(onMemory: onMemory)
            let client = try await stage.client()
            await first.stop()
            let former = try expectSome(try record(), "a record").former
            await client.close()
            #expect(former == FormerClients(ofMemory: onMemory, ofFiles: !onMemory))
            return former
        }

        private func expectSame(_ former: FormerClients, _ end: String) throws {
            #expect(try record()?.former == former, "after a hub that \(end)")
        }

        @Test(
            "they stand through each end of the hubs that follow, each of which waits for its whole time from when it answers",
            // A hub on files that follows another one has its clients.
            arguments: [(true, true), (true, false), (false, true)])
        func ends(isFirstOnMemory: Bool, isNextOnMemory: Bool) async throws {
            let former = try await firstHub(onMemory: isFirstOnMemory)
            let socket = stage.directory.path(of: "hub")

            var next: Hub? = try await hub(onMemory: isNextOnMemory)
            let answers = clock.now()
            let welcomesFrom = try #require(await next?.service.welcomesFrom)
            #expect(
                answers.duration(to: welcomesFrom) > FormerClients.timeout - .seconds(1) || clock.now() >= welcomesFrom)
            try expectSame(former, "serves")
            await next?.stop()
            try expectSame(former, "was told to end")

            let start = clock.now()
            next = try await hub(onMemory: isNextOnMemory)
            let anew = try #require(await next?.service.welcomesFrom)
            #expect(
                anew >= start.advanced(by: FormerClients.timeout),
                "the clients may have heard of no hub before this one")
            next = nil
            try await eventually("it is gone") { try HubEndpointState.ofSocket(socket) == .free }
            try expectSame(former, "was let go")

            let taken = try StreamListener(host: "127.0.0.1", port: 0)
            let port = try #require(taken.port)
            await #expect(throws: SharedCoreError.self) {
                _ = try await hub(onMemory: isNextOnMemory, at: [.tcp(host: "127.0.0.1", port: port)])
            }
            try expectSame(former, "could not start")

            // The kernel gives the lock of a killed process back, as that of a file that is closed.
            for isServing in [false, true] {
                var lock: HubLock? = try HubLock.ofSocket(socket).lock
                #expect(try record()?.state == .starting)
                try expectSame(former, "starts")
                if isServing, isNextOnMemory {
                    lock?.expectClients(onMemory: true)
                    try expectSame(former, "is about to serve")
                    lock?.announce(onMemory: true)
                }
                lock = nil
                #expect(try HubEndpointState.ofSocket(socket) == .abandoned)
                try expectSame(former, "was killed")
            }
        }

        @Test(
            "a hub whose files are removed says so, and leaves what a killed hub on memory leaves: no later hub knows its sessions"
        )
        func filesRemoved() async throws {
            let failure = Promise<SharedCoreError>()
            var options = HubOptions(
                group: "group", storage: .files(directory: stage.files, FileGroupOptions()),
                endpoints: [stage.endpoint],
                keys: try CurveHubKeys(own: stage.keys.hub, clients: [stage.keys.client.publicKey]))
            options.onFailure = { failure.fulfil($0) }
            let hub = try await Hub.start(options)
            let client = try await stage.client()
            Directory.removeWithFiles(path: stage.files)
            #expect(await failure.value().code == .unavailable)
            await hub.stop()
            let seat = try HubEndpointState.ofSocket(stage.directory.path(of: "hub"))
            #expect(seat == .abandoned, "its clients start another one")
            let left = try expectSome(try record(), "a record").formerClients
            #expect(left == FormerClients(ofMemory: true, ofFiles: false))

            let next = try await self.hub(onMemory: false)
            #expect(await next.service.welcomesFrom != nil)
            try await eventually("the client hears that its session is over", timeout: TestTimeout.long) {
                do throws(SharedCoreError) {
                    _ = try await client.list(.all)
                    return false
                } catch {
                    return error.code == .sessionEnded
                }
            }
            await client.close()
            await next.stop()
        }

        @Test("a hub that has served for their time outlasts them")
        func outlasted() async throws {
            _ = try await firstHub(onMemory: true)
            let next = try await hub(onMemory: true)
            let welcomesFrom = try #require(await next.service.welcomesFrom)
            try await clock.sleep(until: welcomesFrom)
            await next.stop()
            #expect(try record() == nil)
            let last = try await hub(onMemory: true)
            #expect(await last.service.welcomesFrom == nil)
            await last.stop()
        }

        @Test("a hub that was killed may have had clients; which of them hold up which hub")
        func killed() throws {
            func left(_ state: HubRecord.State, _ ofMemory: Bool, _ ofFiles: Bool) throws -> [Bool] {
                let written = HubRecord(state, FormerClients(ofMemory: ofMemory, ofFiles: ofFiles))
                #expect(written.bytes.count == HubRecord.byteCount)
                let record = try #require(HubRecord(String(decoding: written.bytes, as: UTF8.self)))
                #expect(record == written)
                return [record.formerClients.ofMemory, record.formerClients.ofFiles]
            }
            for state in [HubRecord.State.openingOnMemory, .onMemory] {
                #expect(try left(state, false, false) == [true, false])
                #expect(try left(state, true, true) == [true, true])
                #expect(try left(state, false, true) == [true, true])
            }
            for state in [HubRecord.State.openingOnFiles, .onFiles] {
                #expect(try left(state, false, false) == [false, true])
                #expect(try left(state, true, false) == [true, true])
            }
            for state in [HubRecord.State.starting, .ended] {
                #expect(try left(state, false, false) == [false, false])
                #expect(try left(state, true, false) == [true, false])
            }
            let (memory, files) = (FormerClients(ofMemory: true), FormerClients(ofFiles: true))
            #expect(memory.hold(hubOnMemory: true) && memory.hold(hubOnMemory: false))
            #expect(files.hold(hubOnMemory: true) && !files.hold(hubOnMemory: false))
            #expect(memory.outlasted(byHubOnMemory: false) == FormerClients())
            #expect(files.outlasted(byHubOnMemory: true) == FormerClients())
            #expect(files.outlasted(byHubOnMemory: false) == files)
        }

        @Test("the file of another run of the machine, of another form or of none says nothing")
        func others() throws {
            let own = ProcessIdentity.current
            let other = BootID(high: 1, low: 2)
            for text in [
                "", "ended", "ended \(other) 1 1\n", "\(own.pid) 1 \(other) * 1 1\n", "\(own.pid) 1 \(own.bootID) *\n",
                "x 1 \(own.bootID) * 1 1\n", "\(own.pid) 1 \(own.bootID) ended 1 1\n",
                "\(own.pid) 1 \(own.bootID) * 1 9\n", "\(own.pid) 1 \(own.bootID) * 1 1 1\n",
            ] {
                #expect(HubRecord(text) == nil, "\(text)")
            }
            // Bytes after the first line are left from a longer record, and are ignored.
            #expect(HubRecord("\(own.pid) 1 \(own.bootID) * 1 1\nrest 1 2")?.state == .onMemory)
        }
    }
}
