internal import Coordination
internal import CoreAPI

/// One soak, from its temporary group to its summary.
struct SoakRun: Sendable {
    let seed: UInt64
    let duration: Duration

    /// How long a core takes to connect unless configured: shorter than most lives.
    private static let startDelay = Duration.milliseconds(20)

    /// - Parameter isOver: Asked after each round whether no more are to be run.
    func run(
        in context: CommandContext, isOver: @escaping @Sendable () -> Bool, progress: SoakProgress?
    ) async throws -> SoakSummary {
        try await ScenarioGroup.run("soak", coreStarting: Self.startDelay, in: context) { group in
            let soak = Soak(driver: group.driver, server: group.server, seed: seed, killsItself: false)
            let starts = try await CoreStartCounter(following: group.driver.group)
            let clock = ContinuousClock()
            let end = clock.now.advanced(by: duration)
            try await soak.run(until: { _ in clock.now >= end || isOver() }, progress: { progress?.show($0) })
            progress?.clear()
            let history = try await Timeline(group.driver.group).history()
            return SoakSummary(
                backend: group.backend, seed: seed, count: soak.count,
                coreStarts: try await starts.count(through: history.records.last?.revision ?? .zero),
                problems: soak.problems, report: TimelineChecker.check(history))
        }
    }
}
