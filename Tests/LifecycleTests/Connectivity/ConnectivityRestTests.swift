import CoreAPI
import Testing

@testable import Lifecycle

/// Ownership that rests with a holder while the application sleeps, and the steps of a wake before its work.
struct ConnectivityRestTests {
    /// Each row that begins with a resume in a sleep, with its event and position.
    static let wakes: [(event: ConnectivityEvent, connectivity: Connectivity)] = [
        (.dataOnKeptSocket, .connected), (.keepAlive, .connected), (.keepAlive, .disconnected),
    ]

    /// Ownership rests, and the rest is over when the application resumes.
    static func lost(_ action: ConnectivityAction) -> ConnectivityMachine.Outcome {
        action == .resume ? .done(.ownership(.lost)) : MachineDriver.well(action)
    }

    @Test("T11, T12, T15: a wake resumes before it works, and rests again before it sleeps")
    func wakes() {
        for wake in Self.wakes {
            var driver = MachineDriver(.suspended, wake.connectivity)
            for _ in 0..<2 {
                let done = driver.run(wake.event == .keepAlive ? .keepAlive : wake.event)
                #expect(done.first == .resume && done.last == .allowSuspension, "\(wake)")
                #expect(done.contains([.giveUpLocks, .rest]) && !done.contains(.giveUpOwnership), "\(wake)")
                #expect(driver.machine.ownership == .resting && driver.machine.wake == nil, "\(wake)")
            }
        }
    }

