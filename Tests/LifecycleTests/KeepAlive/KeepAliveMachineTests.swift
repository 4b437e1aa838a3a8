import CoreAPI
import Testing

@testable import Lifecycle

/// The times at which handlers run, their durations and their arguments.
struct KeepAliveMachineTests {
    @Test(
        "P4, scenario 35: an interval under 600 s is refused",
        arguments: [Duration.zero, .seconds(-600), .seconds(1), .milliseconds(599_999), .seconds(40_000_000_000)])
    func tooShort(interval: Duration) throws {
        var machine = KeepAliveMachine()
        let error = try #require(throws: LifecycleError.self) {
            try machine.add(handler: "a", every: interval, at: KeepAliveDriver.start)
        }
        #expect(error.code == .invalidInterval)
        #expect(error.message.contains("600.0 seconds"), "\(error)")
        #expect(machine.handlerNames.isEmpty)
        #expect(machine.nextStep == nil)
    }

    @Test("P4: 600 s are accepted")
    func shortest() throws {
        var machine = KeepAliveMachine()
        try machine.add(handler: "a", every: .seconds(600), at: KeepAliveDriver.start)
        #expect(machine.handlerNames == ["a"])
    }

    @Test("E2: a bad name is refused", arguments: ["", "two\nlines", String(repeating: "x", count: 129)])
    func badName(name: String) {
        var machine = KeepAliveMachine()
        #expect(throws: LifecycleError.self) {
            try machine.add(handler: name, every: .seconds(600), at: KeepAliveDriver.start)
        }
        #expect(throws: LifecycleError.self) {
            try machine.registered(name, for: .seconds(60), at: KeepAliveDriver.start)
        }
    }

    @Test("P4, scenario 35: once in each interval", arguments: [600, 601, 900, 7200])
    func oncePerInterval(seconds: Int) throws {
        var driver = KeepAliveDriver()
        try driver.machine.add(handler: "a", every: .seconds(seconds), at: driver.now)
        driver.pass(.seconds(seconds * 100))
        let windows = driver.times("a").map { Int(($0 - .nanoseconds(1)) / .seconds(seconds)) }
        #expect(windows == Array(0..<100))
    }

    @Test("P4: a process that is a little late does not skip an interval")
    func lateTimer() throws {
        var driver = KeepAliveDriver()
        try driver.machine.add(handler: "a", every: .seconds(600), at: driver.now)
        for _ in 0..<50 {
            let next = try #require(driver.machine.nextStep)
            driver.now = next.advanced(by: .milliseconds(700))
            driver.step()
        }
        #expect(driver.elapsed == .seconds(600 * 50) + .milliseconds(700))
        #expect(driver.runs.count == 50)
        #expect(driver.runs.allSatisfy { $0.run.missed == 0 })
    }

    @Test("P4: several that run within each other's slack run together")
    func together() throws {
        var driver = KeepAliveDriver()
        try driver.machine.add(handler: "a", every: .seconds(600), at: driver.now)
        driver.pass(.seconds(217))
        try driver.machine.add(handler: "b", every: .seconds(600), at: driver.now)
        driver.pass(.seconds(300))
        try driver.machine.add(handler: "c", every: .seconds(1200), at: driver.now)
        driver.pass(.seconds(12_000))
        #expect(driver.times("a") == driver.times("b"))
        #expect(Set(driver.times("c")).isSubset(of: driver.times("a")))
        #expect(driver.times("a").count == 20 && driver.times("c").count == 10)
    }

    @Test("P4: slack brings a call forward, by a tenth of its interval at most")
    func slack() throws {
        for (offset, isTogether) in [(Duration.seconds(59), true), (.seconds(61), false)] {
            var machine = KeepAliveMachine()
            let start = KeepAliveDriver.start
            // Two that could not join each other's rhythm when they were added.
            machine.handlers["a"] = KeepAliveHandlerState(
                window: KeepAliveWindow(endingAt: start.advanced(by: .seconds(600)), interval: .seconds(600)), ranIn: -1
            )
            machine.handlers["b"] = KeepAliveHandlerState(
                window: KeepAliveWindow(
                    endingAt: start.advanced(by: .seconds(600) + offset), interval: .seconds(600)), ranIn: -1)
            let wake = try #require(machine.nextStep)
            let directives = machine.step(at: wake)
            #expect(directives.count == (isTogether ? 2 : 1))
        }
    }

    @Test("P4, scenario 35: over its time a handler is told, then cut off")
    func budget() throws {
        var driver = KeepAliveDriver()
        driver.takes = ["a": .seconds(100), "b": .milliseconds(9_999), "c": .seconds(10)]
        for name in ["a", "b", "c"] { try driver.machine.add(handler: name, every: .seconds(600), at: driver.now) }
        driver.pass(.seconds(700))
        #expect(
            driver.runs.map(\.run.endsAt)
                == Array(repeating: driver.runs[0].run.startedAt.advanced(by: .seconds(10)), count: 3))
        #expect(driver.warnings.map(\.handler) == ["a", "b", "c"])
        #expect(driver.warnings.allSatisfy { $0.at == .seconds(608) })
        #expect(driver.cuts.map(\.handler) == ["a"])
        #expect(driver.cuts.allSatisfy { $0.at == .seconds(610) })
        driver.pass(.seconds(600))
        #expect(driver.times("a") == [.seconds(600), .seconds(1200)], "one that was cut off runs in its next interval")
    }

    @Test("P4: a handler that ends at its limit was not in time")
    func limit() throws {
        var machine = KeepAliveMachine()
        try machine.add(handler: "a", every: .seconds(600), at: KeepAliveDriver.start)
        let due = try #require(machine.nextStep)
        let begun = machine.step(at: due)
        #expect(begun.count == 1)
        let inTime = machine.finished(handler: "a", at: due.advanced(by: .seconds(10)))
        #expect(!inTime)
        let again = machine.finished(handler: "a", at: due)
        #expect(!again, "it is over")
    }

    @Test("P4: what was missed while none ran is made up for once, at once; the rhythm stays")
    func missed() throws {
        var driver = KeepAliveDriver()
        try driver.machine.add(handler: "a", every: .seconds(600), at: driver.now)
        driver.pass(.seconds(2_000), asleep: true)
        #expect(driver.runs.map(\.at) == [.seconds(2_000)])
        #expect(driver.runs[0].run.missed == 2)
        driver.pass(.seconds(1_000))
        #expect(driver.runs.map(\.at) == [.seconds(2_000), .seconds(2_400), .seconds(3_000)])
    }

    @Test("P4: made up for shortly before the end of an interval, a call counts for that one, too")
    func missedNearEnd() throws {
        var driver = KeepAliveDriver()
        try driver.machine.add(handler: "a", every: .seconds(600), at: driver.now)
        driver.pass(.seconds(1_190), asleep: true)
        driver.pass(.seconds(700))
        #expect(driver.runs.map(\.at) == [.seconds(1_190), .seconds(1_800)])
    }

    @Test("P4: a removed handler does not run; a changed interval counts from now")
    func changes() throws {
        var driver = KeepAliveDriver()
        try driver.machine.add(handler: "a", every: .seconds(600), at: driver.now)
        try driver.machine.add(handler: "b", every: .seconds(600), at: driver.now)
        driver.machine.remove(handler: "b")
        driver.pass(.seconds(100))
        try driver.machine.add(handler: "a", every: .seconds(900), at: driver.now)
        driver.pass(.seconds(1_000))
        #expect(driver.runs.map(\.run.handler) == ["a"])
        #expect(driver.times("a") == [.seconds(1_000)])
    }

    @Test("P4: adding a handler again with its interval changes nothing")
    func addAgain() throws {
        var driver = KeepAliveDriver()
        try driver.machine.add(handler: "a", every: .seconds(600), at: driver.now)
        driver.pass(.seconds(500))
        try driver.machine.add(handler: "a", every: .seconds(600), at: driver.now)
        driver.pass(.seconds(150))
        #expect(driver.times("a") == [.seconds(600)])
    }
}
