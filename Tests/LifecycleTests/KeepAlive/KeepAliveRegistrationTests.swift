import CoreAPI
import Testing

@testable import Lifecycle

/// The refreshes, the proofs of life, and the permission to sleep.
struct KeepAliveRegistrationTests {
    private let start = KeepAliveDriver.start

    @Test("P5: a 5 minute registration cannot survive 10 minutes asleep, and the answer says why")
    func tooShort() throws {
        var machine = KeepAliveMachine()
        try machine.registered("sip", for: .seconds(300), at: start)
        let answer = machine.prepareForBackground(interval: .seconds(600), at: start)
        #expect(
            answer
                == .notReady([.tooShort(registration: "sip", lifetime: .seconds(300), interval: .seconds(600))]))
        guard case .notReady(let obstacles) = answer else { return }
        #expect(obstacles[0].description.contains("cannot survive"))
    }

    @Test("P5: one that was refreshed long ago must be refreshed first")
    func lapses() throws {
        var machine = KeepAliveMachine()
        try machine.registered("sip", for: .seconds(3600), at: start)
        #expect(machine.prepareForBackground(interval: .seconds(600), at: start).isReady)
        let later = start.advanced(by: .seconds(3000))
        #expect(
            machine.prepareForBackground(interval: .seconds(600), at: later)
                == .notReady([.lapses(registration: "sip", in: .seconds(600), interval: .seconds(600))]))
        #expect(machine.prepareForBackground(interval: .milliseconds(599_999), at: later).isReady)
        let gone = start.advanced(by: .seconds(3600))
        #expect(
            machine.prepareForBackground(interval: .seconds(600), at: gone) == .notReady([.lapsed(registration: "sip")])
        )
        try machine.registered("sip", for: .seconds(3600), at: gone)
        #expect(machine.prepareForBackground(interval: .seconds(600), at: gone).isReady)
    }

    @Test("P5: every registration that would lapse is named; one that was given up is not")
    func several() throws {
        var machine = KeepAliveMachine()
        for (name, seconds) in [("c", 30), ("a", 60), ("b", 7200)] {
            try machine.registered(name, for: .seconds(seconds), at: start)
        }
        func names() -> [String] {
            guard case .notReady(let obstacles) = machine.prepareForBackground(interval: .seconds(600), at: start)
            else {
                return []
            }
            return obstacles.map { if case .tooShort(let name, _, _) = $0 { name } else { "?" } }
        }
        #expect(names() == ["a", "c"])
        machine.unregistered("a")
        #expect(names() == ["c"])
        machine.unregistered("c")
        #expect(names().isEmpty)
    }

    @Test("E2: a registration that is never valid is refused")
    func neverValid() throws {
        var machine = KeepAliveMachine()
        let error = try #require(throws: LifecycleError.self) {
            try machine.registered("sip", for: .zero, at: start)
        }
        #expect(error.code == .invalidLifetime)
    }

    @Test("P4: what inbound traffic has just proved alive need not be refreshed")
    func proof() throws {
        var driver = KeepAliveDriver()
        try driver.machine.add(handler: "a", every: .seconds(600), at: driver.now)
        for name in ["quiet", "talking", "former"] {
            try driver.machine.registered(name, for: .seconds(36_000), at: driver.now)
        }
        driver.pass(.seconds(530))
        driver.machine.traffic(on: "former", at: driver.now)
        driver.machine.traffic(on: "nobody", at: driver.now)
        driver.pass(.seconds(40))
        driver.machine.traffic(on: "talking", at: driver.now)
        driver.pass(.seconds(30))
        let run = try #require(driver.runs.first?.run)
        #expect(run.provenAlive == ["talking"])
        #expect(run.toRefresh == ["former", "quiet"])
    }

    @Test("P4: a registration that would lapse before the next call is refreshed in spite of proof by traffic")
    func proofIsNoRefresh() throws {
        var driver = KeepAliveDriver()
        try driver.machine.add(handler: "a", every: .seconds(600), at: driver.now)
        try driver.machine.registered("sip", for: .seconds(1_250), at: driver.now)
        driver.pass(.seconds(590))
        driver.machine.traffic(on: "sip", at: driver.now)
        driver.pass(.seconds(10))
        #expect(driver.runs.first?.run.toRefresh == ["sip"])
    }
}
