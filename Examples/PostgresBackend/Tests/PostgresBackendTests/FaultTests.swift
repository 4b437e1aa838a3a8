import CoreAPI
import Foundation
import LogBackend
import Platform
import Testing

@testable import PostgresBackend

extension AllTests {
    /// Contract E1: the same fault has the same code everywhere.
    @Suite("Faults of the server and of connections", .serialized)
    struct FaultTests {
        private let name = "faults-\(UUID().uuidString)"

        @Test("A server that is killed with all its processes has each put that was acknowledged; participants go on")
        func killedServer() async throws {
            let group = try await open()
            // A commit must be in the log before its answer, regardless of the settings of the role.
            let connection = TestServer.connection + " options='-c synchronous_commit=off'"
            let writers = try ["one", "two"].map { writer in
                try BuiltProgram.start(
                    BuiltProgram.path(of: "postgres-peer"), ["put", "sharedcore", name, connection, writer])
            }
            defer {
                for writer in writers where writer.process.isRunning {
                    kill(writer.process.processIdentifier, SIGKILL)
                    writer.process.waitUntilExit()
                }
            }
            func acknowledged() -> [Int] {
                writers.map { $0.output.text.split(separator: "\n").count { $0.hasPrefix("value") } }
            }
            for _ in 0..<3 {
                let before = acknowledged()
                #expect(try await until { zip(acknowledged(), before).allSatisfy { $0 >= $1 + 50 } })
                try await TestServer.restart()
                let atStart = acknowledged()
                #expect(try await until { zip(acknowledged(), atStart).allSatisfy { $0 >= $1 + 50 } })
            }
            let counts = acknowledged()
            let found = try await group.list().entries.reduce(into: [:]) { $0[$1.key.text] = $1.value }
            for (writer, count) in zip(["one", "two"], counts) {
                let lost = (0..<count).filter { found["\(writer)/\($0)"] != Array("\($0)".utf8) }
                #expect(lost.isEmpty, "of \(count) of \(writer)")
            }
            #expect(try await group.sessions().count == 3, "no session ended with the server")
            #expect(writers.allSatisfy { $0.process.isRunning })
            await group.close()
        }

        @Test("A server that is stopped within a put makes it `outcomeUnknown`; a new opening is `unavailable`")
        func stoppedServer() async throws {
            let group = try await open()
            try await group.put("key", Array("old".utf8))
            try TestServer.signal(SIGSTOP)
            let codes = await Task { [name] in
                async let put = Self.code { _ = try await group.put("key", Array("new".utf8)) }
                async let opening = Self.code { _ = try await PostgresGroup.open(try TestServer.place(of: name)) }
                return await (put, opening)
            }.value
            try TestServer.signal(SIGCONT)
            #expect(codes.0 == .outcomeUnknown)
            #expect(codes.1 == .unavailable)
            #expect(try await until { await Self.code { try await group.sync() } == nil })
            try await group.put("key", Array("last".utf8))
            #expect(try await group.get("key")?.value == Array("last".utf8))
            await group.close()
        }

