internal import Coordination
internal import CoreAPI
internal import Platform
internal import ProgramOutput

/// The demo's scenario: a burst of pushes, a hand-over to Main, a push that Main answers, and Main's sudden death.
struct DemoScenario: Sendable {
    private let driver: any ParticipantDriver
    private let server: DemoServer
    private let reporter: DemoReporter
    /// The backend's name, for the summary.
    private let backend: String
    private let recorder = TimelineRecorder()
    private let tally = DemoTally()

    init(in group: ScenarioGroup, reporter: DemoReporter) {
        driver = group.driver
        server = group.server
        backend = group.backend
        self.reporter = reporter
    }

    /// Runs it, and counts the results.
    func run() async throws -> DemoSummary {
        let follower = try await Timeline(driver.group).follow()
        let following = Task {
            try await recorder.follow(follower) { [reporter] record in try await reporter.tell(record) }
        }
        defer { following.cancel() }
        try await burst()
        let times = try await mainComesAndGoes()
        try await afterwards()
        let history = try await Timeline(driver.group).history()
        // Print the rest of the timeline before the summary.
        following.cancel()
        _ = await following.result
        let told = recorder.revision
        for record in history.records where record.revision > told { try await reporter.tell(record) }
        return DemoSummary(
            backend: backend, pushes: tally.pushes,
            coreStarts: history.records.count { $0.entry.kind == .coreStarted },
            delivered: tally.delivered, duplicates: tally.duplicates, report: TimelineChecker.check(history),
            handover: times.handover, takeover: times.takeover)
    }

    // MARK: - The acts

    /// Sends ten pushes at once. Their messages are delivered later, in another order.
    private func burst() async throws {
        try await reporter.act("Ten pushes at once; their messages are still on the way, out of order")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 1...10 {
                group.addTask { try await push(number) }
            }
            group.addTask {
                for number in [7, 3, 10, 1, 5, 9, 2, 8, 4, 6] {
                    try await deliver(number)
                    try await Task.sleep(for: .milliseconds(90))
                }
            }
            // Take the results one by one, so that an error of one task ends the wait. With `waitForAll` the other
            // tasks would be awaited first.
            for try await _ in group {}
        }
    }

    /// Starts Main while an Executor runs, lets it answer a push, and kills it while an Executor waits.
    private func mainComesAndGoes() async throws -> (handover: Duration, takeover: Duration) {
        try await reporter.act("Main starts while an Executor runs the core")
        let before = recorder.revision
        let early = Task { try await push(11) }
        defer { early.cancel() }
        _ = try await recorder.first(after: before, "an Executor runs its core") { record in
            record.entry.role == .executor && record.entry.to == .running
        }
        try await reporter.tell("Main starts")
        let result = try await driver.withMain(as: "main") { main in
            guard try await main.nextLine() != nil else {
                throw CommandFailure(.unavailable, "Main ended before it owned")
            }
            let handover = try await handover(after: before)
            try await deliver(11)
            try await early.value

            try await reporter.act("A push that Main answers")
            try await deliver(12)
            try await push(12)

            try await reporter.act("Main is killed while a push waits")
            return (handover, try await killed(main))
        }
        if let problem = result.problem { try await reporter.tell("✗ Main ended badly: \(problem.sentence)") }
        return result.value
    }

    private func handover(after revision: Revision) async throws -> Duration {
        let asked = try await recorder.first(after: revision, "Main asks for the core") { $0.entry.kind == .asked }
        let acquired = try await recorder.first(after: asked.revision, "Main owns") { record in
            record.entry.role == .main && record.entry.kind.isAcquisition
        }
        return asked.entry.at.duration(to: acquired.entry.at)
    }

    private func killed(_ main: any TestProcess) async throws -> Duration {
        let waiting = Task { try await push(13) }
        defer { waiting.cancel() }
        try await arrival(of: name(13))
        let before = recorder.revision
        try await reporter.tell("SIGKILL to Main")
        let killed = SystemClock().now()
        main.kill()
        let acquired = try await recorder.first(after: before, "an Executor owns after Main's death") { record in
            record.entry.role == .executor && record.entry.kind.isAcquisition
        }
        try await deliver(13)
        try await waiting.value
        return killed.duration(to: acquired.entry.at)
    }

    /// Sends one more push after the faults, which must work as usual.
    private func afterwards() async throws {
        try await reporter.act("The next push")
        try await deliver(14)
        try await push(14)
        let counts = try await server.counts()
        try await reporter.tell(
            "The server has \(counts.acknowledged) messages acknowledged and \(counts.waiting) waiting")
    }

    // MARK: - Steps

    private func mail(_ number: Int) throws -> DemoMail {
        guard let mail = DemoMail(number) else {
            throw CommandFailure(.unavailable, "the demo's own call-id is empty")
        }
        return mail
    }

    private func name(_ number: Int) -> String { "push \(number)" }

    private func deliver(_ number: Int) async throws {
        try await reporter.tell("message \(number) arrives at the server")
        try await server.deliver(try mail(number))
    }

    private func push(_ number: Int) async throws {
        let mail = try mail(number)
        tally.add(mail)
        let name = name(number)
        let result = try await driver.push(
            mail.callID, as: name,
            show: { line in
                tally.add(line)
                try await reporter.tell(line, of: name)
            })
        if let complaint = result.complaint { try await reporter.tell("✗ \(name) \(complaint)") }
        switch result.end {
        case .exited(ExitStatus.success.rawValue), .exited(ExitStatus.no.rawValue): break
        default: try await reporter.tell("✗ \(name) ended badly: \(result.end.sentence)")
        }
    }

    /// Waits until a participant has joined the group.
    private func arrival(of name: String) async throws {
        _ = try await awaited("\(name) begins") { try await driver.group.sessions().first { $0.name == name } }
    }
}
