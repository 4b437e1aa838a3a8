import CoreAPI
import Testing

@testable import Coordination

@Suite("Checker: good histories pass (C15)")
struct GoodHistoryTests {
    private let main = HistoryBuilder.Actor(1, .main)
    private let executor = HistoryBuilder.Actor(2, .executor)
    private let other = HistoryBuilder.Actor(3, .executor)

    @Test("an empty history breaks no rule")
    func empty() {
        let report = HistoryBuilder().report
        #expect(report.isClean)
        #expect(report.unprovedThrough == nil)
    }

    @Test("owners one after another")
    func sequence() {
        var history = HistoryBuilder()
        let first = history.own(executor)
        history.release(executor, first)
        let second = history.own(other, after: PreviousOwnership(epoch: first, end: .released))
        history.release(other, second)
        #expect(history.report.violations == [])
    }

    @Test("C3: a hand-over to Main, asked and released")
    func handover() {
        var history = HistoryBuilder()
        let epoch = history.own(executor)
        history.add(.asked, by: main, other: epoch, bound: .milliseconds(500))
        history.release(executor, epoch)
        _ = history.own(main, after: PreviousOwnership(epoch: epoch, end: .released))
        #expect(history.report.violations == [])
    }

    @Test("C26: a Main rests, is woken and resumes, also where another one has asked before and has ended meanwhile")
    func rest() {
        var history = HistoryBuilder()
        let epoch = history.own(main)
        let holder = HistoryBuilder.Actor(5, .tool)
        history.add(.asked, by: HistoryBuilder.Actor(4, .main), other: epoch, bound: .milliseconds(500))
        history.add(.rested, by: holder, epoch: epoch)
        history.add(.woken, by: holder, other: epoch, bound: .seconds(2))
        history.add(.resumed, by: main, epoch: epoch)
        history.release(main, epoch)
        #expect(history.report.violations == [])
    }

    @Test("C6: the next one owns after its owner was killed, told by itself or by a line of its own")
    func killedOwner() {
        var history = HistoryBuilder()
        let first = history.own(main)
        let second = history.own(executor, after: PreviousOwnership(epoch: first, end: .sessionEnded))
        _ = history.own(other, after: PreviousOwnership(epoch: second, end: .sessionEnded))
        #expect(history.report.violations == [])
    }

    @Test("C3: an Executor that did not let go is killed at the deadline")
    func killAtDeadline() {
        var history = HistoryBuilder()
        let epoch = history.own(executor)
        history.add(.asked, by: main, other: epoch, bound: .milliseconds(500))
        history.now += 500
        history.add(.killed, by: main, other: epoch)
        _ = history.own(main, after: PreviousOwnership(epoch: epoch, end: .sessionEnded))
        #expect(history.report.violations == [])
    }

    @Test("C3: one that cannot be killed is fenced at the deadline; that its core runs on is no overlap")
    func fenceAtDeadline() {
        var history = HistoryBuilder()
        let old = history.own(executor)
        history.add(.asked, by: main, other: old, bound: .milliseconds(500))
        history.now += 500
        let new = history.takeOver(main, from: old, because: .deadlinePassed)
        history.run(main, new)
        history.add(.supersededOverlap, by: main, epoch: new, other: old)
        history.add(.fenced, by: executor, epoch: old)
        history.add(.coreStopped, by: executor, epoch: old)
        let report = history.report
        #expect(report.violations == [])
        #expect(report.overlaps == 0)
        #expect(report.supersededOverlaps == 1)
    }

    @Test("C6: a challenge that is told with the take-over says how long it stood unanswered", arguments: [499, 500])
    func challengeToldAfterwards(waited: Int) {
        var history = HistoryBuilder()
        let old = history.own(main)
        history.add(.challenged, by: executor, other: old, bound: .milliseconds(waited - 1))
        let new = history.takeOver(executor, from: old, because: .unanswered)
        history.run(executor, new)
        #expect(history.broken == (waited < 500 ? [.c6] : []))
    }

    @Test("C6: a frozen owner is taken over after an unanswered challenge")
    func frozen() {
        var history = HistoryBuilder()
        let old = history.own(main)
        history.add(.challenged, by: executor, other: old)
        history.add(.challenged, by: other, other: old)
        history.now += 500
        let new = history.takeOver(executor, from: old, because: .unanswered)
        history.run(executor, new)
        #expect(history.report.violations == [])
    }

    @Test("C14: a second Main replaces the first, which it asked")
    func secondMain() {
        let second = HistoryBuilder.Actor(4, .main)
        var history = HistoryBuilder()
        let old = history.own(main)
        history.add(.refused, by: second, other: old)
        history.add(.asked, by: second, other: old, bound: .milliseconds(500))
        history.now += 500
        history.run(second, history.takeOver(second, from: old, because: .replaced))
        #expect(history.report.violations == [])
    }

