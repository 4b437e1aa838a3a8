internal import BackendRegistry
internal import Coordination
internal import CoreAPI

/// The figures by name, each with what it is compared with.
struct BenchFigures: Sendable {
    /// Those that are measured when none is named.
    static let standardNames =
        StoreFigures.names + [
            "handover", "takeover.kill", "takeover.frozen", "burst.100", "executor.start", "executor.memory",
            "idle.wakeups",
        ]
    static let names = standardNames + GrowthFigures.names + [FloodFigure.name]
    /// What only a group behind a hub has.
    private static let hubNames = [GrowthFigures.hubWakeUps, FloodFigure.name]

    /// Those figures among some that a backend can give.
    static func names(_ names: [String], for backend: String) -> [String] {
        switch backend {
        case "memory":
            names.filter { !$0.hasPrefix("executor.") && !$0.contains(".disk") && $0 != "idle.wakeups" }
                .filter { !GrowthFigures.names.contains($0) && !hubNames.contains($0) }
        case "zmq":
            // Its hub syncs to the disk or does not.
            names.filter { !$0.contains(".disk") }
        case "etcd":
            // What it syncs is its servers' matter, and its groups are not directories that others use directly.
            names.filter { !$0.contains(".disk") && !GrowthFigures.names.contains($0) && !hubNames.contains($0) }
        default: names.filter { !hubNames.contains($0) }
        }
    }

    static let flag = "state flag, polled every 100 ms, believed for 30 s"
    static let lease = "lease of 500 ms, renewed every 50 ms"
    static let burstSize = 100
    /// How long the core of a burst takes to connect: its one run.
    static let coreStart = Duration.milliseconds(100)

    let programs: BenchPrograms
    private(set) var stage: BenchStage
    let memory: MemoryBenchStage?
    let executors: ExecutorBench?

    init(programs: BenchPrograms, group: BackendConfiguration) throws {
        self.programs = programs
        let directory = group.stateDirectory
        stage = BenchStage(programs: programs, group: group, directory: directory)
        memory = group.backend == "memory" ? MemoryBenchStage(directory: directory) : nil
        executors =
            memory == nil
            ? try ExecutorBench(programs: programs, group: stage.isolated("executors"), directory: directory) : nil
    }

    func close() async {
        await executors?.close()
    }

    /// - Parameter rounds: How many samples to take, in place of the figure's own number.
    func figure(_ name: String, rounds: Int?) async throws -> Figure {
        // In a group of its own: what hundreds of participants of one figure have left in the history is read by whoever
        // joins for the next.
        var figures = self
        figures.stage = stage.alone(name)
        var figure = try await figures.comparedFigure(name, rounds: rounds)
        // Limits and peers are processes: nothing to compare the participants of one process with.
        if memory != nil { (figure.limit, figure.peers, figure.beside) = (nil, [], []) }
        return figure
    }

    private func comparedFigure(_ name: String, rounds: Int?) async throws -> Figure {
        switch name {
        case "handover":
            Figure(
                name: name, unit: "ms", rounds: rounds ?? 20,
                own: own {
                    try await $0.handover()
                } or: {
                    try await $0.handover(.sharedcore)
                },
                limit: .init(name: "two round trips through pipes, in C") {
                    [try await programs.limit("roundtrips")[0] / 1e6]
                },
                peers: [
                    .init(name: Self.flag) { [try await stage.handover(.flag)] },
                    .init(name: Self.lease + ", asked at a renewal") { [try await stage.handover(.lease)] },
                ],
                beside: [
                    .init(name: "to a Main whose process has owned before") { [stage] in
                        [try await stage.handover(.sharedcore, hasOwned: true)]
                    }
                ])
        case "takeover.kill":
            Figure(
                name: name, unit: "ms", rounds: rounds ?? 20,
                own: own {
                    try await $0.takeoverAfterKill()
                } or: {
                    try await $0.takeoverAfterKill(.sharedcore)
                },
                limit: .init(name: "SIGKILL to a readable pidfd, in C") { [try await programs.limit("kill")[0] / 1e6] },
                peers: [
                    .init(name: Self.flag, rounds: 2, isSlow: true) { [try await stage.takeoverAfterKill(.flag)] },
                    .init(name: Self.lease) { [try await stage.takeoverAfterKill(.lease)] },
                ])
        case "takeover.frozen":
            Figure(
                name: name, unit: "ms", rounds: rounds ?? 10,
                own: own {
                    try await $0.takeoverFromFrozen()
                } or: {
                    try await $0.takeoverFromFrozen(.sharedcore)
                },
                limit: nil,
                peers: [
                    .init(name: Self.flag, rounds: 2, isSlow: true) { [try await stage.takeoverFromFrozen(.flag)] },
                    .init(name: Self.lease) { [try await stage.takeoverFromFrozen(.lease)] },
                ])
        case "burst.100":
            burst(rounds: rounds ?? 3)
        case "idle.wakeups":
            Figure(
                name: name, unit: "per minute", rounds: rounds ?? 3,
                own: { [try await stage.idleWakeUps(.sharedcore)] },
                peers: [
                    .init(name: Self.flag, rounds: 1, isSlow: true) { [try await stage.idleWakeUps(.flag)] },
                    .init(name: Self.lease, rounds: 1, isSlow: true) { [try await stage.idleWakeUps(.lease)] },
                ],
                beside: [
                    .init(name: "whose tasks run on Swift's pool") {
                        [try await stage.idleWakeUps(.sharedcore, isOnPool: true)]
                    },
                    .init(name: "a program that has run a task on Swift's pool, without SharedCore") {
                        [try await stage.idleWakeUps(.none, isOnPool: true)]
                    },
                ])
        case _ where StoreFigures.names.contains(name):
            try await StoreFigures(programs: programs, stage: stage, isInMemory: memory != nil)
                .figure(name, rounds: rounds)
        case _ where GrowthFigures.names.contains(name):
            GrowthFigures(programs: programs, stage: stage).figure(name, rounds: rounds)
        case FloodFigure.name:
            FloodFigure(programs: programs, stage: stage).figure(rounds: rounds)
        case "executor.start":
            try await executorStart(rounds: rounds ?? 20)
        default:
            try await executorMemory(rounds: rounds ?? 10)
        }
    }

    /// SharedCore's own measurement: participants of one process where the backend lives in one.
    func own(
        _ inMemory: @escaping @Sendable (MemoryBenchStage) async throws -> Double,
        or withProcesses: @escaping @Sendable (BenchStage) async throws -> Double
    ) -> Figure.Measurement {
        { [memory, stage] in
            if let memory { return [try await inMemory(memory)] }
            return [try await withProcesses(stage)]
        }
    }
}
