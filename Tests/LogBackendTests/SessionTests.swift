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
    private func addSession(
        of process: ProcessIdentity, _ token: ProcessMark.Token? = nil
    ) throws -> SessionID {
        let revision = Revision(rawValue: try #require(try log.effects().last).revision.rawValue + 1)
        let opening = SessionOpening(
            process: process, description: SessionDescription(), backendData: ProcessMark.current(token).bytes)
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

    @Test(
        "L1: after a record, a log is not asked about a process that is seen to live, unless it has leases",
        arguments: [false, true])
    func seenProcess(hasLease: Bool) async throws {
        let questions = Box<[Set<SessionID>]>([])
        let unseen = try await log.join()
        let group = try await log.join { log in
            if hasLease { log.lease = SessionLease(duration: .seconds(60), confirmedAt: SystemClock().now()) }
            log.ended = { _, sessions in
                questions.update { $0.append(Set(sessions.map(\.id))) }
                return []
            }
        }
        let process = try ChildProcess("sleep", ["3600"])
        let session = try addSession(of: process.identity)
        // The first question may come before the process is waited for.
        for number in 0..<5 {
            let count = questions.value.count
            try await group.put("k", [UInt8(number)])
            try await eventually("the log is asked") { questions.value.count > count }
        }
        #expect(questions.value.last == (hasLease ? [unseen.session.id, session] : [unseen.session.id]))
        process.signal(.kill)
        _ = await process.end()
        try await eventually("the end is recorded") { try log.hasEnd(of: session) }
        await group.close()
        await unseen.close()
    }

    @Test("C3: the process of a session is proved by its socket alone, whatever a record says, and no other is")
    func proof() async throws {
        let (owner, other) = (try await log.join { _ in }, try await log.join { _ in })
        let process = ProcessIdentity.current
        #expect(await other.doubt(that: process, has: owner.session.id) == nil)
        let stranger = try ChildProcess("sleep", ["3600"])
        #expect(await other.doubt(that: stranger.identity, has: owner.session.id)?.contains("another process") == true)
        // A record names a process that has never opened the log, as one of a release without sockets does.
        let named = try addSession(of: stranger.identity)
        // This process takes the socket name of a session that names another process. The kernel reports who has the
        // socket, so this process is not taken for the session's.
        let token = ProcessMark.Token.random()
        let taken = try addSession(of: stranger.identity, token)
        let socket = try #require(SessionSocket(named: token.socketName))
        try await other.sync()
        #expect(await other.doubt(that: stranger.identity, has: named)?.contains("no socket") == true)
        #expect(await other.doubt(that: stranger.identity, has: taken)?.contains("another process") == true)
        withExtendedLifetime(socket) {}
        await owner.close()
        try await other.sync()
        #expect(await other.doubt(that: process, has: owner.session.id) == "its session is over")
        await other.close()
    }

    @Test("C3: the socket of a session answers again when a flood of connections to it has ended")
    func flood() async throws {
        let (owner, other) = (try await log.join { _ in }, try await log.join { _ in })
        let name = try #require(other.mark(of: owner.session.id)?.token?.socketName)
        var connections: [StreamConnection] = []
        while connections.count < 4096, let connection = try? StreamConnection(to: "@sharedcore/" + name) {
            connections.append(connection)
        }
        #expect(await other.doubt(that: .current, has: owner.session.id)?.contains("does not answer") == true)
        connections = []
        try await other.put("k", [1])
        try await eventually("it is proved again") {
            await other.doubt(that: .current, has: owner.session.id) == nil
        }
        await owner.close()
        await other.close()
    }

    @Test(
        "L3: a process that is dead before its session is seen is noticed as well, also where its log takes it for alive",
        arguments: [nil, []] as [[SessionID]?])
    func deadBefore(told: [SessionID]?) async throws {
        let group = try await log.join { $0.ended = { _, _ in told } }
        let process = try ChildProcess("sleep", ["3600"])
        process.signal(.kill)
        _ = await process.end()
        let session = try addSession(of: process.identity)
        try await eventually("the end is recorded") { try log.hasEnd(of: session) }
        await group.close()
    }

    @Test("L3: an opening records the end of a dead process that its log takes for alive, and a reader leaves it out")
    func deadAtOpening() async throws {
        try await log.join().close()
        let process = try ChildProcess("sleep", ["3600"])
        process.signal(.kill)
        _ = await process.end()
        let session = try addSession(of: process.identity)
        var view = ChangedLog(view: log.open())
        view.ended = { _, _ in [] }
        let reader = try await ReplicatedGroup.openToRead(log: view, options: .ofMemory)
        #expect(try await reader.sessions().isEmpty)
        #expect(try !log.hasEnd(of: session))
        let group = try await log.join { $0.ended = { _, _ in [] } }
        #expect(try log.hasEnd(of: session))
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