    @Test("C2: an Executor is refused while a Main owns")
    func refused() {
        var history = HistoryBuilder()
        let epoch = history.own(main)
        history.add(.refused, by: executor, other: epoch)
        #expect(history.report.violations == [])
    }

    @Test("C3, C14: a Main may be refused by another one that has asked, while an Executor still owns")
    func refusedByAnotherRequest() {
        let second = HistoryBuilder.Actor(4, .main)
        var history = HistoryBuilder()
        let old = history.own(executor)
        history.add(.asked, by: main, other: old, bound: .milliseconds(500))
        history.add(.refused, by: second)
        #expect(history.report.violations == [])
    }

    @Test("C15: a core that was given up while stopping may run on beside the next")
    func givenUp() {
        var history = HistoryBuilder()
        let old = history.own(executor)
        history.add(.stateChanged, by: executor, epoch: old, from: .running, to: .stopping)
        history.add(.coreGivenUp, by: executor, epoch: old)
        history.add(.released, by: executor, epoch: old, from: .stopping)
        let new = history.own(other, after: PreviousOwnership(epoch: old, end: .released))
        history.add(.overlap, by: other, epoch: new, other: old)
        let report = history.report
        #expect(report.violations == [])
        #expect((report.overlaps, report.supersededOverlaps) == (0, 1), "the timeline decides, not the line's own word")
    }

    @Test(
        "C15: a core whose session's lease was over may run on; one whose session ended without a lease may not",
        arguments: [true, false])
    func leaseOver(hasLease: Bool) throws {
        var history = HistoryBuilder()
        let old = history.add(
            .acquired, by: main, to: .starting, bound: hasLease ? .seconds(3) : nil)
        history.run(main, old)
        let cut = history.records.count
        let new = history.own(other, after: PreviousOwnership(epoch: old, end: .sessionEnded))
        history.add(.overlap, by: other, epoch: new, other: old)
        func expect(_ history: TimelineHistory, _ place: String) {
            let report = TimelineChecker.check(history)
            #expect(report.violations == [], "\(place)")
            #expect((report.overlaps, report.supersededOverlaps) == (hasLease ? (0, 1) : (1, 0)), "\(place)")
            #expect(history.supersededEpochs == (hasLease ? [old] : []), "\(place)")
        }
        expect(TimelineHistory(records: history.records), "whole")
        var ledger = OwnershipLedger()
        for record in history.records[..<cut] { _ = ledger.apply(record) }
        let written = TimelineCheckpoint(through: history.records[cut - 1].revision, droppedCount: cut, ledger: ledger)
        expect(
            TimelineHistory(
                records: Array(history.records[cut...]), checkpoint: try TimelineCheckpoint(decoding: written.encoded())
            ),
            "behind a checkpoint")
    }

    @Test("C15: an overlap with an epoch that the timeline does not know is one regardless of its line")
    func unknownOverlap() {
        var history = HistoryBuilder()
        let epoch = history.own(main)
        history.add(.supersededOverlap, by: main, epoch: epoch, other: Revision(rawValue: 7))
        #expect((history.report.overlaps, history.report.supersededOverlaps) == (1, 0))
    }

    @Test("C15: a frozen core that each new owner sees is superseded still, however many there were since")
    func longSuperseded() {
        var history = HistoryBuilder()
        let frozen = history.own(main)
        var last = frozen
        for number in UInt64(10)..<100 {
            let actor = HistoryBuilder.Actor(number, .main)
            history.add(.asked, by: actor, other: last, bound: .zero)
            last = history.takeOver(actor, from: last, because: .replaced)
            history.add(.supersededOverlap, by: actor, epoch: last, other: frozen)
        }
        // The overlap of two that have both a right to run.
        let new = history.add(
            .acquired, by: other, to: .starting, previous: PreviousOwnership(epoch: last, end: .sessionEnded))
        history.add(.supersededOverlap, by: other, epoch: new, other: frozen)
        #expect((history.report.overlaps, history.report.supersededOverlaps) == (0, 91))
    }

    @Test("a restart of the machine ends all, and times before it are not measured against those after it")
    func restart() {
        var history = HistoryBuilder()
        let epoch = history.own(executor)
        history.add(.asked, by: main, other: epoch, bound: .milliseconds(500))
        history.bootID = BootID(high: 9, low: 9)
        history.now = 5
        _ = history.own(HistoryBuilder.Actor(8, .main), after: PreviousOwnership(epoch: epoch, end: .sessionEnded))
        #expect(history.report.violations == [])
    }
}
