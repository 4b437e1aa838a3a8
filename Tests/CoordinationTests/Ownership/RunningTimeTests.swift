import CoreAPI
import Testing

@testable import Coordination

/// How a wait counts only the time in which the waiting process could run.
struct RunningTimeTests {
    private let start = BootInstant(nanoseconds: 1_000_000_000_000)

    @Test("C6: regular counting adds up to the time that passed")
    func addsUp() {
        var time = RunningTime(from: start)
        for tick in 1...5 { time.count(to: start.advanced(by: .milliseconds(100 * tick))) }
        #expect(time.elapsed == .milliseconds(500))
    }

    @Test("C6: a step that comes late counts for a bounded time only")
    func lateStepIsCut() {
        var time = RunningTime(from: start)
        time.count(to: start.advanced(by: .milliseconds(400)))
        #expect(time.elapsed == RunningTime.longestStep)
    }

    @Test("C6: a process that was stopped, or slept with its machine, begins anew: it accuses none of its own sleep")
    func gapBeginsAnew() {
        var time = RunningTime(from: start)
        for tick in 1...4 { time.count(to: start.advanced(by: .milliseconds(100 * tick))) }
        time.count(to: start.advanced(by: .seconds(3600)))
        #expect(time.elapsed == .zero)
    }

    @Test("C6: a second sleep within the wait takes back no more than is left of what may be")
    func gapsAreBounded() {
        var time = RunningTime(from: start)
        var now = start
        func wait(_ milliseconds: Int) {
            now = now.advanced(by: .milliseconds(milliseconds))
            time.count(to: now)
        }
        for _ in 1...3 { wait(100) }
        wait(60_000)
        #expect(time.elapsed == .zero)
        for _ in 1...4 { wait(100) }
        wait(60_000)
        #expect(time.elapsed == .milliseconds(200))
        wait(60_000)
        #expect(time.elapsed == .milliseconds(350), "from here on, a gap counts as a late step does")
    }

    @Test("C3: one that comes too late each time, as on an overloaded machine, comes to its end all the same")
    func overloaded() {
        for gap in [500, 700, 5000] {
            var time = RunningTime(from: start)
            let steps = (1...100).first { step in
                time.count(to: start.advanced(by: .milliseconds(gap * step)))
                return time.elapsed >= .milliseconds(500)
            }
            #expect(steps == 8)
        }
    }

    @Test("a stopped clock, or the same instant twice, adds no counted time")
    func standsStill() {
        var time = RunningTime(from: start)
        time.count(to: start)
        time.count(to: start)
        #expect(time.elapsed == .zero)
    }

    @Test("C6: the next count comes with the tick, and the last one exactly at the limit")
    func nextCount() {
        var time = RunningTime(from: start)
        #expect(time.nextCount(limit: .milliseconds(500)) == start.advanced(by: .milliseconds(100)))
        time.count(to: start.advanced(by: .milliseconds(120)))
        #expect(time.nextCount(limit: .milliseconds(130)) == start.advanced(by: .milliseconds(130)))
    }
}
