internal import CoreAPI
internal import CoreAPITesting
internal import FileNotifyBackend
internal import InMemoryBackend
internal import Platform
internal import TestSupport
internal import Testing

@testable import ZMQBackend

extension ZMQTests {
    @Suite("C1: clients of a former hub have their time to stop, whatever becomes of the hubs after it")
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

        /// What the lock's file says now; nil when it is empty.
        private func record() throws -> HubRecord? {
            let file = try OpenFile(path: stage.directory.path(of: "hub.lock"), .read)
            return HubRecord(String(decoding: try file.read(count: 256, at: 0), as: UTF8.self))
        }

        /// A hub that has a client at its end; gives what the file says then.
        private func firstHub(onMemory: Bool) async throws -> FormerClients {
            let first = try await hub(onMemory: onMemory)
            let client = try await stage.client()
            let before = clock.now()
            await first.stop()
            let former = try expectSome(try record(), "a record").former
            await client.close()
            let end = onMemory ? former.ofMemory : former.ofFiles
            #expect(end >= before.advanced(by: FormerClients.timeout))
            #expect(end <= clock.now().advanced(by: FormerClients.timeout))
            return former
        }

        /// Makes sure that the time is the same still, or is over by now.
        private func expectSame(_ former: FormerClients, _ end: String) throws {
            let left = try record()?.former
            let isOver = clock.now() >= former.end(forHubOnMemory: true)
            #expect(isOver || left == former, "after a hub that \(end)")
        }

        @Test(
            "their time stands through each end of the hubs that follow, and none adds to it",
            // A hub on files that follows another one has its clients.
            arguments: [(true, true), (true, false), (false, true)])
        func ends(isFirstOnMemory: Bool, isNextOnMemory: Bool) async throws {
            let former = try await firstHub(onMemory: isFirstOnMemory)
            let socket = stage.directory.path(of: "hub")

            var next: Hub? = try await hub(onMemory: isNextOnMemory)
            let end = former.end(forHubOnMemory: isNextOnMemory)
            let welcomesFrom = await next?.service.welcomesFrom
            #expect(welcomesFrom == end || clock.now() >= end)
            try expectSame(former, "serves")
            await next?.stop()
            try expectSame(former, "was told to end")

            next = try await hub(onMemory: isNextOnMemory)
            next = nil
            try await eventually("it is gone") { try HubSeat.ofSocket(socket) == .free }
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
                #expect(try HubSeat.ofSocket(socket) == .abandoned)
                try expectSame(former, "was killed")
            }
        }

        @Test("a hub that was killed may have had clients, but not while it waited for those before it")
        func killed() throws {
            let now = BootInstant(nanoseconds: 1_000_000_000_000)
            let (next, over) = (now.advanced(by: FormerClients.timeout), BootInstant(nanoseconds: 0))
            let (soon, past) = (now.advanced(by: .seconds(2)), BootInstant(nanoseconds: 999_000_000_000))
            func left(_ state: HubRecord.State, _ ofMemory: BootInstant, _ ofFiles: BootInstant) throws -> [BootInstant]
            {
                let written = HubRecord(state, FormerClients(ofMemory: ofMemory, ofFiles: ofFiles))
                #expect(written.bytes.count == HubRecord.byteCount)
                let record = try #require(HubRecord(String(decoding: written.bytes, as: UTF8.self)))
                #expect(record == written)
                let former = record.formerClients(at: now)
                return [former.ofMemory, former.ofFiles]
            }
            for state in [HubRecord.State.openingOnMemory, .onMemory] {
                #expect(try left(state, over, over) == [next, over])
                #expect(try left(state, past, past) == [next, over])
                #expect(try left(state, soon, over) == [soon, over])
                #expect(try left(state, over, soon) == [over, soon])
            }
            for state in [HubRecord.State.openingOnFiles, .onFiles] {
                #expect(try left(state, over, over) == [over, next])
                #expect(try left(state, soon, soon) == [soon, next])
            }
            for state in [HubRecord.State.starting, .ended] {
                #expect(try left(state, over, past) == [over, over])
                #expect(try left(state, soon, soon) == [soon, soon])
                // No hub of this clock has written it.
                #expect(try left(state, next.advanced(by: .seconds(60)), over) == [next, over])
            }
        }

        @Test("the file of another run of the machine, of another form or of none says nothing")
        func others() throws {
            let own = ProcessIdentity.current
            let other = BootID(high: 1, low: 2)
            for text in [
                "", "ended", "ended \(other) 9 9\n", "\(own.pid) 1 \(other) * 9 9\n", "\(own.pid) 1 \(own.bootID) *\n",
                "x 1 \(own.bootID) * 9 9\n", "\(own.pid) 1 \(own.bootID) ended 9 9\n",
                "\(own.pid) 1 \(own.bootID) * 9 -9\n", "\(own.pid) 1 \(own.bootID) * 9 9 9\n",
            ] {
                #expect(HubRecord(text) == nil, "\(text)")
            }
            // What a longer file had before stands behind the line.
            #expect(HubRecord("\(own.pid) 1 \(own.bootID) * 9 9\nrest 1 2")?.state == .onMemory)
        }
    }
}
