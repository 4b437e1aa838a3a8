import Lifecycle
import Testing

/// The table of transitions, written down a second time, and every cell of it.
struct TransitionTableTests {
    /// Where each event leads from each position. What is not here is not listed.
    static let listed: [(LifePosition, ConnectivityEvent.Kind, TransitionNumber)] = {
        let foreground = ApplicationState.foreground
        var cells: [(LifePosition, ConnectivityEvent.Kind, TransitionNumber)] = [
            (LifePosition(foreground, .connected), .networkLost, .t1),
            (LifePosition(foreground, .disconnected), .networkBack, .t2),
            (LifePosition(foreground, .disconnected), .toBackground, .t3),
            (LifePosition(.background, .disconnected), .networkBack, .t4),
            (LifePosition(.background, .connected), .networkLost, .t5),
            (LifePosition(.background, .connected), .suspendedBySystem, .t6),
            (LifePosition(.background, .disconnected), .suspendedBySystem, .t7),
            (LifePosition(foreground, .connected), .toBackground, .t8),
            (LifePosition(.background, .connected), .toForeground, .t9),
            (LifePosition(.background, .disconnected), .toForeground, .t10),
            (LifePosition(.suspended, .connected), .dataOnKeptSocket, .t11),
            (LifePosition(.suspended, .connected), .keepAlive, .t12),
            (LifePosition(.suspended, .connected), .networkLost, .t13),
            (LifePosition(.suspended, .disconnected), .networkBack, .t14),
            (LifePosition(.suspended, .disconnected), .keepAlive, .t15),
            (LifePosition(.suspended, .connected), .toForeground, .t16),
            (LifePosition(.suspended, .disconnected), .toForeground, .t16),
        ]
        for application in ApplicationState.allCases {
            cells.append((LifePosition(application, .connected), .cellularCallBegan, .t17))
            cells.append((LifePosition(application, .connected), .cellularCallEnded, .t17))
            for connectivity in Connectivity.allCases {
                cells.append((LifePosition(application, connectivity), .killedOrRebooted, .t18))
            }
        }
        return cells
    }()

    /// What each row does, in order. Of T6 and T16 the part before the answer.
    static let actions: [TransitionNumber: [ConnectivityAction]] = [
        .t1: [.tellServices(.disconnected), .flagCallsUnavailable],
        .t2: [.reconnect, .register, .subscribe, .restorePresence, .restoreHTTP, .reportLastKnownState],
        .t3: [.applyLevels(.background)],
        .t4: [.reconnect, .register, .subscribe],
        .t5: [.suspendSignaling, .flagCallsUnavailable, .failPendingRequests],
        .t6: [.giveUpOwnershipAndLocks, .prepareForBackground(interval: .seconds(600))],
        .t7: [.giveUpOwnershipAndLocks, .relyOnKeepAlive, .allowSuspension],
        .t8: [.applyLevels(.background)],
        .t9: [.applyLevels(.foreground), .restorePresence, .restoreHTTP],
        .t10: [.applyLevels(.foreground)],
        .t11: [.beginBudget(.seconds(10)), .processSocketData, .alertUser],
        .t12: [.beginBudget(.seconds(10)), .refreshRegistration, .refreshSubscriptions],
        .t13: [],
        .t14: [],
        .t15: [.beginBudget(.seconds(10)), .openNewSocket, .register],
        .t16: [.checkConnectivity],
        .t17: [.holdActiveCalls, .takeMediaAway],
        .t18: [.relaunchWithoutUserInterface, .reconnect, .register, .subscribe],
    ]

    @Test("P2: every cell of position and event has the row that the table says, or none", arguments: LifePosition.all)
    func cells(position: LifePosition) {
        for kind in ConnectivityEvent.Kind.allCases {
            let expected = Self.listed.first { $0.0 == position && $0.1 == kind }?.2
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
