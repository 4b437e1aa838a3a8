internal import BackendRegistry
internal import Coordination
internal import CoreAPI
internal import ProgramOutput

/// The figures by name, each with its rivals.
struct BenchFigures: Sendable {
    /// The figures that are measured when none is named.
    static let standardNames =
        StoreFigures.names + [
            "handover", "takeover.kill", "takeover.frozen", "burst.100", "executor.start", "executor.memory",
            "idle.wakeups",
        ]
    static let names = standardNames + GrowthFigures.names + [FloodFigure.name]
    /// The figures of a group behind a hub.
    private static let hubNames = [GrowthFigures.hubWakeUps, FloodFigure.name]

    /// The names of those figures that a backend can give.
    static func names(_ names: [String], for backend: String) -> [String] {
        switch backend {
        case "memory":
            names.filter { !$0.hasPrefix("executor.") && !$0.contains(".disk") && $0 != "idle.wakeups" }
                .filter { !GrowthFigures.names.contains($0) && !hubNames.contains($0) }
        case "zmq":
            // Its hub syncs to the disk or does not.
            names.filter { !$0.contains(".disk") }
        case "file": names.filter { !hubNames.contains($0) }
        default:
            // The servers decide on their syncs, and their groups are not directories that other processes use directly.
            names.filter { !$0.contains(".disk") && !GrowthFigures.names.contains($0) && !hubNames.contains($0) }
                .filter { backend == "etcd" || !$0.hasPrefix("executor.") }
        }
    }

    static let flag = "state flag, polled every 100 ms, believed for 30 s"
    static let lease = "lease of 500 ms, renewed every 50 ms"
    static let burstSize = 100
    /// The time that the core of a burst takes to connect: its one run.
    static let coreStart = Duration.milliseconds(100)

    let programs: BenchPrograms
    private(set) var stage: BenchStage
    private let isInMemory: Bool
    let executors: ExecutorBench?

    init(programs: BenchPrograms, group: BackendConfiguration) throws {
        self.programs = programs
        let directory = group.stateDirectory
        stage = BenchStage(programs: programs, group: group, directory: directory)
        isInMemory = group.backend == "memory"
        executors =
            isInMemory || stage.isOnServer && group.backend != "etcd"
            ? nil : try ExecutorBench(programs: programs, group: stage.isolated("executors"), directory: directory)
    }

    func close() async {
        await executors?.close()
    }

    /// - Parameter rounds: How many samples to take, in place of the figure's own number.
    func figure(_ name: String, rounds: Int?) async throws -> Figure {
        // In a group of its own: the next figure's participants read the history that hundreds of participants of this
        // one have left.
        var figures = self
        figures.stage = stage.alone(name)
        var figure = try await figures.comparedFigure(name, rounds: rounds)
        // Limits and peers are processes: nothing to compare the participants of one process with.
        if isInMemory { (figure.limit, figure.peers, figure.beside) = (nil, [], []) }
        return figure
    }

    private func comparedFigure(_ name: String, rounds: Int?) async throws -> Figure {
        switch name {
        case "handover":
            Figure(
                name: name, unit: "ms", rounds: rounds ?? 20,
                own: own("handover") { try await $0.handover() },
                limit: .init(name: "two round trips through pipes, in C") {
                    [try await programs.limit("roundtrips")[0] / 1e6]
                },
                peers: [
                    .init(name: Self.flag) { [try await stage.driver(.flag, "handover").handover()] },
                    .init(name: Self.lease + ", asked at a renewal") {
                        [try await stage.driver(.lease, "handover").handover()]
                    },
                ],
                beside: [
                    .init(name: "to a Main whose process has owned before") { [stage] in
                        [try await stage.driver(.sharedcore, "handover").handoverToVeteran()]
                    }
                ])
        case "takeover.kill":
            Figure(
                name: name, unit: "ms", rounds: rounds ?? 20,
                own: own("kill") { try await $0.takeoverAfterKill() },
                limit: .init(name: "SIGKILL to a readable pidfd, in C") { [try await programs.limit("kill")[0] / 1e6] },
                peers: [
                    .init(name: Self.flag, rounds: 2, isSlow: true) {
                        [try await stage.driver(.flag, "kill").takeoverAfterKill()]
                    },
                    .init(name: Self.lease) { [try await stage.driver(.lease, "kill").takeoverAfterKill()] },
                ])
        case "takeover.frozen":
            Figure(
                name: name, unit: "ms", rounds: rounds ?? 10,
                own: own("frozen") { try await $0.takeoverFromFrozen() },
                limit: nil,
                peers: [
                    .init(name: Self.flag, rounds: 2, isSlow: true) {
                        [try await stage.driver(.flag, "frozen").takeoverFromFrozen()]
                    },
                    .init(name: Self.lease) { [try await stage.driver(.lease, "frozen").takeoverFromFrozen()] },
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
            try await StoreFigures(programs: programs, stage: stage, isInMemory: isInMemory)
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
        _ name: String, _ scenario: @escaping @Sendable (any BenchDriver) async throws -> Double
    ) -> Figure.Measurement {
        { [isInMemory, stage] in
            guard isInMemory else { return [try await scenario(stage.driver(.sharedcore, name))] }
            return [try await MemoryBenchDriver.sample(in: stage.place(name), scenario)]
        }
    }
}

/// The figures of Executor programs.
extension BenchFigures {
    func burst(rounds: Int) -> Figure {
        let (size, coreStart) = (Self.burstSize, Self.coreStart)
        return Figure(
            name: "burst.100", unit: "ms", rounds: rounds,
            own: own("burst") { try await $0.burst(of: size, coreStart: coreStart) },
            limit: .init(name: "one core's run and 100 process starts in C") {
                [try await programs.limit("starts", String(size))[0] / 1e6 + Double(coreStart.clampedNanoseconds) / 1e6]
            },
            peers: [
                .init(name: Self.flag) {
                    [try await stage.driver(.flag, "burst").burst(of: size, coreStart: coreStart)]
                },
                .init(name: Self.lease, rounds: 1) {
                    [try await stage.driver(.lease, "burst").burst(of: size, coreStart: coreStart)]
                },
            ],
            beside: [
                .init(name: "one core's run and 100 starts of the participant's program, which does nothing") {
                    [try await stage.starts(of: size) + Double(coreStart.clampedNanoseconds) / 1e6]
                }
            ])
    }

    func executorStart(rounds: Int) async throws -> Figure {
        let executors = try needed()
        return Figure(
            name: "executor.start", unit: "ms", rounds: rounds, own: { [try await executors.start()] },
            limit: .init(name: "start to end of a static program in C") {
                let run = try await programs.measure(programs.least)
                return [run.start.milliseconds(to: run.end)]
            })
    }

    func executorMemory(rounds: Int) async throws -> Figure {
        let executors = try needed()
        return Figure(
            name: "executor.memory", unit: "MB", rounds: rounds, own: { [try await executors.memory()] },
            limit: .init(name: "a static program in C") {
                [try await programs.measure(programs.least).megabytes]
            })
    }

    private func needed() throws -> ExecutorBench {
        guard let executors else { throw BenchFailure(.usage, "the backend “memory” has no Executor processes") }
        return executors
    }
}
