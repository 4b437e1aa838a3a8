internal import CoreAPI
internal import ProgramOutput

/// The figures of Executor programs.
extension BenchFigures {
    func burst(rounds: Int) -> Figure {
        let (size, coreStart) = (Self.burstSize, Self.coreStart)
        return Figure(
            name: "burst.100", unit: "ms", rounds: rounds,
            own: own {
                try await $0.burst(of: size, coreStart: coreStart)
            } or: {
                try await $0.burst(.sharedcore, of: size, coreStart: coreStart)
            },
            limit: .init(name: "one core's run and 100 process starts in C") {
                [try await programs.limit("starts", String(size))[0] / 1e6 + Double(coreStart.clampedNanoseconds) / 1e6]
            },
            peers: [
                .init(name: Self.flag) { [try await stage.burst(.flag, of: size, coreStart: coreStart)] },
                .init(name: Self.lease, rounds: 1) { [try await stage.burst(.lease, of: size, coreStart: coreStart)] },
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
