package import Lifecycle

/// The cells of the table of transitions, written down a second time.
package enum ListedCells {
    /// Where each event leads from each position. What is not here is not listed.
    package static let all: [(LifePosition, ConnectivityEvent.Kind, TransitionNumber)] = {
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
}
