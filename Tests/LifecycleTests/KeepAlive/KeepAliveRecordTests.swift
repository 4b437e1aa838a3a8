import CoreAPI
import Testing

@testable import Lifecycle

/// The record that outlasts a restart of the process with the keep-alive.
struct KeepAliveRecordTests {
    private let boot = BootID(high: 7, low: 9)

    private func restored(
        _ driver: KeepAliveDriver, on newBoot: BootID? = nil, adding: Bool = true
    ) throws -> KeepAliveDriver {
        let bytes = driver.machine.record(on: boot).bytes
        var next = KeepAliveDriver()
        next.now = driver.now
        next.machine = try KeepAliveMachine(
            restoring: KeepAliveRecord(bytes: bytes), on: newBoot ?? boot, at: driver.now)
        if adding {
            for handler in driver.machine.record(on: boot).handlers {
                try next.machine.add(handler: handler.name, every: .nanoseconds(handler.interval), at: next.now)
            }
        }
        return next
    }

    @Test("P4: a restart changes nothing in when a handler is due", arguments: [0, 1, 299, 599])
    func keepsRhythm(seconds: Int) throws {
        var driver = KeepAliveDriver()
        try driver.machine.add(handler: "a", every: .seconds(600), at: driver.now)
        driver.pass(.seconds(1_200 + seconds))
        var next = try restored(driver)
        next.pass(.seconds(600 - seconds))
        #expect(next.times("a") == [.seconds(1_800)])
        #expect(next.runs[0].run.missed == 0)
    }

    @Test("P4: what was due while no process ran is due when one does")
    func dueIsDue() throws {
        var driver = KeepAliveDriver()
        try driver.machine.add(handler: "a", every: .seconds(600), at: driver.now)
        driver.now = driver.now.advanced(by: .seconds(1_500))
        var next = try restored(driver)
        next.step()
        #expect(next.times("a") == [.seconds(1_500)])
        #expect(next.runs[0].run.missed == 1)
    }

    @Test("P4: a call that was under way when its runner ended is due again")
    func interrupted() throws {
        var driver = KeepAliveDriver()
        driver.takes["a"] = .seconds(5)
        try driver.machine.add(handler: "a", every: .seconds(600), at: driver.now)
        driver.pass(.seconds(602))
        #expect(driver.machine.running == ["a"])
        var next = try restored(driver)
        next.step()
        #expect(next.times("a") == [.seconds(602)])
    }

    @Test("P4: a handler that was not added again is not called, and is due when it is")
    func notAddedYet() throws {
        var driver = KeepAliveDriver()
        try driver.machine.add(handler: "a", every: .seconds(600), at: driver.now)
        var next = try restored(driver, adding: false)
        next.pass(.seconds(700))
        #expect(next.runs.isEmpty)
        #expect(next.machine.nextStep == nil)
        try next.machine.add(handler: "a", every: .seconds(600), at: next.now)
        next.step()
        #expect(next.times("a") == [.seconds(700)])
    }

    @Test("P4: after a new start of the machine everything is due and every registration has lapsed")
    func reboot() throws {
        var driver = KeepAliveDriver()
        try driver.machine.add(handler: "a", every: .seconds(600), at: driver.now)
        try driver.machine.registered("sip", for: .seconds(36_000), at: driver.now)
        driver.now = BootInstant(nanoseconds: 3_000_000_000)
        var next = try restored(driver, on: BootID(high: 7, low: 10))
        #expect(
            next.machine.prepareForBackground(interval: .seconds(600), at: next.now)
                == .notReady([.lapsed(registration: "sip")]))
        next.step()
        #expect(next.runs.map(\.run.handler) == ["a"])
        #expect(next.runs[0].run.toRefresh == ["sip"])
        next.pass(.seconds(1_200))
        #expect(next.runs.count == 3)
    }

    @Test("P4: a record is the same after a round through bytes, with any names")
    func bytes() throws {
        var driver = KeepAliveDriver()
        for name in ["a", "with space", "  ", "ünï 🎈", "handler 1 2 3 x", "\u{301}e", "a\u{301}"] {
            try driver.machine.add(handler: name, every: .seconds(777), at: driver.now)
            try driver.machine.registered(name, for: .milliseconds(1), at: driver.now)
        }
        driver.pass(.seconds(1_000))
        let record = driver.machine.record(on: boot)
        #expect(try KeepAliveRecord(bytes: record.bytes) == record)
        let again = try restored(driver).machine.record(on: boot)
        #expect(again == record)
    }

    @Test(
        "E2: bytes that are no record are refused, never a trap",
        arguments: [
            "", "keep-alive", "keep-alive 2 1 1", "keep-alive 1 x y", "keep-alive 1 1 1\n", "keep-alive 1 1 1\nhandler",
            "keep-alive 1 1 1\nhandler a b c d", "keep-alive 1 1 1\nregistration 1 2 x y",
            "keep-alive 1 1 1\nother 1 2 3 4",
            "keep-alive 1 1 1\nregistration 1 -2 - y", "keep-alive 1 1 1\nhandler 99999999999999999999 0 0 a",
        ])
    func notARecord(text: String) throws {
        let error = try #require(throws: LifecycleError.self) { try KeepAliveRecord(bytes: Array(text.utf8)) }
        #expect(error.code == .unreadableRecord)
    }

    @Test("E2: damaged records are refused or understood, never a trap")
    func damaged() throws {
        var random = SeededRandom(seed: 35)
        let extremes = [Int64.min, -1, 0, 1, 599_999_999_999, 600_000_000_000, Int64.max]
        for _ in 0..<2_000 {
            func number() -> Int64 { extremes[Int(random.next() % UInt64(extremes.count))] }
            let text =
                "keep-alive 1 7 \(random.next() % 2 == 0 ? 9 : 10)\nhandler \(number()) \(number()) \(number()) a\n"
                + "handler 600000000000 \(number()) \(number()) b\nregistration \(number()) \(UInt64(bitPattern: number())) \(UInt64(bitPattern: number())) r"
            var bytes = Array(text.utf8)
            if random.next() % 2 == 0 {
                bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random.next())
            }
            guard let record = try? KeepAliveRecord(bytes: bytes) else { continue }
            let now = BootInstant(nanoseconds: random.next() % 2 == 0 ? .max : 5_000_000_000_000)
            guard var machine = try? KeepAliveMachine(restoring: record, on: boot, at: now) else { continue }
            for handler in record.handlers {
                try? machine.add(handler: handler.name, every: .nanoseconds(handler.interval), at: now)
            }
            _ = machine.step(at: now)
            _ = machine.nextStep
            _ = machine.record(on: boot).bytes
            _ = machine.prepareForBackground(interval: .seconds(600), at: now)
        }
    }
}
