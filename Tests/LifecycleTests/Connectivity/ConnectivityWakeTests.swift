import CoreAPI
import Testing

@testable import Lifecycle

/// Short wakes of a suspended application, checks on its return, and cellular calls.
struct ConnectivityWakeTests {
    @Test("T11: process, alert, suspended again as in T6")
    func data() {
        var driver = MachineDriver(.suspended, .connected)
        driver.feed(.dataOnKeptSocket)
        #expect(driver.machine.position == LifecyclePosition(.background, .connected))
        driver.carryOutAll()
        #expect(
            driver.carriedOut == [
                .resume, .beginBudget(.seconds(10)), .processSocketData, .alertUser, .giveUpLocks, .rest,
                .prepareForBackground(interval: .seconds(600)), .endBudget, .allowSuspension,
            ])
        #expect(driver.machine.position == LifecyclePosition(.suspended, .connected))
        #expect(Set(driver.trace.map(\.number)) == [.t11])
    }

    @Test("T11, P6: a suspension leaves the work of a wake its time, and takes nothing from its end")
    func suspendedDuringWake() {
        var driver = MachineDriver(.suspended, .connected)
        driver.feed(.dataOnKeptSocket)
        for _ in 0..<2 { driver.carryOutOne() }
        #expect(driver.run(.suspendedBySystem(interval: .seconds(600))).first == .processSocketData)
        #expect(driver.machine.position.application == .suspended)

        driver = MachineDriver(.suspended, .connected)
        driver.feed(.dataOnKeptSocket)
        for _ in 0..<2 { driver.carryOutOne() }
        driver.feed(.suspendedBySystem(interval: .seconds(600)))
        driver.pass(.seconds(10))
        #expect(driver.trace.last?.dropped.map(\.action) == [.processSocketData, .alertUser])
        #expect(driver.machine.position.application == .suspended)
    }

    @Test("T11: the way back to sleep asks for what is left until the keep-alive, not for a whole interval")
    func asksForTheRest() {
        var driver = MachineDriver(.background, .connected)
        driver.run(.suspendedBySystem(interval: .seconds(600)))
        driver.pass(.seconds(400))
        // A registration of 900 s that was refreshed when the sleep began.
        driver.outcome = { action in
            guard case .prepareForBackground(let interval) = action else { return MachineDriver.well(action) }
            return .done(.preparation(interval <= .seconds(500) ? .ready : .notReady([.lapsed(registration: "sip")])))
        }
        #expect(driver.run(.dataOnKeptSocket).contains(.prepareForBackground(interval: .seconds(200))))
        #expect(driver.machine.position == LifecyclePosition(.suspended, .connected))
        driver.pass(.seconds(200))
        driver.run(.keepAlive)
        driver.pass(.seconds(100))
        #expect(driver.run(.dataOnKeptSocket).contains(.prepareForBackground(interval: .seconds(500))))
    }

    @Test("T11, P6: ownership that is not let go in time does not keep it awake")
    func givingUpOverBudget() {
        var driver = MachineDriver(.suspended, .connected)
        driver.feed(.dataOnKeptSocket)
        for _ in 0..<4 { driver.carryOutOne() }
        #expect(driver.machine.pending.first?.action == .giveUpLocks)
        driver.pass(.seconds(10))
        #expect(
            driver.machine.pending.map(\.action)
                == [.stopWork, .giveUpLocks, .rest, .giveUpOwnership, .allowSuspension])
    }

    @Test("T11, P6: after 10 s, not before, what still runs is stopped")
    func dataOverBudget() {
        var driver = MachineDriver(.suspended, .connected)
        driver.feed(.dataOnKeptSocket)
        for _ in 0..<2 { driver.carryOutOne() }
        driver.pass(.milliseconds(9_999))
        #expect(driver.machine.pending.first?.action == .processSocketData)
        driver.pass(.milliseconds(1))
        #expect(driver.trace.last?.dropped.map(\.action) == [.processSocketData, .alertUser])
        driver.carryOutAll()
        #expect(driver.carriedOut.suffix(4) == [.stopWork, .giveUpLocks, .rest, .allowSuspension])
        #expect(driver.machine.position == LifecyclePosition(.suspended, .connected))
    }

    @Test("P6: an active call is exempt from the budget, and the application sleeps after its end")
    func callIsExempt() {
        var driver = MachineDriver(.suspended, .connected)
        driver.feed(.dataOnKeptSocket)
        for _ in 0..<2 { driver.carryOutOne() }
        driver.feed(.activeCallBegan)
        driver.pass(.seconds(60))
        #expect(driver.machine.position.application == .background)
        driver.carryOutAll()
        #expect(!driver.carriedOut.contains(.stopWork))
        #expect(driver.carriedOut.contains(.alertUser))
        driver.run(.activeCallEnded)
        #expect(driver.machine.position == LifecyclePosition(.suspended, .connected))
    }

    @Test("T12: registration and subscriptions are refreshed within the time")
    func keepAlive() {
        var driver = MachineDriver(.suspended, .connected)
        #expect(
            driver.run(.keepAlive) == [
                .resume, .beginBudget(.seconds(10)), .refreshRegistration, .refreshSubscriptions, .giveUpLocks, .rest,
                .endBudget, .allowSuspension,
            ])
        #expect(driver.machine.nextStep == nil)
    }

    @Test("T12, P6: a keep-alive that takes 10 s is cut off")
    func keepAliveOverBudget() {
        var driver = MachineDriver(.suspended, .connected)
        driver.feed(.keepAlive)
        for _ in 0..<2 { driver.carryOutOne() }
        driver.pass(.seconds(10))
        driver.carryOutAll()
        #expect(
            driver.carriedOut
                == [.resume, .beginBudget(.seconds(10)), .stopWork, .giveUpLocks, .rest, .allowSuspension])
        #expect(driver.run(.keepAlive).contains(.refreshRegistration), "the next one runs again")
    }

    @Test("T13: a loss shows at the next wake, when the refresh fails; what is left of the time makes a new connection")
    func lossIsSeenAtWake() {
        var driver = MachineDriver(.suspended, .connected)
        driver.outcome = { $0 == .refreshRegistration ? .failed("broken pipe") : MachineDriver.well($0) }
        let done = driver.run(.keepAlive)
        #expect(
            done == [
                .resume, .beginBudget(.seconds(10)), .refreshRegistration, .openNewSocket, .register, .subscribe,
                .giveUpLocks, .rest, .endBudget, .allowSuspension,
            ])
        #expect(driver.trace.map(\.number).contains(.t13))
        #expect(driver.machine.position == LifecyclePosition(.suspended, .connected))
    }

    @Test("T15: a new socket that cannot be had leaves the application disconnected; the next keep-alive tries again")
    func keepAliveDisconnected() {
        var driver = MachineDriver(.suspended, .disconnected)
        driver.outcome = { $0 == .openNewSocket ? .failed("no route") : MachineDriver.well($0) }
        #expect(
            driver.run(.keepAlive) == [
                .resume, .beginBudget(.seconds(10)), .openNewSocket, .giveUpLocks, .rest, .endBudget, .allowSuspension,
            ])
        #expect(driver.machine.position == LifecyclePosition(.suspended, .disconnected))
        #expect(driver.machine.nextStep == nil, "no attempts beyond the table")
        driver.outcome = MachineDriver.well
        driver.run(.keepAlive)
        #expect(driver.machine.position == LifecyclePosition(.suspended, .connected))
        #expect(driver.machine.isRegistered)
    }

    @Test("T15: what is left of the time subscribes on the new socket")
    func newSocketIsSubscribedOn() {
        var driver = MachineDriver(.suspended, .disconnected)
        #expect(
            driver.run(.keepAlive) == [
                .resume, .beginBudget(.seconds(10)), .openNewSocket, .register, .subscribe, .giveUpLocks, .rest,
                .endBudget, .allowSuspension,
            ])
        #expect(driver.machine.isSubscribed)
        #expect(driver.run(.keepAlive).contains(.refreshSubscriptions))
    }

    @Test("T12, T15: subscriptions that failed are made at the next keep-alive, or once the application is awake")
    func failedSubscriptionsAreMadeUpFor() {
        for (connectivity, action) in [
            (Connectivity.disconnected, ConnectivityAction.subscribe), (.connected, .refreshSubscriptions),
        ] {
            var driver = MachineDriver(.suspended, connectivity)
            driver.outcome = { $0 == action ? .failed("refused") : MachineDriver.well($0) }
            driver.run(.keepAlive)
            #expect(driver.machine.isRegistered && !driver.machine.isSubscribed)
            driver.outcome = MachineDriver.well
            var other = driver
            #expect(
                driver.run(.keepAlive) == [
                    .resume, .beginBudget(.seconds(10)), .refreshRegistration, .subscribe, .giveUpLocks, .rest,
                    .endBudget, .allowSuspension,
                ])
            #expect(driver.run(.keepAlive).contains(.refreshSubscriptions), "once")
            #expect(other.run(.toForeground).suffix(2) == [.restoreHTTP, .subscribe])
        }
    }

    @Test("In the background, awake, the keep-alive makes up for subscriptions and for a connection that failed")
    func keepAliveInBackground() {
        var driver = MachineDriver(.background, .disconnected)
        driver.outcome = { $0 == .subscribe ? .failed("refused") : MachineDriver.well($0) }
        driver.run(.networkBack)
        #expect(driver.machine.isRegistered && !driver.machine.isSubscribed)
        #expect(driver.machine.nextStep == nil)
        driver.outcome = MachineDriver.well
        #expect(driver.run(.keepAlive) == [.subscribe])
        #expect(driver.run(.keepAlive).isEmpty, "once")

        driver = MachineDriver(.background, .disconnected)
        driver.outcome = { $0 == .reconnect ? .failed("no route") : MachineDriver.well($0) }
        driver.run(.networkBack)
        driver.outcome = MachineDriver.well
        #expect(driver.run(.keepAlive) == [.reconnect, .register, .subscribe])
        #expect(driver.machine.position == LifecyclePosition(.background, .connected))
        #expect(driver.run(.keepAlive).isEmpty, "once")
    }

    @Test("T12, P4, P6: data that comes into a keep-alive has its 10 s first; the keep-alive's work keeps its own end")
    func dataDuringKeepAlive() {
        var driver = MachineDriver(.suspended, .connected)
        driver.feed(.keepAlive)
        for _ in 0..<2 { driver.carryOutOne() }
        driver.pass(.seconds(4))
        driver.feed(.dataOnKeptSocket)
        #expect(driver.trace.last?.dropped.map(\.action) == [.refreshRegistration, .refreshSubscriptions])
        #expect(
            driver.machine.pending.map(\.action) == [
                .endBudget, .beginBudget(.seconds(10)), .processSocketData, .alertUser, .refreshRegistration,
                .refreshSubscriptions,
            ])
        for _ in 0..<4 { driver.carryOutOne() }
        driver.pass(.milliseconds(5_999))
        #expect(driver.machine.pending.first?.action == .refreshRegistration)
        driver.pass(.milliseconds(1))
        #expect(driver.trace.last?.dropped.map(\.action).prefix(2) == [.refreshRegistration, .refreshSubscriptions])
        #expect(driver.machine.pending.first?.action == .giveUpLocks)
        #expect(driver.machine.position.application == .background, "the data's time goes on")

        driver = MachineDriver(.suspended, .connected)
        driver.feed(.keepAlive)
        driver.pass(.seconds(4))
        driver.feed(.dataOnKeptSocket)
        driver.pass(.seconds(6))
        #expect(driver.machine.pending.contains { $0.action == .processSocketData })
        driver.pass(.seconds(4))
        #expect(driver.trace.last?.actions.first?.action == .stopWork)
        #expect(driver.trace.last?.dropped.contains { $0.action == .processSocketData } == true)
    }

    @Test("P6: the end of a keep-alive's time cuts no active call that began in the wake")
    func keepAliveCutsNoCall() {
        var driver = MachineDriver(.suspended, .connected)
        driver.feed(.keepAlive)
        for _ in 0..<2 { driver.carryOutOne() }
        driver.pass(.seconds(4))
        driver.feed(.dataOnKeptSocket)
        driver.feed(.activeCallBegan)
        driver.feed(.cellularCallBegan)
        driver.pass(.seconds(6))
        let actions = driver.machine.pending.map(\.action)
        #expect(actions.contains(.holdActiveCalls) && actions.contains(.refreshRegistration))
        driver.pass(.seconds(4))
        #expect(driver.trace.last?.actions.first?.action == .endBudget && driver.trace.last?.dropped.isEmpty == true)
        driver.carryOutAll()
        #expect(driver.carriedOut.contains([.refreshRegistration, .refreshSubscriptions]))
        #expect(driver.carriedOut.contains(.holdActiveCalls))
        #expect(driver.machine.position == LifecyclePosition(.background, .connected))
    }

    @Test("T4, P6: the end of a keep-alive's time stops nothing that is made anew after a loss in the same wake")
    func keepAliveCutsNoReconnect() {
        var driver = MachineDriver(.suspended, .connected)
        driver.feed(.keepAlive)
        for _ in 0..<2 { driver.carryOutOne() }
        driver.pass(.seconds(4))
        driver.feed(.dataOnKeptSocket)
        driver.feed(.networkLost)
        driver.feed(.networkBack)
        driver.pass(.seconds(6))
        #expect(driver.machine.pending.contains { $0.action == .reconnect })
        driver.carryOutAll()
        #expect(driver.carriedOut.contains([.reconnect, .register, .subscribe]))
        #expect(driver.machine.position == LifecyclePosition(.suspended, .connected) && driver.machine.isSubscribed)
    }

    @Test("T13, P6: a refresh that fails behind the data of the same wake shows the loss as well")
    func lossIsSeenBehindData() {
        var driver = MachineDriver(.suspended, .connected)
        driver.feed(.keepAlive)
        driver.outcome = { $0 == .refreshRegistration ? .failed("broken pipe") : MachineDriver.well($0) }
        driver.run(.dataOnKeptSocket)
        #expect(driver.carriedOut.contains([.openNewSocket, .register, .subscribe]))
        #expect(driver.machine.position == LifecyclePosition(.suspended, .connected))
        #expect(driver.machine.isSubscribed)
    }

    @Test("T11, T15: a wake that finds the connection gone uses the rest of its time for a new one")
    func connectionLostInWake() {
        var driver = MachineDriver(.suspended, .connected)
        driver.feed(.dataOnKeptSocket)
        for _ in 0..<2 { driver.carryOutOne() }
        driver.run(.connectionLost)
        #expect(
            driver.carriedOut == [
                .resume, .beginBudget(.seconds(10)), .processSocketData, .alertUser, .openNewSocket, .register,
                .subscribe, .giveUpLocks, .rest, .prepareForBackground(interval: .seconds(600)), .endBudget,
                .allowSuspension,
            ])
        #expect(driver.machine.position == LifecyclePosition(.suspended, .connected))
        #expect(driver.run(.connectionLost).isEmpty)
        #expect(driver.run(.keepAlive).contains(.openNewSocket), "asleep it is for the next keep-alive")
    }

    @Test("T11, T15: an end of the connection that wakes like data, and cannot be read, leads to a new one")
    func unreadableData() {
        var driver = MachineDriver(.suspended, .connected)
        driver.outcome = { $0 == .processSocketData ? .failed("end of file") : MachineDriver.well($0) }
        #expect(
            driver.run(.dataOnKeptSocket) == [
                .resume, .beginBudget(.seconds(10)), .processSocketData, .alertUser, .openNewSocket, .register,
                .subscribe, .giveUpLocks, .rest, .prepareForBackground(interval: .seconds(600)), .endBudget,
                .allowSuspension,
            ])
        #expect(driver.machine.position == LifecyclePosition(.suspended, .connected) && driver.machine.isSubscribed)
    }

    @Test("T9, T11: a wake that could not make its connection anew leaves that to the foreground, or the keep-alive")
    func failedInWake() {
        var driver = MachineDriver(.suspended, .connected)
        driver.outcome = {
            $0 == .processSocketData || $0 == .openNewSocket ? .failed("end of file") : MachineDriver.well($0)
        }
        driver.feed(.dataOnKeptSocket)
        for _ in 0..<5 { driver.carryOutOne() }
        #expect(!driver.machine.isRegistered && driver.machine.position == LifecyclePosition(.background, .connected))
        driver.outcome = MachineDriver.well
        var other = driver
        driver.run(.toForeground)
        #expect(driver.machine.isSubscribed && driver.machine.position == LifecyclePosition(.foreground, .connected))
        other.carryOutAll()
        #expect(!other.machine.isRegistered && other.machine.position.application == .suspended)
        #expect(other.run(.keepAlive).contains([.openNewSocket, .register, .subscribe]))
    }

    @Test("T3, T13: an attempt of a wake that a call has taken over goes on in the background as that attempt")
    func attemptGoesOn() {
        var driver = MachineDriver(.suspended, .connected)
        driver.outcome = { $0 == .refreshRegistration ? .failed("broken pipe") : MachineDriver.well($0) }
        driver.feed(.keepAlive)
        for _ in 0..<3 { driver.carryOutOne() }
        driver.feed(.activeCallBegan)
        driver.feed(.toForeground)
        driver.feed(.toBackground)
        #expect(driver.machine.position == LifecyclePosition(.background, .disconnected))
        driver.carryOutAll()
        #expect(!driver.carriedOut.contains(.reconnect), "nobody reconnects without a network")
        #expect(driver.carriedOut.contains([.applyLevels(.background), .openNewSocket, .register, .subscribe]))
        #expect(driver.machine.isSubscribed && driver.machine.position == LifecyclePosition(.background, .connected))
    }

    @Test("T14: the network's return wakes no process")
    func networkBackWhileSuspended() {
        var driver = MachineDriver(.suspended, .disconnected)
        #expect(driver.run(.networkBack).isEmpty)
        #expect(driver.machine.position == LifecyclePosition(.suspended, .disconnected))
    }

    @Test("T16: the connection stands: presence and HTTP are restored, nothing is made anew")
    func stands() {
        var driver = MachineDriver(.suspended, .connected)
        #expect(
            driver.run(.toForeground) == [
                .resume, .checkConnectivity, .applyLevels(.foreground), .restorePresence, .restoreHTTP,
            ])
    }

    @Test(
        "T16: there is a network, and the connection is made anew as in T2",
        arguments: [(Connectivity.connected, ConnectionStatus.networkOnly), (.disconnected, .networkOnly)])
    func networkOnly(connectivity: Connectivity, check: ConnectionStatus) {
        var driver = MachineDriver(.suspended, connectivity)
        driver.outcome = { $0 == .checkConnectivity ? .done(.connection(check)) : MachineDriver.well($0) }
        #expect(
            driver.run(.toForeground)
                == [.resume, .checkConnectivity, .applyLevels(.foreground)] + TransitionTable.standard[.t2].actions)
        #expect(driver.machine.position == LifecyclePosition(.foreground, .connected))
        #expect(driver.machine.isRegistered)
    }

    @Test("T16: there is no network: told as in T1 where that is news, waited for")
    func noNetwork() {
        for connectivity in Connectivity.allCases {
            var driver = MachineDriver(.suspended, connectivity)
            driver.outcome = { $0 == .checkConnectivity ? .done(.connection(.noNetwork)) : MachineDriver.well($0) }
            let news = connectivity == .connected ? TransitionTable.standard[.t1].actions : []
            #expect(
                driver.run(.toForeground) == [.resume, .checkConnectivity, .applyLevels(.foreground)] + news)
            #expect(driver.machine.position == LifecyclePosition(.foreground, .disconnected))
            #expect(driver.run(.networkBack) == TransitionTable.standard[.t2].actions)
        }
    }

    @Test("T16: what the check finds in the background, after a quick return, is for the background")
    func checkInBackground() {
        var driver = MachineDriver(.suspended, .connected)
        driver.outcome = { $0 == .checkConnectivity ? .done(.connection(.networkOnly)) : MachineDriver.well($0) }
        driver.feed(.toForeground)
        driver.feed(.toBackground)
        driver.carryOutAll()
        #expect(
            driver.carriedOut == [
                .resume, .checkConnectivity, .applyLevels(.background), .reconnect, .register, .subscribe,
            ])
    }

    @Test("T17, P3: held by signaling without media, and at the end resuming is offered")
    func cellularCall() {
        var driver = MachineDriver(.foreground, .connected)
        driver.run(.activeCallBegan)
        #expect(driver.run(.cellularCallBegan) == [.holdActiveCalls, .takeMediaAway])
        #expect(driver.machine.conditions().hasCellularCall)
        #expect(ServiceLevelTable.standard.level(of: .activeCall, in: driver.machine.conditions()) == .signalingOnly)
        #expect(driver.run(.cellularCallBegan).isEmpty)
        #expect(driver.run(.cellularCallEnded) == [.offerResume])
        #expect(!driver.machine.conditions().hasCellularCall)
    }

    @Test("T17, P3: a call that becomes active during a cellular call is held, too")
    func callDuringCellularCall() {
        var driver = MachineDriver(.background, .connected)
        driver.run(.cellularCallBegan)
        #expect(driver.run(.activeCallBegan) == [.holdActiveCalls, .takeMediaAway])
    }

    @Test("T17: what could not be signaled without a connection is made up for when there is one")
    func cellularDebt() {
        var driver = MachineDriver(.foreground, .disconnected)
        #expect(driver.run(.cellularCallBegan).isEmpty)
        #expect(driver.run(.networkBack).suffix(2) == [.holdActiveCalls, .takeMediaAway])
        driver.run(.networkLost)
        #expect(driver.run(.cellularCallEnded).isEmpty)
        #expect(driver.run(.networkBack).last == .offerResume)
        driver.run(.networkLost)
        #expect(!driver.run(.networkBack).contains(.offerResume), "once")
    }

    @Test("T17, P3: media is taken away without a connection, too")
    func mediaWithoutConnection() {
        var driver = MachineDriver(.background, .disconnected)
        driver.run(.activeCallBegan)
        #expect(driver.run(.cellularCallBegan) == [.takeMediaAway])
        #expect(driver.run(.activeCallBegan) == [.takeMediaAway])
        #expect(driver.run(.cellularCallEnded).isEmpty)
        #expect(driver.run(.networkBack).last == .offerResume)
    }

    @Test("T17: media does not wait for an attempt to connect")
    func mediaFirst() {
        var driver = MachineDriver(.foreground, .disconnected)
        driver.feed(.networkBack)
        driver.feed(.cellularCallBegan)
        #expect(driver.machine.pending.prefix(3).map(\.action) == [.holdActiveCalls, .takeMediaAway, .reconnect])
    }

    @Test("T18: a new process knows nothing of what was before")
    func relaunch() {
        var driver = MachineDriver(.foreground, .connected)
        driver.run(.activeCallBegan)
        driver.run(.cellularCallBegan)
        driver.feed(.networkLost)
        let relaunch = driver.feed(.killedOrRebooted(finds: .disconnected))
        #expect(relaunch.actions.map(\.action) == [.relaunchWithoutUserInterface])
        #expect(relaunch.dropped.count == 2)
        driver.carryOutAll()
        #expect(driver.run(.networkBack) == [.reconnect, .register, .subscribe])
        #expect(driver.machine.activeCalls == 0 && !driver.machine.hasCellularCall)
    }
}
