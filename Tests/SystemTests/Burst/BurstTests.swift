internal import Coordination
internal import CoreAPI
internal import CoreAPITesting
internal import FileNotifyBackend
internal import Glibc
internal import Platform
internal import TestSupport
internal import Testing

/// Scenario 24: a hundred pushes at once, with a hundred real Executor processes.
@Suite(.serialized)
struct BurstTests {
    private static let size = 100
    private static let smallSize = 40
    /// A push is in time if it is served long before its own deadline of two minutes. With a frozen owner and no
    /// successor, all of them would wait until that deadline.
    private static let inTime = Duration.seconds(60)
    /// The number of running owners that may be taken for frozen: a machine may be that busy.
    private static let mostExcused = 3
    /// The owner's start and its successor's, and some for a machine so busy that a successor was taken for frozen as well.
    private static let startLimit = 2 + mostExcused

    @Test(
        "C9, scenario 24: one core start for all processes of a burst, and a message for each, acknowledged once",
        .timeLimit(.minutes(10)))
    func burst() async throws {
        let burst = try await Burst(of: TestScope.isCheck ? Self.size : Self.smallSize)
        try await burst.push()
        try await burst.allWait()
        try burst.deliverAll()
        try await burst.expectAllServed()
        let starts = burst.coreStarts
        #expect(starts >= 1)
        try await burst.expectFew(starts, needed: 1, mostExcused: Self.mostExcused)
        try await burst.expectClean()
    }

    @Test(
        "C9, scenario 24: pushes that come while the core delivers and stops lose no message", .timeLimit(.minutes(10)))
    func burstThatGoesOn() async throws {
        let burst = try await Burst(of: Self.smallSize)
        try await burst.push()
        _ = try await burst.owner { $0.role == .executor }
        try burst.deliverAll()
        try await burst.expectAllServed()
        try await burst.expectClean()
    }

    @Test(
        "C6, C8, C9, C10, scenario 24: the owner of a burst is killed, at most one more start", .timeLimit(.minutes(10))
    )
    func burstWithKilledOwner() async throws {
        let burst = try await Burst(of: TestScope.isCheck ? Self.size : Self.smallSize)
        try await burst.push()
        try await burst.allWait()
        let owner = try await burst.owner { $0.role == .executor && $0.state == .running }
        try burst.deliverAll()
        try await burst.kill(owner)
        try await burst.pushAgain()
        try await burst.expectAllServed()
        // The killed owner does not print its start any more, so it is read from the timeline.
        try await burst.expectFew(
            burst.coreStartsOnTimeline(), needed: 2, mostExcused: Self.mostExcused)
        try await burst.expectClean()
    }

    @Test(
        "C6, C9, scenario 24: the owner of a burst is frozen, every push in time",
        .timeLimit(.minutes(10)))
    func burstWithFrozenOwner() async throws {
        let burst = try await Burst(of: TestScope.isCheck ? Self.size : Self.smallSize)
        try await burst.push()
        let owner = try await burst.owner { $0.role == .executor && $0.state == .running }
        let frozen = try #require(burst.process(of: owner))
        frozen.signal(.stop)
        try burst.deliverAll()
        try await burst.expectAllServed(but: frozen, timeout: Self.inTime)
        #expect(try await (2...Self.startLimit).contains(burst.coreStartsOnTimeline()))
        frozen.signal(.continue)
        try await burst.expectAllServed()
        try await burst.expectClean()
    }

    @Test(
        "C6, C8, scenario 24: Main is frozen while it owns, every push in time",
        .timeLimit(.minutes(10)))
    func burstWithFrozenMain() async throws {
        let burst = try await Burst(of: TestScope.isCheck ? Self.size : Self.smallSize)
        let main = try burst.post.startMain()
        let owner = try await burst.owner { $0.role == .main && $0.state == .running }
        #expect(owner.process.pid == main.pid)
        main.signal(.stop)
        try await burst.push()
        try burst.deliverAll()
        try await burst.expectAllServed(timeout: Self.inTime)
        #expect(try await (2...Self.startLimit).contains(burst.coreStartsOnTimeline()))
        // The Main was fenced and not killed: it is still there.
        #expect(main.ended == nil)
        main.signal(.continue)
        main.signal(.terminate)
        #expect(await main.end() == .exited(0))
        try await burst.expectClean()
    }
}
