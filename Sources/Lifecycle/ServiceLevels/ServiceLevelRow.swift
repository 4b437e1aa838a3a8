/// One row of the table: the levels of a service while the application runs.
///
/// There is no column for a suspended application: until it is woken, every level is ``ServiceLevel/none``.
public struct ServiceLevelRow: Hashable, Sendable {
    /// The level while the application is in the foreground.
    public var foreground: ServiceLevel
    /// The level while the application is in the background.
    public var background: ServiceLevel
    /// A note on the row, for people.
    public var note: String
    /// The source of the row.
    public var source: RuleSource

    public init(foreground: ServiceLevel, background: ServiceLevel, note: String, source: RuleSource) {
        self.foreground = foreground
        self.background = background
        self.note = note
        self.source = source
    }

    /// Returns the unmodified row of a service. A service without a row does not compile.
    ///
    /// Source: Avaya Client SDK for iOS, "Backgrounding and battery considerations", and Apple's rules for voice over
    /// IP.
    public static func standard(_ service: Service) -> ServiceLevelRow {
        switch service {
        case .registration: row(.normal, .normal, "It is needed to receive events.")
        case .subscriptions: row(.normal, .normal, "An event wakes the application.")
        case .outgoingCall: row(.normal, .normal, "While it is in progress or active.")
        case .incomingCall: row(.normal, .normal, "Its INVITE wakes the application, then the user is alerted.")
        case .activeCall: row(.normal, .normal, "Media stays.")
        case .heldCall: row(.normal, .signalingOnly, "No media in the background.")
        case .remotelyHeldCall:
            row(
                .normal, .normal,
                "Hold music plays if the network sends it; the end of the hold wakes the application, and media may"
                    + " return if there is no other active call.")
        case .presenceSubscription: row(.normal, .none, "Of all contacts but oneself.")
        case .presencePublish:
            row(
                .normal, .limited,
                "Published by itself when the state of a call changes, and not otherwise. The documents say both none"
                    + " and this.", .derived)
        case .httpServices:
            row(.normal, .none, "Pending requests finish, then the connection closes and new requests are refused.")
        }
    }

    private static func row(
        _ foreground: ServiceLevel, _ background: ServiceLevel, _ note: String,
        _ source: RuleSource = .documented(.avayaBackgrounding)
    ) -> ServiceLevelRow {
        ServiceLevelRow(foreground: foreground, background: background, note: note, source: source)
    }
}

/// The source of a row of a table.
public enum RuleSource: Hashable, Sendable, CustomStringConvertible {
    /// The rule of a published document.
    case documented(Document)
    /// The published sources do not specify it; this package decides.
    case derived
    /// The application's own configuration.
    case configured

    /// A published rule.
    public enum Document: String, CaseIterable, Hashable, Sendable {
        /// Avaya Client SDK for iOS, "Backgrounding and battery considerations".
        case avayaBackgrounding
        /// Apple's rules for voice over IP in the background: the kept socket, `setKeepAliveTimeout(_:handler:)`.
        case appleVoiceOverIP

        /// The title of the document.
        public var title: String {
            switch self {
            case .avayaBackgrounding: "Avaya Client SDK for iOS, “Backgrounding and battery considerations”"
            case .appleVoiceOverIP:
                "Apple, voice over IP in the background: kept sockets, setKeepAliveTimeout(_:handler:)"
            }
        }
    }

    public var description: String {
        switch self {
        case .documented(let document): "documented (\(document.title))"
        case .derived: "derived"
        case .configured: "configured"
        }
    }
}
