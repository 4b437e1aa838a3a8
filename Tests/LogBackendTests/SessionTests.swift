internal import CoreAPI
internal import CoreAPITesting
internal import Platform
internal import StoreEngine
internal import TestInstruments
internal import Testing

@testable internal import LogBackend

/// Participants with processes that die, and those of another run of the machine.
@Suite("Sessions over a log", .timeLimit(.minutes(10)))
struct SessionTests {
    private let log = MemoryLog()

    /// Adds the session of a process that has never opened the log.
    private func addSession(of process: ProcessIdentity) throws -> SessionID {
        let revision = Revision(rawValue: try #require(try log.effects().last).revision.rawValue + 1)
        let opening = SessionOpening(
            process: process, description: SessionDescription(), backendData: ProcessMark.current.bytes)
        try log.add(.sessionOpened(opening), at: revision, time: SystemClock().now())
        return SessionID(rawValue: revision.rawValue)
    }

    @Test("L1: the death of a process is noticed at once, without a question, also when the log takes its end later")
    func death() async throws {
        let failures = CallTimes()
        let isFull = Box(false)
        let group = try await log.join { log in
            log.ended = { _, _ in nil }
            log.append = { view, record, position throws(SharedCoreError) in
                guard isFull.value, failures.count < 3 else { return try await view.append(record, at: position) }
                failures.note()
                throw SharedCoreError(.storageFull, "There is no space.", at: "test")
            }
        }
        let process = try ChildProcess("sleep", ["3600"])
        let session = try addSession(of: process.identity)
        try await eventually("the session is seen") {
            try await group.sync()
            return try await group.sessions().contains { $0.id == session }
        }
        isFull.update { $0 = true }
        process.signal(.kill)
        _ = await process.end()
        try await eventually("the end is recorded") { try log.hasEnd(of: session) }
        #expect(failures.count == 3 && failures.areApart())
        await group.close()
    }

    @Test("L3: a process that is dead before its session is seen is noticed as well")
    func deadBefore() async throws {
        let group = try await log.join { $0.ended = { _, _ in nil } }
        let process = try ChildProcess("sleep", ["3600"])
        process.signal(.kill)
        _ = await process.end()
        let session = try addSession(of: process.identity)
        try await eventually("the end is recorded") { try log.hasEnd(of: session) }
        await group.close()
    }

    @Test("S14: with another boot id, an opening is refused while a participant lives")
    func otherRun() async throws {
        let clock = ManualClock()
        let group = try await log.join(clock: clock)
        let other = ManualClock()
        other.reboot()
        #expect(try await CoreAPITesting.code { _ = try await log.join(clock: other) } == .incompatible)
        await group.close()
        let later = try await log.join(clock: other)
        await later.close()
    }

    @Test("L1: an opening that is cancelled leaves no session behind")
    func cancelledOpening() async throws {
        let witness = try await log.join()
        let isRead = Box(false)
        let opening = Task { [log] in
            try await CoreAPITesting.code {
                _ = try await log.join { log in
                    log.read = { view, position, limit throws(SharedCoreError) in
                        // Once the session is recorded, the opening stands still.
                        if isRead.value { try await LogOrder.pause(.seconds(3600)) }
                        return try await view.read(from: position, limit: limit)
                    }
                    log.append = { view, record, position throws(SharedCoreError) in
                        defer { isRead.update { $0 = true } }
                        return try await view.append(record, at: position)
                    }
                }
            }
        }
        try await eventually("the session is recorded") { isRead.value }
        opening.cancel()
        _ = try await opening.value
        try await eventually("it is ended") { try await witness.sessions().map(\.id) == [witness.session.id] }
        await witness.close()
    }
}
