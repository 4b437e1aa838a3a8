import CoreAPI
import Testing

@testable import Coordination

@Suite("Checker: each kind of damage is named (C15)")
struct DamagedHistoryTests {
    private let main = HistoryBuilder.Actor(1, .main)
    private let executor = HistoryBuilder.Actor(2, .executor)
    private let other = HistoryBuilder.Actor(3, .executor)

    @Test("C1: two owners")
    func twoOwners() throws {
        var history = HistoryBuilder()
        let first = history.own(executor)
        let second = history.add(.acquired, by: other, to: .starting)
        #expect(history.broken == [.c1])
        let violation = try #require(history.report.violations.first)
        #expect(violation.revision == second)
        #expect(violation.sentence.contains("epoch \(first)"))
    }

    @Test("C1: two cores, also when the first owner released")
    func twoCores() {
        var history = HistoryBuilder()
        let first = history.own(executor)
        history.add(.released, by: executor, epoch: first, from: .running)
        #expect(history.broken == [.c3], "released while its core ran")
        _ = history.own(other, after: PreviousOwnership(epoch: first, end: .released))
        #expect(history.broken == [.c3, .c1])
    }

    @Test("C1: an epoch that does not rise")
    func epochNotRising() {
        var history = HistoryBuilder()
        let first = history.own(executor)
        history.release(executor, first)
        history.add(.acquired, by: other, epoch: first, to: .starting)
        #expect(history.broken == [.c1, .c1], "it is no revision of its own either")
    }

    @Test(
        "C1: states out of their order",
        arguments: [
            (OwnerState.starting, OwnerState.starting), (.running, .starting), (.running, .running),
            (.stopping, .running), (.stopping, .starting),
        ])
    func stateOrder(from: OwnerState, to: OwnerState) {
        var history = HistoryBuilder()
        let epoch = history.add(.acquired, by: executor, to: from)
        history.add(.stateChanged, by: executor, epoch: epoch, from: from, to: to)
        #expect(history.broken == [.c1])
    }

    @Test("C1: a state change that names a former state other than the present one")
    func stateFromNowhere() {
        var history = HistoryBuilder()
        let epoch = history.add(.acquired, by: executor, to: .starting)
        history.add(.stateChanged, by: executor, epoch: epoch, from: .running, to: .stopping)
        #expect(history.broken == [.c1])
    }

    @Test("C2: an Executor acquires while a Main owns")
    func executorBesideMain() {
        var history = HistoryBuilder()
        _ = history.own(main)
        history.add(.acquired, by: executor, to: .starting)
        #expect(history.broken == [.c2])
    }

    @Test("C3: a Main refused because of an Executor")
    func mainRefused() {
        var history = HistoryBuilder()
        let epoch = history.own(executor)
        history.add(.refused, by: main, other: epoch)
        #expect(history.broken == [.c3])
    }

    @Test("C3: an Executor killed before the deadline, and without having been asked")
    func killedEarly() {
        var history = HistoryBuilder()
        let epoch = history.own(executor)
        var unasked = history
        unasked.add(.killed, by: main, other: epoch)
        #expect(unasked.broken == [.c3])
        history.add(.asked, by: main, other: epoch, bound: .milliseconds(500))
        history.now += 400
        history.add(.killed, by: main, other: epoch)
        #expect(history.broken == [.c3])
    }

    @Test("C3: taken over before the deadline")
    func takenEarly() {
        var history = HistoryBuilder()
        let epoch = history.own(executor)
        history.add(.asked, by: main, other: epoch, bound: .milliseconds(500))
        history.now += 100
        _ = history.takeOver(main, from: epoch, because: .deadlinePassed)
        #expect(history.broken == [.c3])
    }

    @Test("C3: a process killed that did not own")
    func killedBystander() {
        var history = HistoryBuilder()
        let epoch = history.own(executor)
        history.release(executor, epoch)
        history.add(.killed, by: main, other: epoch)
        #expect(history.broken == [.c3])
    }

    @Test("C4: a superseded owner changes its state or starts a core")
    func supersededWrites() {
        var history = HistoryBuilder()
        let old = history.own(main)
        history.add(.challenged, by: executor, other: old)
        history.now += 600
        history.run(executor, history.takeOver(executor, from: old, because: .unanswered))
        #expect(history.broken == [])
        var changing = history
        changing.add(.stateChanged, by: main, epoch: old, from: .running, to: .stopping)
        #expect(changing.broken == [.c4])
        var starting = history
        starting.add(.coreStarted, by: main, epoch: old)
        #expect(starting.broken.contains(.c4))
    }

    @Test("C5: released by another, by one that does not own, and twice")
    func releasedByAnother() {
        var history = HistoryBuilder()
        let epoch = history.own(executor)
        history.add(.coreStopped, by: executor, epoch: epoch)
        var byAnother = history
        byAnother.add(.released, by: other, epoch: epoch)
        #expect(byAnother.broken == [.c5])
        history.add(.released, by: executor, epoch: epoch)
        #expect(history.broken == [])
        history.add(.released, by: executor, epoch: epoch)
        #expect(history.broken == [.c5])
    }

