import Coordination
import CoreAPI
import CoreAPITesting
import InMemoryBackend
import Platform
import SharedCoreTesting
import TestSupport
import Testing

/// A group in memory with a server, and the participants that a test puts into it, each in a process of its own.
final class World: Sendable {
    let clock: any TimeSource
    let space: MemorySpace
    let server = ScriptedServer()
    let gauge = CoreGauge()
    let witness = MemoryWitness()
    let processes: ProcessTable
    let options: CoordinationOptions
    private let seed = Box<UInt64>(1)
    /// The holders. A holder that is released ends.
    private let holders = Box<[HolderParticipant]>([])

    /// - Parameter options: ``CoordinationOptions/patient`` where no bound of time is under test.
    init(clock: any TimeSource = SystemClock(), options: CoordinationOptions = .patient) {
        self.clock = clock
        self.space = MemorySpace(clock: clock)
        self.processes = ProcessTable(bootID: clock.bootID)
        self.options = options
    }

    func main(
        _ name: String = "main", script: ScriptedCore.Script = .init(), in process: SimulatedProcess? = nil
    ) async throws -> TestParticipant<MainParticipant> {
        let (group, process, environment, core) = try await enter(.main, name, script, in: process)
        let main = try MainParticipant(of: group, options: options, environment: environment, core: core)
        return TestParticipant(participant: main, group: group, process: process)
    }

    func executor(
        _ name: String = "executor", script: ScriptedCore.Script = .init(), in process: SimulatedProcess? = nil,
        options: CoordinationOptions? = nil, witness: (any Witness)? = nil, push: Push? = nil
    ) async throws -> TestParticipant<ExecutorParticipant> {
        let (group, process, usual, core) = try await enter(.executor, name, script, in: process)
        var environment = usual
        if let witness { environment.witness = witness }
        environment.push = push
        let executor = try ExecutorParticipant(
            of: group, options: options ?? self.options, environment: environment, core: core)
        return TestParticipant(participant: executor, group: group, process: process)
    }

    func holder(
        _ name: String = "holder", in process: SimulatedProcess? = nil, options: CoordinationOptions? = nil
    ) async throws -> TestParticipant<HolderParticipant> {
        let (group, process, environment, _) = try await enter(.tool, name, .init(), in: process)
        let holder = try HolderParticipant(of: group, options: options ?? self.options, environment: environment)
        try await holder.start()
        holders.update { $0.append(holder) }
        return TestParticipant(participant: holder, group: group, process: process)
    }

    /// A handle that only looks.
    func observer() async throws -> MemoryGroup {
        try await space.open("group", as: SessionDescription(role: .tool, name: "observer"))
    }

    func owner() async throws -> GroupOwner? {
        try await GroupOwner.current(in: observer())
    }

    /// Returns the checker's report on the timeline, and the timeline's entries.
    func report() async throws -> (report: CheckReport, entries: [TimelineEntry]) {
        let history = try await Timeline(observer()).history()
        return (TimelineChecker.check(history), history.records.map(\.entry))
    }

    private func enter(
        _ role: SessionRole, _ name: String, _ script: ScriptedCore.Script, in process: SimulatedProcess? = nil
    ) async throws -> (MemoryGroup, SimulatedProcess, CoordinationEnvironment, @Sendable () -> any Core) {
        let process = process ?? processes.start()
        let group = try await space.open(
            "group", as: SessionDescription(role: role, name: name), process: process.identity)
        process.attach(group)
        let number = seed.update { seed in
            seed += 1
            return seed
        }
        let environment = CoordinationEnvironment(
            clock: clock, processes: processes, witness: witness, seed: number, push: nil)
        return (
            group, process, environment,
            { [server, gauge] in ScriptedCore(server: server, gauge: gauge, process: process, script: script) }
        )
    }
}

extension CoordinationOptions {
    /// Bounds so large that a slow machine never reaches them, for tests of behaviour without a bound.
    static var patient: CoordinationOptions {
        var options = CoordinationOptions(
            handoverTimeout: .seconds(60), handoverMaximumTimeout: .seconds(120), executorBudget: .seconds(300),
            stopTimeout: .seconds(60))
        options.answerBound = .seconds(60)
        options.wakeBound = .seconds(60)
        return options
    }
}

extension World {
    /// How many calls are known to wait for their message.
    func waitingCount() async throws -> Int {
        try await observer().list(".sharedcore/expectations").entries.count
    }
}

extension TestParticipant<ExecutorParticipant> {
    /// Waits for a message, for longer than any test lasts.
    func wait(for callID: String) -> Task<MessageResult, any Error> {
        Task { try await participant.message(forCallID: .of(callID), timeout: .seconds(3600)) }
    }
}

/// A participant with its handle and its process.
struct TestParticipant<Participant: Sendable>: Sendable {
    let participant: Participant
    let group: MemoryGroup
    let process: SimulatedProcess
}

extension InboxMessage {
    /// A text message with a call-id.
    static func text(_ callID: String, _ text: String = "hello") throws -> InboxMessage {
        InboxMessage(
            callID: try CallID.of(callID),
            content: .text(from: "sip:a@example.org", to: "sip:b@example.org", text: text))
    }
}

extension CallID {
    static func of(_ text: String) throws -> CallID {
        try #require(CallID(text))
    }
}

extension MessageResult {
    /// The message, where there is one.
    var message: InboxMessage? {
        if case .message(let taken) = content { taken.message } else { nil }
    }

    var taken: TakenMessage? {
        if case .message(let taken) = content { taken } else { nil }
    }
}
