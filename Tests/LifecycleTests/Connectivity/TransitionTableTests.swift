import Lifecycle
import LifecycleSimulation
import Testing

/// The table of transitions, written down a second time, and every cell of it.
struct TransitionTableTests {
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
