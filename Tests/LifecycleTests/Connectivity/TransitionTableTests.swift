import CoreAPI
import LifecycleSimulation
import Testing

@testable import Lifecycle

/// The table of transitions, written down a second time, and every cell of it.
struct TransitionTableTests {
    /// The actions of each row, in order. For T6 and T16, only the actions before the answer.
    static let actions: [TransitionNumber: [ConnectivityAction]] = [
        .t1: [.tellServices(.disconnected), .flagCallsUnavailable],
        .t2: [.reconnect, .register, .subscribe, .restorePresence, .restoreHTTP, .reportLastKnownState],
        .t3: [.applyLevels(.background)],
        .t4: [.reconnect, .register, .subscribe],
        .t5: [.suspendSignaling, .flagCallsUnavailable, .failPendingRequests],
        .t6: [.giveUpLocks, .rest, .giveUpOwnership, .prepareForBackground(interval: .seconds(600))],
        .t7: [.giveUpLocks, .rest, .giveUpOwnership, .relyOnKeepAlive, .allowSuspension],
        .t8: [.applyLevels(.background)],
        .t9: [.applyLevels(.foreground), .restorePresence, .restoreHTTP],
        .t10: [.applyLevels(.foreground)],
        .t11: [.resume, .beginBudget(.seconds(10)), .processSocketData, .alertUser],
        .t12: [.resume, .beginBudget(.seconds(10)), .refreshRegistration, .refreshSubscriptions],
        .t13: [],
        .t14: [],
        .t15: [.resume, .beginBudget(.seconds(10)), .openNewSocket, .register],
        .t16: [.resume, .checkConnectivity],
        .t17: [.holdActiveCalls, .takeMediaAway],
        .t18: [.relaunchWithoutUserInterface, .reconnect, .register, .subscribe],
    ]

    @Test(
        "P2: every cell of position and event has the row that the table says, or none",
        arguments: LifecyclePosition.all)
    func cells(position: LifecyclePosition) {
        for kind in ConnectivityEvent.Kind.allCases {
            let expected = ListedCells.all.first { $0.0 == position && $0.1 == kind }?.2
            #expect(TransitionTable.standard.row(for: kind, at: position)?.number == expected, "\(position), \(kind)")
        }
    }

    @Test("P2: every row does what the table says, in this order", arguments: TransitionNumber.allCases)
    func actions(number: TransitionNumber) {
        #expect(TransitionTable.standard[number].actions == Self.actions[number])
        #expect(TransitionTable.standard[number].number == number)
    }

    @Test("P2: every row says where it comes from")
    func sources() {
        let derived: Set<TransitionNumber> = [.t2, .t3, .t4, .t5, .t7, .t9, .t10, .t13, .t16]
        for row in TransitionTable.standard.rows {
            #expect((row.source == .derived) == derived.contains(row.number), "\(row.number)")
            #expect(!row.sentence.isEmpty)
        }
    }
}

/// Every cell of the machine: each event in each position.
struct ConnectivityCellTests {
    static let events: [ConnectivityEvent] = [
        .networkLost, .networkBack, .connectionLost, .toBackground, .toForeground,
        .suspendedBySystem(interval: .seconds(600)), .dataOnKeptSocket, .keepAlive, .cellularCallBegan,
        .cellularCallEnded, .killedOrRebooted(finds: .connected),
        .killedOrRebooted(finds: .disconnected), .activeCallBegan, .activeCallEnded, .budgetOver,
    ]

    /// The destination of each row, if all answers are good. In T15 a registration on the new socket follows; in T16
    /// the connection exists unless it was lost.
    static func destination(_ number: TransitionNumber, from: LifecyclePosition) -> LifecyclePosition {
        switch number {
        case .t1: LifecyclePosition(.foreground, .disconnected)
        case .t2: LifecyclePosition(.foreground, .connected)
        case .t3, .t5: LifecyclePosition(.background, .disconnected)
        case .t4, .t8: LifecyclePosition(.background, .connected)
        case .t6, .t12, .t15: LifecyclePosition(.suspended, .connected)
        // Woken for data, and suspended again.
        case .t11: LifecyclePosition(.suspended, .connected)
        case .t7, .t13, .t14: LifecyclePosition(.suspended, .disconnected)
        case .t9, .t16: LifecyclePosition(.foreground, .connected)
        case .t10: LifecyclePosition(.foreground, .disconnected)
        case .t17: from
        case .t18: LifecyclePosition(.background, .connected)
        }
    }

    @Test("P2, scenario 34: every event in every position goes where the table says", arguments: LifecyclePosition.all)
    func everyCell(position: LifecyclePosition) throws {
        for event in Self.events {
            var driver = MachineDriver(position.application, position.connectivity)
            if event == .cellularCallEnded { driver.run(.cellularCallBegan) }
            if event == .activeCallEnded, position.application != .suspended { driver.run(.activeCallBegan) }
            let first = driver.feed(event)
            let listed = ListedCells.all.first { $0.0 == position && $0.1 == event.kind }?.2
            #expect(first.number == listed, "\(position), \(event): \(first)")
            #expect(first.from == position)
            #expect(first.event == event)
            #expect(!first.reason.isEmpty)
            driver.carryOutAll()

            if event == .killedOrRebooted(finds: .disconnected) {
                #expect(driver.machine.position == LifecyclePosition(.background, .disconnected))
            } else if let listed {
                #expect(driver.machine.position == Self.destination(listed, from: position), "\(first)")
            } else if event == .activeCallBegan, position.application == .suspended {
                // With an active call an application is not suspended.
                #expect(driver.machine.position == LifecyclePosition(.background, position.connectivity))
            } else if event == .connectionLost, position == LifecyclePosition(.background, .connected) {
                #expect(driver.machine.position == position)
                #expect(first.actions.map(\.action) == TransitionTableTests.actions[.t4], "\(first)")
            } else {
                #expect(driver.machine.position == position, "\(first)")
                #expect(first.actions.isEmpty && first.dropped.isEmpty, "\(first)")
            }
        }
    }

    @Test("P2: what is done first is what the row says, in its order", arguments: TransitionNumber.allCases)
    func firstActions(number: TransitionNumber) throws {
        for (position, kind, listed) in ListedCells.all where listed == number {
            let event = try #require(Self.events.first { $0.kind == kind })
            var driver = MachineDriver(position.application, position.connectivity)
            if kind == .cellularCallEnded { driver.run(.cellularCallBegan) }
            let done = driver.feed(event).actions.map(\.action)
            let expected = kind == .cellularCallEnded ? [.offerResume] : TransitionTableTests.actions[number]
            #expect(done == expected, "\(number) from \(position)")
        }
    }
}
