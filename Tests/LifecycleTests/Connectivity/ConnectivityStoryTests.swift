import CoreAPI
import Testing

@testable import Lifecycle

/// The effects of single transitions beyond the table: answers, failures, calls.
struct ConnectivityStoryTests {
    @Test("T2: a failed attempt is made again after a wait that grows and varies, until it succeeds")
    func backOff() throws {
        var driver = MachineDriver()
        driver.outcome = { $0 == .reconnect ? .failed("refused") : MachineDriver.well($0) }
        #expect(driver.run(.networkBack) == [.reconnect])
        var waits: [Duration] = []
        for _ in 0..<12 {
            let next = try #require(driver.machine.nextStep)
            waits.append(driver.now.duration(to: next))
            driver.pass(driver.now.duration(to: next))
            driver.carryOutAll()
        }
        for (index, wait) in waits.enumerated() {
            let bound = min(Duration.seconds(2 << index), .seconds(300))
            #expect(wait >= bound / 2 && wait <= bound, "wait \(index): \(wait)")
        }
        #expect(driver.carriedOut.allSatisfy { $0 == .reconnect })

        driver.outcome = MachineDriver.well
        let next = try #require(driver.machine.nextStep)
        driver.pass(driver.now.duration(to: next))
        let before = driver.carriedOut.count
        driver.carryOutAll()
        #expect(Array(driver.carriedOut[before...]) == TransitionTable.standard[.t2].actions)
        #expect(driver.machine.isRegistered)
        #expect(driver.machine.nextStep == nil)
    }

    @Test(
        "T2: what fails behind the registration is tried again, too",
        arguments: [ConnectivityAction.subscribe, .restorePresence, .restoreHTTP])
    func restFails(action: ConnectivityAction) {
        var driver = MachineDriver()
        driver.outcome = { $0 == action ? .failed("503") : MachineDriver.well($0) }
        #expect(driver.run(.networkBack).last == action)
        driver.outcome = MachineDriver.well
        driver.pass(.seconds(2))
        let before = driver.carriedOut.count
        driver.carryOutAll()
        #expect(Array(driver.carriedOut[before...]) == TransitionTable.standard[.t2].actions)
    }

    @Test("T2: another seed gives other waits, the same seed the same")
    func seeds() throws {
        func waits(_ seed: UInt64) -> [Duration] {
            var backoff = Backoff(seed: seed)
            return (0..<6).map { _ in backoff.failed() }
        }
        #expect(waits(1) == waits(1))
        #expect(waits(1) != waits(2))
    }

    @Test("T3, T8: no machine tries to connect again in the background")
    func noRetryInBackground() {
        var driver = MachineDriver()
        driver.outcome = { $0 == .register ? .failed("503") : MachineDriver.well($0) }
        driver.run(.networkBack)
        #expect(driver.machine.nextStep != nil)
        #expect(driver.run(.toBackground) == [.applyLevels(.background)])
        #expect(driver.machine.nextStep == nil)
    }

