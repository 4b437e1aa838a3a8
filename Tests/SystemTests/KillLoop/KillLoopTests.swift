internal import Coordination
internal import CoreAPI
internal import CoreAPITesting
internal import FileNotifyBackend
internal import TestSupport
internal import Testing

/// Nothing is lost, and never two cores run, however many processes die.
@Suite(.serialized)
struct KillLoopTests {
    @Test(
        "C1, C5, C6, C8, C10, C15, S9: 200 processes killed, nothing lost, one core at a time", .timeLimit(.minutes(10))
    )
    func killLoop() async throws {
        let seed = try #require(Seed.several(2).last)
        let post = try Post(startMilliseconds: 20)
        let group = try await post.open()
        let loop = KillLoop(post: post, group: group, seed: seed)
        try await loop.run()
        print("kill loop, \(seed): \(loop.count)")
        #expect(loop.problems.isEmpty, "\(seed)")

        // One more core finds what killed ones had committed and not acknowledged: stored before, so only put away.
        try post.deliver("the-last-one")
        let last = try post.push("the-last-one")
        #expect(await last.end() == .exited(0))
        #expect(post.report(of: last)?.text == post.text(of: "the-last-one"))
        #expect(try post.count(in: "new") == 0, "\(seed)")
        #expect(try post.count(in: "cur") == loop.count.messages + 1, "\(seed)")

        #expect(try post.misunderstandings() == [])
        let report = TimelineChecker.check(try await Timeline(group).history())
        #expect(report.violations.isEmpty, "\(seed): \(report.violations)")
        #expect(report.overlaps == 0, "\(seed)")
        #expect(loop.count.isEnough)
    }
}
