internal import CoreAPI
internal import CoreAPITesting
internal import FileNotifyBackend
internal import Glibc
internal import Platform
internal import TestSupport
internal import Testing
internal import ZMQBackend

extension ZMQTests {
    /// The wake channel by which a hub on files learns of writes by other processes.
    @Suite("A hub's own bell")
    struct HubSignalTests {
        /// The wake channel for all changes.
        private func events(of stage: HubStage) throws -> FileEvents {
            let events = try FileEvents()
            _ = try events.watchWrites(to: OpenFile(path: stage.files + "/bell-0", .read))
            return events
        }

        @Test("a hub does not ring it for what it records itself, unless it has to look what may end; others do")
        func ownNews() async throws {
            let stage = try HubStage()
            // No process polls by itself.
            let armed = FailPoint.arm("look.idle:fail")
            defer { armed.disarm() }
            let hub = try await stage.hub()
            let client = try await stage.client()
            let other = try Peer(PeerProgram(path: try ChildProcess.built("sharedcore-test-peer")))
            _ = try await other.answer()
            try await other.tell("open \(stage.files)")
            let bell = try events(of: stage)
            for number in 0..<20 {
                try await client.put("key", [UInt8(number)])
                try await client.post("name")
            }
            #expect(bell.take().isEmpty)
            try await client.put("expiring", [1], lifetime: .expiring(after: .seconds(3600)))
            try await eventually("it looks when that is over") { !bell.take().isEmpty }
            try await other.tell("put other 1")
            try await eventually("it hears of what others write") { !bell.take().isEmpty }
            try await eventually("so does its client") { try await client.get("other", consistency: .causal) != nil }
            await client.close()
            await hub.stop()
        }

        @Test("L1: a watch in the process of a hub hears of the end of its client, also when the hub has stopped")
        func clientsEnd() async throws {
            let stage = try HubStage()
            // No process polls by itself.
            let armed = FailPoint.arm("look.idle:fail")
            defer { armed.disarm() }
            let hub = try await stage.hub()
            var options = FileGroupOptions(historyByteCount: 1 << 20)
            options.effectByteCount = 4 << 20
            let files = try await FileGroup.open(directory: stage.files, options: options)
            let watch = try await files.watch(["held"], from: .now)
            let bell = try events(of: stage)
            let clients = try (0..<2).map { _ in
                try Peer(PeerProgram(path: try ChildProcess.built("sharedcore-test-peer")))
            }
            for (number, client) in clients.enumerated() {
                _ = try await client.answer()
                try await client.tell("open zmq \(stage.endpoint)")
                _ = bell.take()
                try await client.tell("hold held/\(number) here")
                #expect(try await next(of: watch) == [Key("held/\(number)")])
                // Nothing has to poll for it: the hub watches the end of the client's process.
                #expect(bell.take().isEmpty)
            }
            clients[0].signal(.kill)
            #expect(try await next(of: watch) == ["held/0"])
            await hub.stop()
            clients[1].signal(.kill)
            #expect(try await next(of: watch) == ["held/1"])
            await files.close()
        }

        @Test("L1: a hub that takes over waits alone for the end of a client that it finds")
        func takesOver() async throws {
            let stage = try HubStage()
            // No process polls by itself.
            let armed = FailPoint.arm("look.idle:fail")
            defer { armed.disarm() }
            let former = try await stage.hubProcess()
            let client = try await stage.peer()
            try await client.tell("hold held here")
            let others = try waits(for: client.pid)
            former.process.signal(.kill)
            _ = await former.process.end()
            let hub = try await stage.hub()
            // Answered by the hub that now has the session.
            #expect(try await client.tell("get held") == "value here")
            try await eventually("it waits once") { try waits(for: client.pid) == others + 1 }
            await hub.stop()
            await client.killNow()
        }

        /// The number of descriptors of this process that refer to another process.
        private func waits(for pid: Int32) throws -> Int {
            let descriptors = "/proc/self/fdinfo"
            return try Directory(path: descriptors).names().count { name in
                // A descriptor may have been closed meanwhile.
                guard let bytes = try? OpenFile(path: descriptors + "/" + name, .read).read(count: 1 << 20, at: 0)
                else {
                    return false
                }
                return String(decoding: bytes, as: UTF8.self).split(separator: "\n").contains("Pid:\t\(pid)")
            }
        }

        /// The keys that change next.
        private func next(of watch: Watch) async throws -> [Key] {
            let event = try await withTimeout(TestTimeout.usual, "the watch goes on") { try await watch.next() }
            guard case .changes(let changes)? = event else { return [] }
            return changes.changes.map(\.key)
        }

        @Test("what a process records that was the hub is heard by the next hub")
        func afterTheStop() async throws {
            let stage = try HubStage()
            let armed = FailPoint.arm("look.idle:fail")
            defer { armed.disarm() }
            let former = try await stage.hub()
            // Shares with the hub this process's replica of the group.
            var options = FileGroupOptions(historyByteCount: 1 << 20)
            options.effectByteCount = 4 << 20
            let files = try await FileGroup.open(directory: stage.files, options: options)
            let bell = try events(of: stage)
            try await files.put("key", [1])
            #expect(bell.take().isEmpty)
            await former.stop()
            let next = try await stage.hubProcess(failPoint: "look.idle:fail")
            defer { next.process.signal(.kill) }
            let client = try await stage.client()
            _ = bell.take()
            try await files.put("key", [2])
            try await eventually("the bell rings") { !bell.take().isEmpty }
            try await eventually("the next hub tells of it") {
                try await client.get("key", consistency: .causal)?.value == [2]
            }
            await client.close()
            await files.close()
        }

        @Test("S8: what was put through a hub and is over goes in time, also without writes")
        func expiry() async throws {
            let stage = try HubStage()
            let hub = try await stage.hub()
            let client = try await stage.client()
            // No process polls by itself.
            let armed = FailPoint.arm("look.idle:fail")
            defer { armed.disarm() }
            // The first is long, so that the time of the second changes the next deadline.
            try await client.put("long", [1], lifetime: .expiring(after: .seconds(3600)))
            try await client.put("short", [1], lifetime: .expiring(after: .milliseconds(300)))
            try await eventually("it is over") { try await client.get("short", consistency: .causal) == nil }
            await client.close()
            await hub.stop()
        }
    }
}
