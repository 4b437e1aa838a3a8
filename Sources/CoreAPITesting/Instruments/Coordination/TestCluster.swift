package import Coordination
package import CoreAPI
internal import Platform

/// The participants of one case, with the server that their cores share: a group in which a scenario runs.
package final class TestCluster: Sendable {
    package let group: TestGroup
    package let server: SharedServer
    /// A handle that only reads.
    package let observer: any SharedGroup
    private let harness: any ConformanceHarness
    private let clock: (any TimeSource)?
    private let participants = Box<[TestParticipant]>([])

    init(
        in group: TestGroup, at server: SharedServer, by harness: any ConformanceHarness, clock: (any TimeSource)?
    ) async throws {
        self.group = group
        self.server = server
        self.harness = harness
        self.clock = clock
        observer = try await group.open("observer")
    }

    /// True if processes can be killed and stopped; otherwise their ends and stops are only simulated.
    package var hasProcesses: Bool { harness.peer != nil }

    /// Makes a Main that has not started.
    ///
    /// - Parameters:
    ///   - settings: See ``TestParticipantSettings``.
    ///   - isApart: True to give it a separate process, if the backend supports several.
    package func main(_ name: String = "main", _ settings: String = "", apart isApart: Bool = false) async throws
        -> TestParticipant
    {
        try await enter(.main, name, settings, apart: isApart)
    }

    /// Makes a Main that owns and runs its core.
    package func owningMain(
        _ name: String = "main", _ settings: String = "", apart isApart: Bool = false
    ) async throws -> TestParticipant {
        let main = try await main(name, settings, apart: isApart)
        let outcome = try await main.start()
        try expect(outcome.hasPrefix("owns "), "the Main “\(name)” owns: \(outcome)")
        // Wait for the state `running`, after which the state does not change by itself.
        try await reaches(.running, by: name)
        return main
    }

    /// Makes a holder, for Mains that rest.
    package func holder(_ settings: String = "", apart isApart: Bool = false) async throws -> TestParticipant {
        let holder = try await enter(TestParticipantSession.holder, "holder", settings, apart: isApart)
        try await holder.tell("hold")
        try await eventually("there is a holder") { try await observer.get(OwnershipKey.holder) != nil }
        return holder
    }

    /// Makes an Executor.
    package func executor(
        _ name: String = "executor", _ settings: String = "", apart isApart: Bool = false
    ) async throws -> TestParticipant {
        try await enter(.executor, name, settings, apart: isApart)
    }

    /// Starts an Executor that waits for a message, and returns it when its core runs.
    package func owningExecutor(
        _ name: String = "executor", _ settings: String = "", waitingFor callID: String = "its-own",
        apart isApart: Bool = false
    ) async throws -> TestParticipant {
        let executor = try await executor(name, settings, apart: isApart)
        try await executor.ask(callID)
        try await reaches(.running, by: name)
        return executor
    }

    /// Makes an Executor with watches that deliver no updates.
    package func deafExecutor(_ name: String) async throws -> TestParticipant {
        let handle = TroubledGroup.deaf(try await group.open(name, role: .executor))
        return try enter(name, on: handle, "")
    }

    /// Makes an Executor. A message is stored when its call has reached the given point.
    func interruptedExecutor(_ callID: String, _ settings: String, at moment: InterruptionPoint) async throws
        -> TestParticipant
    {
        let handle = TroubledGroup.interrupted(
            try await group.open(callID, role: .executor), at: moment,
            under: try Inbox(observer).prefix(of: expectSome(CallID(callID), "a call-id"))
        ) { [self] in
            try receive(callID)
            try await stored(callID)
        }
        return try enter(callID, on: handle, settings)
    }

    private func enter(
        _ role: SessionRole, _ name: String, _ settings: String, apart isApart: Bool
    ) async throws -> TestParticipant {
        guard isApart, hasProcesses else { return try enter(name, on: await group.open(name, role: role), settings) }
        let peer = try await group.peer()
        let word = settings.isEmpty ? "none" : settings
        try await peer.tell("play \(role.rawValue) \(name) \(server.path) \(word) \(group.address)")
        let participant = TestParticipant(name, in: peer, of: group)
        participants.update { $0.append(participant) }
        return participant
    }

    private func enter(_ name: String, on handle: any SharedGroup, _ settings: String) throws -> TestParticipant {
        let session = try TestParticipantSession(
            on: handle, at: server, TestParticipantSettings(settings), isSimulated: !hasProcesses, clock: clock)
        let participant = TestParticipant(name, here: session, on: handle, in: group)
        participants.update { $0.append(participant) }
        return participant
    }

    /// Starts a burst of Executors, in several processes if the backend supports that. Call `receive` for their
    /// messages, and then wait for the burst.
    package func burst(of size: Int, _ settings: String = "") async throws -> ExecutorBurstRun {
        let processCount = hasProcesses ? 4 : 1
        let shares = (0..<processCount).map { $0 * size / processCount..<($0 + 1) * size / processCount }
        guard hasProcesses else {
            let burst = ExecutorBurst(
                numbers: 0..<size, server: server, settings: try TestParticipantSettings(settings), isSimulated: true,
                open: { [group] description throws(SharedCoreError) in
                    try await group.open(description.name, role: description.role)
                })
            return ExecutorBurstRun(here: Task { await burst.run() })
        }
        let peers = try await group.peers(count: processCount)
        for (peer, share) in zip(peers, shares) {
            let word = settings.isEmpty ? "none" : settings
            try await peer.tell("crowd \(share.lowerBound) \(share.count) \(server.path) \(word) \(group.address)")
        }
        return ExecutorBurstRun(apart: peers)
    }

    // MARK: - Present state

    /// Reads the present owner.
    package func owner() async throws -> GroupOwner? { try await GroupOwner.current(in: observer) }

    /// Waits until an owner by a name has reached a state.
    package func reaches(_ state: OwnerState, by name: String) async throws {
        try await eventually("“\(name)” owns and is \(state)") {
            let owner = try await owner()
            return owner?.name == name && owner?.state == state
        }
    }

    /// Waits until this many calls have stored their expectations.
    package func waits(_ count: Int) async throws {
        try await eventually("\(count) calls wait") {
            try await observer.list(".sharedcore/expectations").entries.count == count
        }
    }

    /// Waits until a message has its place in the inbox.
    package func stored(_ callID: String) async throws {
        let callID = try expectSome(CallID(callID), "a call-id")
        let inbox = try Inbox(observer)
        try await eventually("“\(callID)” is stored") { try await inbox.state(of: callID) != .absent }
    }

    /// Returns the entries of the timeline.
    package func entries() async throws -> [TimelineEntry] {
        try await Timeline(observer).history().records.map(\.entry)
    }

    /// Returns the number of cores that have started, from the timeline.
    package func coreStarts() async throws -> Int { try await entries().count { $0.kind == .coreStarted } }

    /// Adds text messages, as if they came from the network.
    package func receive(_ callIDs: String...) throws {
        for callID in callIDs { try receive(callID, .text(from: "ann", to: "bob", text: Self.text(of: callID))) }
    }

    /// Adds a message, as if it came from the network.
    package func receive(_ callID: String, _ content: InboxMessage.Content, sequence: String? = nil) throws {
        let callID = try expectSome(CallID(callID), "a call-id")
        let id = try expectSome(
            sequence.map { MessageID(callID, sequence: $0) } ?? MessageID(callID), "an identity")
        try server.receive(InboxMessage(id: id, content: content))
    }

    /// Returns the text of a call-id.
    private static func text(of callID: String) -> String { "this is for \(callID)" }

    /// Returns the answer of a test process that got the text of a call-id.
    package static func answer(_ callID: String, from source: MessageResult.Source) -> String {
        "message \(source) ann bob \(text(of: callID))"
    }

    /// Checks that a test process got the text of a call-id, from either source.
    package static func check(_ answer: String, isTextOf callID: String, _ what: String) throws {
        let isRight = [MessageResult.Source.inbox, .core].contains { answer == Self.answer(callID, from: $0) }
        try expect(isRight, "\(what): \(answer)")
    }

    // MARK: - The end

    /// Ends the scenario: all test processes leave, and the timeline and the witness must show that no rule was broken.
    ///
    /// - Parameter superseded: The least number of cores that ran beside a newer one that had superseded them; nil if
    ///   none may have.
    func judge(superseded: Int?) async throws {
        for participant in participants.value where !participant.isDead { try await participant.tell("leave") }
        let history = try await Timeline(observer).history()
        let report = TimelineChecker.check(history)
        try expect(report.violations, is: [], "the rules that the timeline breaks")
        try expect(report.overlaps, is: 0, "the overlaps on the timeline")
        // Compare the observations of the witness with the timeline: an observation that the timeline does not explain
        // is a forbidden overlap.
        let unexplained = try server.sights().filter { sight in
            history.supersededEpochs.isDisjoint(with: [sight.epoch, sight.other])
        }
        try expect(unexplained, is: [], "the cores that the witness saw at once")
        guard let superseded else {
            return try expect(report.supersededOverlaps, is: 0, "the superseded cores that ran beside others")
        }
        try expect(
            report.supersededOverlaps >= superseded,
            "the timeline tells of \(superseded) superseded cores beside others, not of \(report.supersededOverlaps)")
    }
}
