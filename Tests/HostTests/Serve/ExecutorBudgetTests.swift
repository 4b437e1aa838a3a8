internal import CoreAPI
internal import Lifecycle
internal import Testing

/// Contract P11, exactly and without a clock.
@Suite("The limits of an Executor (contract P11)")
struct ExecutorBudgetTests {
    private let start = BootInstant(nanoseconds: 1_000_000_000_000)

    private func instant(_ duration: Duration) -> BootInstant { start.advanced(by: duration) }

    private func budget(_ limits: ExecutorLimits = ExecutorLimits()) -> ExecutorBudget {
        ExecutorBudget(limits, startedAt: start)
    }

    @Test("An Executor is warned at 25 s and killed at 30 s, each once and not a nanosecond earlier")
    func time() {
        var budget = budget()
        #expect(budget.next == instant(.seconds(25)))
        #expect(budget.handle(.time, at: instant(.zero)).isEmpty)
        #expect(budget.handle(.time, at: instant(.seconds(25) - .nanoseconds(1))).isEmpty)
        #expect(budget.handle(.time, at: instant(.seconds(25))) == [.warn(.time)])
        #expect(budget.next == instant(.seconds(30)))
        #expect(budget.handle(.time, at: instant(.seconds(25))).isEmpty)
        #expect(budget.handle(.time, at: instant(.seconds(30) - .nanoseconds(1))).isEmpty)
        #expect(budget.handle(.time, at: instant(.seconds(30))) == [.kill(.time)])
        #expect(budget.next == nil)
        #expect(budget.handle(.time, at: instant(.seconds(31))).isEmpty)
        #expect(budget.handle(.memory(.max), at: instant(.seconds(31))).isEmpty)
        #expect(budget.handle(.stop, at: instant(.seconds(31))).isEmpty)
    }

    @Test("A check that comes too late, as after a suspension, warns first and then kills")
    func late() {
        var budget = budget()
        #expect(budget.handle(.time, at: instant(.seconds(300))) == [.warn(.time), .kill(.time)])
    }

    @Test("An Executor may use exactly its memory limit; one byte more, and it is killed at once, with the reason")
    func memory() {
        var budget = budget()
        #expect(budget.handle(.memory(24 << 20), at: instant(.seconds(1))).isEmpty)
        #expect(budget.handle(.memory((24 << 20) + 1), at: instant(.seconds(2))) == [.kill(.memory((24 << 20) + 1))])
        #expect(budget.killing == .memory((24 << 20) + 1) && budget.warning == nil)
    }

    @Test("Without a limit, memory is not watched")
    func unlimited() {
        var budget = budget(ExecutorLimits(memory: nil))
        #expect(budget.handle(.memory(.max), at: instant(.seconds(1))).isEmpty)
    }

    @Test("When the host stops, an Executor is warned at once and has as much time as after any warning")
    func stop() {
        var budget = budget()
        #expect(budget.handle(.stop, at: instant(.seconds(2))) == [.warn(.stop)])
        #expect(budget.next == instant(.seconds(7)))
        #expect(budget.handle(.stop, at: instant(.seconds(3))).isEmpty)
        #expect(budget.next == instant(.seconds(7)))
        #expect(budget.handle(.time, at: instant(.seconds(7))) == [.kill(.stop)])
    }

    @Test("A stop never lengthens its time, and does not tell it twice")
    func stopAfterWarning() {
        var budget = budget()
        #expect(budget.handle(.time, at: instant(.seconds(25))) == [.warn(.time)])
        #expect(budget.handle(.stop, at: instant(.seconds(28))).isEmpty)
        #expect(budget.next == instant(.seconds(30)))
        #expect(budget.handle(.time, at: instant(.seconds(30))) == [.kill(.time)])
    }

    @Test("An Executor is not warned while its core is busy; its memory stays limited (contract C17)")
    func busy() {
        var budget = budget()
        #expect(budget.handle(.busy(until: instant(.seconds(600))), at: instant(.seconds(3))).isEmpty)
        #expect(budget.next == instant(.seconds(600)))
        #expect(budget.handle(.time, at: instant(.seconds(599))).isEmpty)
        #expect(budget.handle(.time, at: instant(.seconds(600))) == [.warn(.time)])
        #expect(budget.next == instant(.seconds(605)))
        // An Executor that has had its warning is granted no further time.
        #expect(budget.handle(.busy(until: instant(.seconds(9000))), at: instant(.seconds(601))).isEmpty)
        #expect(budget.handle(.time, at: instant(.seconds(605))) == [.kill(.time)])

        var early = self.budget()
        _ = early.handle(.busy(until: instant(.seconds(600))), at: instant(.seconds(3)))
        #expect(early.handle(.busy(until: nil), at: instant(.seconds(10))).isEmpty)
        #expect(early.next == instant(.seconds(25)))

        var late = self.budget()
        _ = late.handle(.busy(until: instant(.seconds(600))), at: instant(.seconds(3)))
        #expect(late.handle(.busy(until: nil), at: instant(.seconds(100))) == [.warn(.time)])
        #expect(late.next == instant(.seconds(105)))

        var greedy = self.budget()
        _ = greedy.handle(.busy(until: instant(.seconds(600))), at: instant(.seconds(3)))
        #expect(greedy.handle(.memory(25 << 20), at: instant(.seconds(60))) == [.kill(.memory(25 << 20))])
    }

    @Test("A warning that is configured later than the end comes together with the end")
    func inverted() {
        let limits = ExecutorLimits(warning: .seconds(9), budget: .seconds(3))
        #expect(limits.warning == .seconds(3) && limits.grace == .zero)
        var budget = budget(limits)
        #expect(budget.handle(.time, at: instant(.seconds(3))) == [.warn(.time), .kill(.time)])
    }
}
