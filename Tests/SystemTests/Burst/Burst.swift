internal import Coordination
internal import CoreAPI
internal import CoreAPITesting
internal import FileNotifyBackend
internal import Glibc
internal import Platform
internal import TestSupport
internal import Testing

/// Many pushes at once, each with a process of its own.
final class Burst {
    let post: Post
    let group: FileGroup
    private let callIDs: [String]
    private var processes: [String: ChildProcess] = [:]

    init(of size: Int) async throws {
        post = try Post(startMilliseconds: 300)
        group = try await post.open()
        callIDs = (1...size).map { "burst-\($0)" }
    }

    /// Starts all Executors.
    func push() async throws {
        for callID in callIDs { processes[callID] = try post.push(callID) }
    }

    /// Waits until all Executors wait, also the last one that a busy machine has started. Otherwise the core of an
    /// earlier one could serve the others and stop before the last one waits.
    func allWait() async throws {
        try await eventually("all wait for their messages", timeout: TestTimeout.long) {
            try await group.list(".sharedcore/expectations").entries.count == callIDs.count
        }
    }

    /// Starts another Executor for each call-id with a killed Executor.
    func pushAgain() async throws {
        for (callID, process) in processes {
            guard case .killed = process.ended else { continue }
            processes[callID] = try post.push(callID)
        }
    }

    /// The messages come in another order than the pushes.
    func deliverAll() throws {
        for callID in callIDs.reversed() { try post.deliver(callID) }
    }

    /// Waits for an owner.
    func owner(_ isRight: (GroupOwner) -> Bool) async throws -> GroupOwner {
        var found: GroupOwner?
        try await eventually("somebody owns", timeout: TestTimeout.long) {
            found = try await GroupOwner.current(in: group)
            return found.map(isRight) ?? false
        }
        return try #require(found)
    }

    func process(of owner: GroupOwner) -> ChildProcess? {
        processes.values.first { $0.pid == owner.process.pid }
    }

    /// Kills an owner and waits for its end.
    func kill(_ owner: GroupOwner) async throws {
        let process = try #require(self.process(of: owner))
        process.signal(.kill)
        #expect(await process.end() == .killed(by: SIGKILL))
    }

    /// Every push got the message of its own call-id.
    ///
    /// - Parameter timeout: How long each may have waited for it.
    func expectAllServed(but exception: ChildProcess? = nil, timeout: Duration? = nil) async throws {
        for callID in callIDs {
            guard let process = processes[callID], process !== exception else { continue }
            let end = await process.end()
            let report = post.report(of: process)
            #expect(end == .exited(0), "\(callID): \(process.lines)")
            #expect(report?.event == "message", "\(callID)")
            #expect(report?.text == post.text(of: callID))
            if let timeout, let report { #expect(.milliseconds(report.elapsedMs) <= timeout, "\(callID)") }
        }
    }

    /// The starts that the processes printed.
    var coreStarts: Int {
        processes.values.reduce(0) { $0 + (post.report(of: $1)?.coreStarts ?? 0) }
    }

    /// The core starts that the timeline records.
    func coreStartsOnTimeline() async throws -> Int {
        try await Timeline(group).history().records.count { $0.entry.kind == .coreStarted }
    }

    /// Makes sure that no more cores have started than there must be, but for a few that a busy machine explains.
    ///
    /// - Parameters:
    ///   - starts: How many have.
    ///   - needed: How many there must be.
    ///   - mostExcused: How many owners at most may have been taken for frozen.
    func expectFew(_ starts: Int, needed: Int, mostExcused: Int) async throws {
        let excused = try await unansweredChallenges()
        if excused > 0 { print("\(excused) owners of the burst were taken for frozen") }
        #expect(starts <= needed + excused)
        #expect(excused <= mostExcused, "owners that answer are not taken for frozen again and again")
    }

    /// The number of owners that were taken for frozen: each of them means one more start, which a machine that is busy
    /// enough brings.
    private func unansweredChallenges() async throws -> Int {
        try await Timeline(group).history().records.count {
            $0.entry.kind == .tookOver && $0.entry.previous?.end == .unanswered
        }
    }

    /// Expects that the rules hold, that no two cores with a right to run overlapped, and that the server has no
    /// message left.
    func expectClean() async throws {
        let report = TimelineChecker.check(try await Timeline(group).history())
        #expect(report.violations.isEmpty, "\(report.violations)")
        #expect(report.overlaps == 0)
        #expect(try post.misunderstandings() == [])
        #expect(try post.count(in: "new") == 0)
        #expect(try post.count(in: "cur") == callIDs.count)
        #expect(try await group.list(".sharedcore/expectations").entries.isEmpty)
    }
}