    @Test("T4: one attempt; when it fails there is none until the foreground, which restores everything")
    func oneAttempt() {
        var driver = MachineDriver(.background, .disconnected)
        driver.outcome = { $0 == .reconnect ? .failed("refused") : MachineDriver.well($0) }
        #expect(driver.run(.networkBack) == [.reconnect])
        #expect(driver.machine.nextStep == nil)
        #expect(driver.machine.position == LifecyclePosition(.background, .connected))
        driver.outcome = MachineDriver.well
        #expect(
            driver.run(.toForeground) == [.applyLevels(.foreground)] + TransitionTable.standard[.t2].actions)
        #expect(driver.machine.isRegistered)
    }

    @Test("T1, T5: what needs the network is dropped when it is lost, also what is under way")
    func lossDrops() {
        var driver = MachineDriver()
        driver.feed(.networkBack)
        driver.carryOutOne()
        let loss = driver.feed(.networkLost)
        #expect(loss.dropped.map(\.action) == Array(TransitionTable.standard[.t2].actions.dropFirst()))
        driver.carryOutAll()
        #expect(driver.carriedOut == [.reconnect, .tellServices(.disconnected), .flagCallsUnavailable])
        #expect(!driver.machine.isRegistered)
    }

    @Test(
        "T8: an attempt of the foreground goes on as one of the background, after the levels, without presence and HTTP"
    )
    func attemptGoesToBackground() {
        var driver = MachineDriver()
        driver.feed(.networkBack)
        #expect(driver.run(.toBackground) == [.applyLevels(.background), .reconnect, .register, .subscribe])
    }

    @Test("T8: presence and HTTP that were not restored yet are not restored in the background")
    func noPresenceInBackground() {
        var driver = MachineDriver()
        driver.feed(.networkBack)
        for _ in 0..<2 { driver.carryOutOne() }
        #expect(driver.run(.toBackground) == [.subscribe, .reportLastKnownState, .applyLevels(.background)])
    }

    @Test("T4, T5: calls that went out of reach in the background are in reach again once it is registered")
    func inReachAgain() {
        var driver = MachineDriver(.background, .connected)
        driver.run(.networkLost)
        let row = TransitionTable.standard[.t4].actions
        #expect(driver.run(.networkBack) == row + [.reportLastKnownState])
        driver.run(.networkLost)
        driver.outcome = { $0 == .reportLastKnownState ? .failed("no screen") : MachineDriver.well($0) }
        driver.run(.networkBack)
        driver.outcome = MachineDriver.well
        #expect(driver.run(.toForeground).last == .reportLastKnownState)
        driver.run(.toBackground)
        #expect(!driver.run(.toForeground).contains(.reportLastKnownState), "once")
    }

    @Test("T2, T4: a connection that is gone while the network stays is made anew, in the foreground with back-off")
    func connectionLost() throws {
        var driver = MachineDriver(.foreground, .connected)
        #expect(driver.run(.connectionLost).isEmpty)
        #expect(!driver.machine.isRegistered)
        driver.pass(.seconds(2))
        driver.carryOutAll()
        #expect(driver.carriedOut == TransitionTable.standard[.t2].actions)
        driver.run(.toBackground)
        #expect(driver.run(.connectionLost) == TransitionTable.standard[.t4].actions)
        driver.outcome = { $0 == .reconnect ? .failed("refused") : MachineDriver.well($0) }
        #expect(driver.run(.connectionLost) == [.reconnect])
        #expect(driver.machine.nextStep == nil && driver.run(.connectionLost).isEmpty, "one attempt")
    }

    @Test("T4: a connection that ends before it is subscribed on was the attempt of the background")
    func connectionLostTooSoon() {
        var driver = MachineDriver(.background, .disconnected)
        driver.feed(.networkBack)
        driver.carryOutOne()
        driver.carryOutOne()
        #expect(driver.machine.pending.map(\.action) == [.subscribe])
        driver.run(.connectionLost)
        #expect(driver.carriedOut == [.reconnect, .register])
        #expect(driver.run(.keepAlive) == [.reconnect, .register, .subscribe])
    }

    @Test("T6: “no” keeps the application awake")
    func stayAwake() {
        let obstacle = BackgroundBlocker.tooShort(
            registration: "sip", lifetime: .seconds(300), interval: .seconds(700))
        var driver = MachineDriver(.background, .connected)
        driver.outcome = {
            if case .prepareForBackground = $0 { return .done(.preparation(.notReady([obstacle]))) }
            return MachineDriver.well($0)
        }
        #expect(
            driver.run(.suspendedBySystem(interval: .seconds(700))) == [
                .giveUpLocks, .rest, .prepareForBackground(interval: .seconds(700)), .resume, .stayAwake([obstacle]),
            ])
        #expect(driver.machine.position == LifecyclePosition(.background, .connected))
    }

    @Test("T6: “no” warns and sleeps, where that is chosen; a question without an answer is a “no”")
    func warn() {
        var driver = MachineDriver(.background, .connected, rules: ConnectivityRules(unprepared: .warn))
        driver.outcome = {
            if case .prepareForBackground = $0 { return .failed("no idea") }
            return MachineDriver.well($0)
        }
        let done = driver.run(.suspendedBySystem(interval: .seconds(600)))
        #expect(done.suffix(2) == [.warn([.unanswered("no idea")]), .allowSuspension])
        #expect(driver.machine.position == LifecyclePosition(.suspended, .connected))
    }

    @Test("T6, T7: a process that cannot let ownership and locks go stays awake", arguments: Connectivity.allCases)
    func notGivenUp(connectivity: Connectivity) {
        var driver = MachineDriver(.background, connectivity)
        driver.outcome = { $0 == .rest ? .failed("busy") : MachineDriver.well($0) }
        #expect(
            driver.run(.suspendedBySystem(interval: .seconds(600)))
                == [.giveUpLocks, .rest, .resume, .stayAwake([.notGivenUp("busy")])])
        driver.outcome = {
            $0 == .giveUpOwnership ? .failed("busy") : MachineDriver.withoutHolder($0)
        }
        #expect(
            driver.run(.suspendedBySystem(interval: .seconds(600)))
                == [.giveUpLocks, .rest, .giveUpOwnership, .stayAwake([.notGivenUp("busy")])])
        driver.outcome = { $0 == .giveUpLocks ? .failed("busy") : MachineDriver.well($0) }
        #expect(
            driver.run(.suspendedBySystem(interval: .seconds(600)))
                == [.giveUpLocks, .resume, .stayAwake([.notGivenUp("busy")])])
        #expect(driver.machine.position == LifecyclePosition(.background, connectivity))
        driver.outcome = MachineDriver.well
        driver.run(.suspendedBySystem(interval: .seconds(600)))
        #expect(driver.machine.position == LifecyclePosition(.suspended, connectivity))
    }

    @Test("T6, P5: it is asked every time")
    func asksEveryTime() {
        var driver = MachineDriver(.background, .connected)
        for _ in 0..<3 {
            driver.run(.suspendedBySystem(interval: .seconds(600)))
            driver.run(.toForeground)
            driver.run(.toBackground)
        }
        #expect(driver.carriedOut.count { $0 == .prepareForBackground(interval: .seconds(600)) } == 3)
    }

    @Test("T6: a process that comes to the foreground meanwhile is not suspended by the answer")
    func answerComesTooLate() throws {
        var driver = MachineDriver(.background, .connected)
        driver.feed(.suspendedBySystem(interval: .seconds(600)))
        for _ in 0..<2 { driver.carryOutOne() }
        let question = try #require(driver.machine.pending.first)
        driver.feed(.toForeground)
        #expect(driver.machine.finished(question.number, .done(.preparation(.ready)), at: driver.now) == nil)
        driver.carryOutAll()
        #expect(driver.machine.position == LifecyclePosition(.foreground, .connected))
        #expect(!driver.carriedOut.contains(.allowSuspension))
    }

    @Test("T6, T7, P6: a suspension waits for the end of the last active call", arguments: Connectivity.allCases)
    func waitsForCalls(connectivity: Connectivity) {
        var driver = MachineDriver(.background, connectivity)
        driver.run(.activeCallBegan)
        driver.run(.activeCallBegan)
        #expect(driver.run(.suspendedBySystem(interval: .seconds(600))).isEmpty)
        driver.run(.activeCallEnded)
        #expect(driver.machine.position.application == .background)
        driver.run(.activeCallEnded)
        #expect(driver.machine.position == LifecyclePosition(.suspended, connectivity))
        #expect(driver.carriedOut.last == .allowSuspension)
    }

    @Test("T6: what was let go, or was to be, comes back to a process that stays awake")
    func ownsAgain() {
        for count in 0...3 {
            for event in [ConnectivityEvent.toForeground, .activeCallBegan] {
                var driver = MachineDriver(.background, .connected)
                driver.feed(.suspendedBySystem(interval: .seconds(600)))
                for _ in 0..<count { driver.carryOutOne() }
                var done = driver.run(event)
                #expect(done.first == .resume && !done.contains(.rest), "\(count), \(event)")
                #expect(!done.contains(.mayOwnAgain) && driver.machine.ownership == .held, "\(count), \(event)")

                driver = MachineDriver(.background, .connected)
                driver.outcome = MachineDriver.withoutHolder
                driver.feed(.suspendedBySystem(interval: .seconds(600)))
                for _ in 0..<count { driver.carryOutOne() }
                done = driver.run(event)
                #expect(count < 2 || done.contains(.mayOwnAgain), "\(count), \(event)")
                #expect(!done.contains(.giveUpOwnership) && driver.machine.ownership == .held, "\(count), \(event)")
            }
        }
    }

    @Test("T6, T7: beside a holder nothing is given up; without one ownership is, before it is slept")
    func holder() {
        for connectivity in Connectivity.allCases {
            var driver = MachineDriver(.background, connectivity)
            driver.run(.suspendedBySystem(interval: .seconds(600)))
            #expect(Array(driver.carriedOut.prefix(2)) == [.giveUpLocks, .rest])
            #expect(!driver.carriedOut.contains(.giveUpOwnership) && driver.machine.ownership == .resting)
            #expect(driver.trace.contains { $0.dropped.map(\.action) == [.giveUpOwnership] }, "traced")

            driver = MachineDriver(.background, connectivity)
            driver.outcome = MachineDriver.withoutHolder
            driver.run(.suspendedBySystem(interval: .seconds(600)))
            #expect(Array(driver.carriedOut.prefix(3)) == [.giveUpLocks, .rest, .giveUpOwnership])
            #expect(driver.carriedOut.last == .allowSuspension && driver.machine.ownership == .givenUp)
            #expect(!driver.run(.keepAlive).contains(.resume), "a short wake does without it")
            let done = driver.run(.toForeground)
            let before = done.prefix { $0 != .mayOwnAgain }
            #expect(done.contains(.mayOwnAgain))
            #expect(!before.contains(.reconnect) && !before.contains(.register), "it owns before it registers")
        }
    }

    @Test("P6: a call that begins while the question is asked keeps the application awake until it ends")
    func callDuringQuestion() {
        var driver = MachineDriver(.background, .connected)
        driver.feed(.suspendedBySystem(interval: .seconds(600)))
        driver.carryOutOne()
        driver.run(.activeCallBegan)
        #expect(driver.machine.position.application == .background)
        driver.run(.activeCallEnded)
        #expect(driver.machine.position.application == .suspended)
    }

    @Test("T6: a suspension that was put off is forgotten when the user comes back")
    func postponedIsForgotten() {
        var driver = MachineDriver(.background, .connected)
        driver.run(.activeCallBegan)
        driver.run(.suspendedBySystem(interval: .seconds(600)))
        driver.run(.toForeground)
        driver.run(.toBackground)
        driver.run(.activeCallEnded)
        #expect(driver.machine.position == LifecyclePosition(.background, .connected))
    }
}