    @Test("C5: a stale release while another owns changes nothing, and is named")
    func staleRelease() {
        var history = HistoryBuilder()
        let old = history.own(executor)
        history.release(executor, old)
        let new = history.own(main, after: PreviousOwnership(epoch: old, end: .released))
        history.add(.released, by: executor, epoch: old)
        #expect(history.broken == [.c5])
        history.release(main, new)
        #expect(history.broken == [.c5], "the Main owned all the time")
    }

    @Test("C5: an ownership that ended without a cause")
    func endWithoutCause() {
        var history = HistoryBuilder()
        let old = history.own(executor)
        _ = history.add(
            .acquired, by: other, to: .starting, previous: PreviousOwnership(epoch: old, end: .released))
        #expect(history.broken == [.c5])
    }

    @Test("C5: a session acts after an entry has declared it ended")
    func deadSpeaks() {
        var history = HistoryBuilder()
        let old = history.own(executor)
        _ = history.own(other, after: PreviousOwnership(epoch: old, end: .sessionEnded))
        history.add(.problem, by: executor)
        #expect(history.broken == [.c5])
    }

    @Test("C5: a take-over from one that does not own, and by one with no deadline due")
    func wrongTakeOver() {
        var history = HistoryBuilder()
        let old = history.own(executor)
        var absent = history
        absent.release(executor, old)
        _ = absent.takeOver(main, from: old, because: .deadlinePassed)
        #expect(absent.broken == [.c5])
        history.add(.asked, by: other, other: old, bound: .zero)
        var deadline = history
        _ = deadline.takeOver(other, from: old, because: .deadlinePassed)
        #expect(deadline.broken == [.c5])
        _ = history.takeOver(other, from: old, because: .released)
        #expect(history.broken == [.c5])
    }

    @Test("C6: taken over as frozen without a challenge, or too early")
    func notFrozen() {
        var history = HistoryBuilder()
        let old = history.own(main)
        var unchallenged = history
        _ = unchallenged.takeOver(executor, from: old, because: .unanswered)
        #expect(unchallenged.broken == [.c6])
        history.add(.challenged, by: executor, other: old)
        history.now += 300
        _ = history.takeOver(executor, from: old, because: .unanswered)
        #expect(history.broken == [.c6])
    }

    @Test("C6: a Main killed")
    func mainKilled() {
        var history = HistoryBuilder()
        let epoch = history.own(main)
        let second = HistoryBuilder.Actor(4, .main)
        history.add(.asked, by: second, other: epoch, bound: .zero)
        history.add(.killed, by: second, other: epoch)
        #expect(history.broken == [.c6])
    }

    @Test("C14: a Main replaced without having been asked")
    func replacedUnasked() {
        var history = HistoryBuilder()
        let epoch = history.own(main)
        _ = history.takeOver(HistoryBuilder.Actor(4, .main), from: epoch, because: .replaced)
        #expect(history.broken == [.c14])
    }

    @Test("C26: a rest of an Executor, and of a Main that does not own", arguments: [true, false])
    func wrongRest(isExecutor: Bool) {
        var history = HistoryBuilder()
        let epoch = history.own(isExecutor ? executor : main)
        if !isExecutor { history.release(main, epoch) }
        history.add(.rested, by: HistoryBuilder.Actor(5, .tool), epoch: epoch)
        #expect(history.broken == [.c26])
    }

    @Test("C26: a Main at rest given up without a wake, or before its time is over", arguments: [true, false])
    func givenUpAtRest(isWoken: Bool) {
        var history = HistoryBuilder()
        let holder = HistoryBuilder.Actor(5, .tool)
        let epoch = history.own(main)
        history.add(.rested, by: holder, epoch: epoch)
        if isWoken { history.add(.woken, by: holder, other: epoch, bound: .seconds(2)) }
        history.add(.coreGivenUp, by: holder, epoch: epoch)
        history.add(.released, by: holder, epoch: epoch, from: .running)
        #expect(history.broken == [.c26])
    }

    @Test("C26: a resume by another session than the one that rests")
    func resumeByAnother() {
        var history = HistoryBuilder()
        let epoch = history.own(main)
        history.add(.rested, by: HistoryBuilder.Actor(5, .tool), epoch: epoch)
        history.add(.resumed, by: HistoryBuilder.Actor(4, .main), epoch: epoch)
        #expect(history.broken == [.c26])
    }

    @Test("C15: an overlap with a core that had a right to run is counted")
    func overlap() {
        var history = HistoryBuilder()
        let old = history.own(executor)
        let new = history.own(other, after: PreviousOwnership(epoch: old, end: .sessionEnded))
        history.add(.overlap, by: other, epoch: new, other: old)
        #expect((history.report.overlaps, history.report.supersededOverlaps) == (1, 0))
        #expect(!history.report.isClean)
    }
}