        @Test("A connection that the server ends is replaced: the session stays, and no change is missed")
        func endedConnection() async throws {
            let (group, other) = (try await open(), try await open())
            let watch = try await group.watch(.all, from: .now)
            var changes = watch.makeAsyncIterator()
            for number in 0..<5 {
                try TestServer.query(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'sharedcore'")
                #expect(try await until { await Self.code { _ = try await other.put("key", [UInt8(number)]) } == nil })
                var seen: [UInt8]?
                while seen != [UInt8(number)] {
                    guard case .changes(let set)? = try await changes.next() else { break }
                    seen = set.changes.last?.new?.value
                }
                #expect(seen == [UInt8(number)])
            }
            #expect(try await group.sessions().count == 2)
            await group.close()
            await other.close()
        }

        @Test("A full disk of the server is `storageFull`, and the group goes on when there is space")
        func fullDisk() async throws {
            let group = try await open()
            try TestServer.fill()
            let code = await Self.code { _ = try await group.put("key", [1]) }
            try TestServer.empty()
            #expect(code == .storageFull)
            try await group.put("key", [2])
            await group.close()
        }

        @Test("A log that was removed from the server ends its group as `corrupt`, also where another has its name")
        func removedLog() async throws {
            let group = try await open()
            try TestServer.query("DELETE FROM sharedcore.log WHERE name = '\(name)'")
            let other = try await open()
            #expect(await Self.code { _ = try await group.put("key", [1]) } == .corrupt)
            await group.close()
            await other.close()
        }

        @Test("A role that may not use the tables is `forbidden`; a server that is not there is `unavailable`")
        func refusals() async throws {
            _ = try await open().close()
            let stranger = try PostgresPlace(server: TestServer.connection + " user=stranger", group: name)
            #expect(await Self.code { _ = try await PostgresGroup.open(stranger) } == .forbidden)
            let nowhere = try PostgresPlace(server: "host=/nonexistent", group: name)
            #expect(await Self.code { _ = try await PostgresGroup.open(nowhere) } == .unavailable)
            let absent = try PostgresPlace(server: TestServer.connection, schema: "absent", group: name)
            #expect(await Self.code { _ = try await PostgresGroup.openToRead(absent) } == .unavailable)
            #expect(try TestServer.query("SELECT to_regnamespace('absent') IS NULL") == "t", "a reader makes nothing")
        }

        @Test("Eight participants that open at once make the tables once")
        func firstOpenings() async throws {
            let schema = "first_\(UInt32.random(in: 0...UInt32.max))"
            let place = try PostgresPlace(server: TestServer.connection, schema: schema, group: name)
            let groups = try await withThrowingTaskGroup(of: ReplicatedGroup.self) { tasks in
                for _ in 0..<8 { tasks.addTask { try await PostgresGroup.open(place) } }
                return try await tasks.reduce(into: []) { $0.append($1) }
            }
            #expect(try await groups[0].sessions().count == 8)
            for group in groups { await group.close() }
            try TestServer.query("DROP SCHEMA \(schema) CASCADE")
        }

        @Test("A process that cannot be seen lasts as long as a connection has its lock, and its end wakes a wait")
        func locks() async throws {
            let session = Self.unseenSession()
            let place = try TestServer.place(of: name)
            let seer = try await PostgresLog.open(place)
            let holder = try await PostgresLog.open(place, of: session.process)
            // In the first seconds after the server's start, a missing lock says nothing.
            _ = try await seer.ended(among: [session])
            if let doubt = await seer.doubt { try await Task.sleep(for: doubt + .seconds(1)) }
            #expect(try await seer.ended(among: [session]) == [])
            // With the server all locks are gone, until their processes connect again.
            try await TestServer.restart()
            #expect(try await until { (try? await seer.ended(among: [session])) != nil })
            #expect(try await seer.ended(among: [session]) == [])
            _ = try await holder.read(from: 0, limit: 1)
            if let doubt = await seer.doubt { try await Task.sleep(for: doubt + .seconds(1)) }
            #expect(try await seer.ended(among: [session]) == [])
            let wait = Task { try await seer.wait(after: 0) }
            await holder.close()
            try await wait.value
            #expect(try await seer.ended(among: [session]) == [session.id])
            await seer.close()
        }

        @Test("A connection that ends takes its lock with it, and its session lasts until its process can return")
        func lostLocks() async throws {
            let session = Self.unseenSession()
            let place = try TestServer.place(of: name)
            let seer = try await PostgresLog.open(place)
            let holder = try await PostgresLog.open(place, of: session.process)
            // The server's age and that of this connection allow trust from here on.
            _ = try await seer.ended(among: [session])
            if let doubt = await seer.doubt { try await Task.sleep(for: doubt + .seconds(1)) }
            #expect(try await seer.ended(among: [session]) == [])
            #expect(await seer.doubt == nil)
            let connections = "FROM pg_stat_activity WHERE application_name = 'sharedcore'"
            try TestServer.query("SELECT pg_terminate_backend(pid) \(connections)")
            #expect(try await until { try TestServer.query("SELECT count(*) \(connections)") == "0" })
            // The holder connects again with its next call, and comes after both of these.
            #expect(try await seer.ended(among: [session]) == [], "over a new connection")
            let newcomer = try await PostgresLog.open(place)
            #expect(try await newcomer.ended(among: [session]) == [], "over a first connection")
            _ = try await holder.read(from: 0, limit: 1)
            for log in [seer, newcomer] {
                if let doubt = await log.doubt { try await Task.sleep(for: doubt + .seconds(1)) }
                #expect(try await log.ended(among: [session]) == [], "the holder has its lock again")
            }
            for log in [holder, newcomer, seer] { await log.close() }
        }

        /// Returns a session of a process that no system has: it looks like one of another container.
        private static func unseenSession() -> Session {
            let process = ProcessIdentity(
                bootID: ProcessIdentity.current.bootID, pid: 4_100_000, startTime: .random(in: 1...UInt64.max))
            return Session(
                id: SessionID(rawValue: 7), process: process, role: .tool, name: "", openedAt: SystemClock().now())
        }

        private func open() async throws -> ReplicatedGroup {
            try await PostgresGroup.open(try TestServer.place(of: name))
        }

        /// Returns the code of the error; nil for none.
        private static func code(_ body: () async throws -> Void) async -> SharedCoreError.Code? {
            do {
                try await body()
                return nil
            } catch { return (error as? SharedCoreError)?.code ?? .invalidArgument }
        }
    }
}
