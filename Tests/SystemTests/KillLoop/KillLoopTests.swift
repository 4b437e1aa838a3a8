internal import Coordination
internal import CoreAPI
internal import CoreAPITesting
internal import FileNotifyBackend
internal import Platform
internal import SharedCoreConfiguration
internal import TestSupport
internal import Testing

@testable internal import SharedCoreHost

/// Nothing is lost, and two cores never run at once, however many processes die.
@Suite(.serialized)
struct KillLoopTests {
    @Test(
        "C1, C5, C6, C8, C10, C15, S9: however many processes are killed, nothing is lost, and one core runs at a time",
        .timeLimit(.minutes(10)))
    func killLoop() async throws {
        let seed = try #require(Seed.several(2).last)
        let post = try Post(startMilliseconds: 20)
        let group = try await post.open()
        var flags = ScenarioGroup.settings(
            maildir: post.maildir, startDelay: .milliseconds(post.startMilliseconds))
        flags[Settings.group.name] = "main"
        flags[Settings.stateDirectory.name] = post.directory.path(of: "groups")
        flags[Settings.executorBudget.name] = "120s"
        let programs = try ScenarioPrograms(
            Resolution(flags: flags, environment: [:], file: nil, workingDirectory: "/"),
            program: ChildProcess.built("sharedcore"))
        let soak = Soak(
            driver: ProcessDriver(group: group, programs: programs), server: try DemoServer(path: post.maildir),
            seed: seed.rawValue, killsItself: true)

        try await soak.run(until: Self.isEnough)

        print("kill loop, \(seed): \(soak.count)")
        #expect(soak.problems.isEmpty, "\(seed)")
        #expect(Self.isEnough(soak.count))
        #expect(soak.count.lost == 0 && soak.count.duplicates == 0, "\(seed)")
        let report = TimelineChecker.check(try await Timeline(group).history())
        #expect(report.violations.isEmpty, "\(seed): \(report.violations)")
        #expect(report.overlaps == 0, "\(seed)")
    }

    /// At least 200 deaths, 30 of each kind that matters; in `make test` a quarter of them.
    private static func isEnough(_ count: SoakCount) -> Bool {
        let (kills, ofEach) = TestScope.isCheck ? (200, 30) : (50, 7)
        return count.kills >= kills && count.owners >= ofEach && count.writers >= ofEach && count.cores >= ofEach
    }
}
