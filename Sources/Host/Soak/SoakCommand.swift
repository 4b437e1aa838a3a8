internal import ArgumentParser
internal import BackendRegistry
internal import Coordination
internal import CoreAPI
internal import Platform
internal import ProgramOutput

/// `soak`: kills, freezes, pushes and switches Main on and off at random.
struct SoakCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "soak", abstract: "Kill, freeze and push at random, and prove that nothing is lost.",
        discussion: HelpPage.text(
            """
            In a temporary group and with a real Maildir: pushes whose Executors are killed and frozen at random \
            moments, Mains that come and go, owners that are hunted. Status 1 when a message was lost or shown twice, two \
            cores ran at once or a rule was broken. SIGINT or SIGTERM ends it after the round that runs, with its \
            summary; a second one at once. With --backend memory the participants live in one process.
            """, examples: ["sharedcore soak --minutes 10"]))

    @OptionGroup(visibility: GlobalOptions.visibility) var global: GlobalOptions

    @Option(
        help: ArgumentHelp(
            "The duration in minutes; 0.2 is twelve seconds. A running round is finished.",
            valueName: "number"))
    var minutes: Double

    @Option(
        help: """
            What random choices are made from: the same seed gives each push of each round the same fates at the same moments. What \
            those meet, and how many rounds there are, the machine decides.
            """)
    var seed: UInt64?

    func validate() throws {
        guard minutes > 0, minutes <= 60 * 24 * 365 else {
            throw ValidationError("--minutes is a number above 0, such as 0.2 or 10, not \(minutes).")
        }
    }

    func run() async throws {
        try await CommandFrame(global: global).run(until: []) { try await run(in: $0) }
    }

    func run(in context: CommandContext) async throws {
        let seed = seed ?? UInt64.random(in: 1...UInt64(Int64.max))
        let progress = global.json || !StandardStream.error.isTerminal ? nil : SoakProgress(minutes: minutes)
        let interruption = try Interruption<SoakSummary>(toleratedCount: 1)
        let soak = SoakRun(seed: seed, duration: .seconds(minutes * 60))
        let summary = try await interruption.run {
            try await soak.run(in: context, isOver: { interruption.isRaised }, progress: progress)
        }
        try await context.output.emit(lines: summary.lines, json: summary.json)
        if !summary.isClean { throw CommandFailure(.no) }
        try interruption.check()
    }
}

/// One soak, from its temporary group to its summary.
struct SoakRun: Sendable {
    let seed: UInt64
    let duration: Duration

    /// The time that a core takes to connect unless configured: shorter than most processes of the soak live.
    private static let startDelay = Duration.milliseconds(20)

    /// Runs the rounds in a temporary group, and returns their summary.
    ///
    /// - Parameter isOver: Called after each round; returns true to end.
    func run(
        in context: CommandContext, isOver: @escaping @Sendable () -> Bool, progress: SoakProgress?
    ) async throws -> SoakSummary {
        try await ScenarioGroup.run("soak", coreStarting: Self.startDelay, in: context) { group in
            // Also after an interruption, so that the message about it has a line of its own.
            defer { if progress != nil { ProgressBar.clear() } }
            let soak = Soak(driver: group.driver, server: group.server, seed: seed, killsItself: false)
            let starts = try await CoreStartCounter(following: group.driver.group)
            let clock = ContinuousClock()
            let end = clock.now.advanced(by: duration)
            try await soak.run(until: { _ in clock.now >= end || isOver() }, progress: { progress?.show($0) })
            let history = try await Timeline(group.driver.group).history()
            return SoakSummary(
                backend: group.backend, seed: seed, count: soak.count,
                coreStarts: try await starts.count(through: history.records.last?.revision ?? .zero),
                problems: soak.problems, report: TimelineChecker.check(history))
        }
    }
}
