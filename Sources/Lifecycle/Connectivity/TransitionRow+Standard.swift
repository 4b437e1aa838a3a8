extension TransitionRow {
    /// Returns the row of the standard table. A number without a row does not compile.
    ///
    /// Source: Avaya Client SDK for iOS, "Backgrounding and battery considerations", and Apple's rules for voice over
    /// IP; rows that they leave open are derived.
    public static func standard(_ number: TransitionNumber) -> TransitionRow {
        func row(
            _ event: ConnectivityEvent.Kind, _ from: LifecyclePosition..., to application: ApplicationState? = nil,
            connectivity: Connectivity? = nil, doing actions: [ConnectivityAction], _ source: RuleSource,
            _ sentence: String
        ) -> TransitionRow {
            TransitionRow(
                number: number, events: [event], from: from, application: application, connectivity: connectivity,
                actions: actions, source: source, sentence: sentence)
        }
        let avaya = RuleSource.documented(.avayaBackgrounding)
        let apple = RuleSource.documented(.appleVoiceOverIP)

        switch number {
        case .t1:
            return row(
                .networkLost, .foregroundConnected, connectivity: .disconnected,
                doing: [.tellServices(.disconnected), .flagCallsUnavailable], avaya,
                "Every service is told, calls are out of reach, their media is not touched.")
        case .t2:
            return row(
                .networkBack, .foregroundDisconnected, connectivity: .connected,
                doing: [.reconnect, .register, .subscribe, .restorePresence, .restoreHTTP, .reportLastKnownState],
                .derived,
                "Everything is restored, with back-off until it is. That it is so is documented, the order is derived.")
        case .t3:
            return row(
                .toBackground, .foregroundDisconnected, to: .background, doing: [.applyLevels(.background)], .derived,
                "The levels of the background; no attempt to connect is made.")
        case .t4:
            return row(
                .networkBack, .backgroundDisconnected, connectivity: .connected,
                doing: [.reconnect, .register, .subscribe],
                .derived, "One attempt; neither presence of others nor HTTP.")
        case .t5:
            return row(
                .networkLost, .backgroundConnected, connectivity: .disconnected,
                doing: [.suspendSignaling, .flagCallsUnavailable, .failPendingRequests], .derived,
                "Signaling rests, calls are out of reach, pending requests fail.")
        case .t6:
            return row(
                .suspendedBySystem, .backgroundConnected, to: .suspended,
                doing: ConnectivityAction.lettingGo + [.prepareForBackground(interval: .seconds(600))], avaya,
                "Locks are given up first, then ownership is transferred to the holder, and given up without one; where"
                    + " registrations would lapse, the application stays awake or warns.")
        case .t7:
            return row(
                .suspendedBySystem, .backgroundDisconnected, to: .suspended,
                doing: ConnectivityAction.lettingGo + [.relyOnKeepAlive, .allowSuspension], .derived,
                "Only the keep-alive will wake the application.")
        case .t8:
            return row(
                .toBackground, .foregroundConnected, to: .background, doing: [.applyLevels(.background)], avaya,
                "The levels of the background.")
        case .t9:
            return row(
                .toForeground, .backgroundConnected, to: .foreground,
                doing: [.applyLevels(.foreground), .restorePresence, .restoreHTTP], .derived,
                "Presence and HTTP are restored.")
        case .t10:
            return row(
                .toForeground, .backgroundDisconnected, to: .foreground, doing: [.applyLevels(.foreground)], .derived,
                "The levels of the foreground are what is aimed at; the network is waited for.")
        case .t11:
            return row(
                .dataOnKeptSocket, .suspendedConnected, to: .background,
                doing: [.resume, .beginBudget(.seconds(10)), .processSocketData, .alertUser], apple,
                "The application owns again, and has at most 10 s to process and alert; then it is suspended again.")
        case .t12:
            return row(
                .keepAlive, .suspendedConnected,
                doing: [.resume, .beginBudget(.seconds(10)), .refreshRegistration, .refreshSubscriptions], avaya,
                "The application owns again; registration and subscriptions are refreshed; then it rests again.")
        case .t13:
            return row(
                .networkLost, .suspendedConnected, connectivity: .disconnected, doing: [], .derived,
                "It is noticed at the next wake.")
        case .t14:
            return row(.networkBack, .suspendedDisconnected, doing: [], avaya, "Nothing until the keep-alive.")
        case .t15:
            return row(
                .keepAlive, .suspendedDisconnected,
                doing: [.resume, .beginBudget(.seconds(10)), .openNewSocket, .register], apple,
                "The application owns again; a new socket and a registration, in at most 10 s; then it rests again.")
        case .t16:
            return row(
                .toForeground, .suspendedConnected, .suspendedDisconnected, to: .foreground,
                doing: [.resume, .checkConnectivity], .derived,
                "The application owns again; the connection is checked first; then as T2 if it must be made anew.")
        case .t17:
            var call = row(
                .cellularCallBegan, .foregroundConnected, .backgroundConnected, .suspendedConnected,
                doing: [.holdActiveCalls, .takeMediaAway], avaya,
                "Active calls are held by signaling and have no media; at the end resuming is offered (the end is"
                    + " derived).")
            call.events.append(.cellularCallEnded)
            return call
        case .t18:
            var relaunch = row(
                .killedOrRebooted, to: .background,
                doing: [.relaunchWithoutUserInterface, .reconnect, .register, .subscribe], apple,
                "Relaunched without a user interface; the socket is connected again. That it is registered again, as in"
                    + " T4, is derived.")
            relaunch.from = LifecyclePosition.all
            return relaunch
        }
    }
}

extension LifecyclePosition {
    package static let foregroundConnected = LifecyclePosition(.foreground, .connected)
    package static let foregroundDisconnected = LifecyclePosition(.foreground, .disconnected)
    package static let backgroundConnected = LifecyclePosition(.background, .connected)
    package static let backgroundDisconnected = LifecyclePosition(.background, .disconnected)
    package static let suspendedConnected = LifecyclePosition(.suspended, .connected)
    package static let suspendedDisconnected = LifecyclePosition(.suspended, .disconnected)
}