    @Test("T11, T12, T15: where the rest was over, the wake's work is dropped and traced, and it sleeps on")
    func restWasOver() {
        for wake in Self.wakes {
            var driver = MachineDriver(.suspended, wake.connectivity)
            driver.outcome = Self.lost
            for _ in 0..<2 {
                let work = driver.feed(wake.event).actions.map(\.action).dropFirst()
                let before = driver.carriedOut.count
                driver.carryOutAll()
                let rely: [ConnectivityAction] = wake.connectivity == .connected ? [] : [.relyOnKeepAlive]
                #expect(
                    Array(driver.carriedOut[before...])
                        == [.resume, .endBudget, .giveUpLocks] + rely + [.allowSuspension], "\(wake)")
                #expect(driver.trace.contains { $0.dropped.map(\.action) == Array(work) }, "\(wake)")
                #expect(driver.machine.position == LifecyclePosition(.suspended, wake.connectivity), "\(wake)")
                #expect(driver.machine.nextStep == nil && !driver.machine.isRegistered, "\(wake)")
            }
        }
    }

    @Test("T16: where the rest was over, the connection is made anew, and the application may own again")
    func restWasOverInForeground() {
        var driver = MachineDriver(.suspended, .connected)
        driver.outcome = Self.lost
        let done = driver.run(.toForeground)
        #expect(Array(done.prefix(2)) == [.resume, .checkConnectivity])
        #expect(done.contains([.mayOwnAgain, .reconnect, .register]))
        #expect(driver.machine.ownership == .held)

        driver = MachineDriver(.background, .connected)
        driver.outcome = Self.lost
        driver.feed(.suspendedBySystem(interval: .seconds(600)))
        for _ in 0..<2 { driver.carryOutOne() }
        driver.run(.toForeground)
        #expect(driver.carriedOut.contains(.mayOwnAgain) && !driver.machine.isRegistered)
        driver.pass(.seconds(2))
        driver.carryOutAll()
        #expect(driver.machine.isSubscribed, "the connection of the core that was stopped is made anew")
    }

    @Test("T11, T12, T15: a resume that fails leaves the work to the next wake, and what may be held is let go")
    func resumeFails() {
        for wake in Self.wakes {
            var driver = MachineDriver(.suspended, wake.connectivity)
            driver.outcome = { $0 == .resume ? .failed("no answer") : MachineDriver.well($0) }
            let done = driver.run(wake.event)
            #expect(Array(done.prefix(3)) == [.resume, .giveUpLocks, .rest], "\(wake)")
            #expect(done.suffix(2) == [.endBudget, .allowSuspension], "\(wake)")
            #expect(!done.contains { $0.needsNetwork || $0 == .processSocketData }, "\(wake)")
            driver.outcome = MachineDriver.well
            #expect(driver.run(wake.event).contains { $0.needsNetwork || $0 == .processSocketData }, "\(wake)")
        }
    }

    @Test("T11, P6: a resume that takes 10 s is cut off, and what it may have taken is let go")
    func resumeOverBudget() {
        for wake in Self.wakes {
            var driver = MachineDriver(.suspended, wake.connectivity)
            driver.feed(wake.event)
            driver.pass(.seconds(10))
            driver.carryOutAll()
            #expect(Array(driver.carriedOut.prefix(3)) == [.stopWork, .giveUpLocks, .rest], "\(wake)")
            #expect(driver.carriedOut.last == .allowSuspension, "\(wake)")
        }
    }

    @Test("T16: a resume that fails in the foreground is made again with what comes next")
    func resumeFailsInForeground() {
        var driver = MachineDriver(.suspended, .disconnected)
        driver.outcome = { action in
            if action == .checkConnectivity { return .done(.connection(.noNetwork)) }
            return action == .resume ? .failed("no answer") : MachineDriver.well(action)
        }
        #expect(driver.run(.toForeground).count { $0 == .resume } == 2)
        #expect(driver.machine.ownership == .resting)
        driver.outcome = MachineDriver.well
        let done = driver.run(.networkBack)
        #expect(done.first == .resume && driver.machine.ownership == .held)
    }

    @Test("T11, P6: a call that begins before the resume keeps the application awake, also where the rest was over")
    func callBeforeResume() {
        for event in [ConnectivityEvent.dataOnKeptSocket, .keepAlive] {
            var driver = MachineDriver(.suspended, .connected)
            driver.outcome = Self.lost
            driver.feed(event)
            driver.feed(.activeCallBegan)
            driver.carryOutAll()
            #expect(driver.machine.position.application == .background, "\(event)")
            #expect(driver.carriedOut.contains(.mayOwnAgain) && !driver.carriedOut.contains(.stopWork), "\(event)")
            driver.run(.activeCallEnded)
            #expect(driver.machine.position.application == .suspended, "\(event)")
        }
    }

    @Test("T12, T13: a connection that ends while the wake rests again has the rest of its time, once it has resumed")
    func connectionLostWhileRestingAgain() {
        for count in 4...5 {
            var driver = MachineDriver(.suspended, .connected)
            driver.feed(.keepAlive)
            for _ in 0..<count { driver.carryOutOne() }
            #expect(driver.machine.wake != nil && driver.machine.pending.contains { $0.action == .rest })
            let done = driver.run(.connectionLost)
            #expect(Array(done.prefix(3)) == [.resume, .openNewSocket, .register], "\(count)")
            #expect(done.contains([.giveUpLocks, .rest]) && done.last == .allowSuspension, "\(count)")
            #expect(driver.machine.ownership == .resting)
        }
    }

    @Test("T11, T12: data that comes while a keep-alive rests again waits for a resume")
    func dataWhileRestingAgain() {
        for count in 4...6 {
            var driver = MachineDriver(.suspended, .connected)
            driver.feed(.keepAlive)
            for _ in 0..<count { driver.carryOutOne() }
            let done = driver.run(.dataOnKeptSocket)
            #expect(
                Array(done.prefix(4)) == [.endBudget, .resume, .beginBudget(.seconds(10)), .processSocketData],
                "\(count)")
            #expect(driver.machine.position.application == .suspended && driver.machine.ownership == .resting)
        }
    }

    @Test("T18: a new process holds nothing that rests")
    func relaunch() {
        var driver = MachineDriver(.suspended, .connected)
        #expect(!driver.run(.killedOrRebooted(finds: .connected)).contains(.resume))
        #expect(driver.machine.ownership == .held)
    }
}
