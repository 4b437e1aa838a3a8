/// Where a row of a table comes from.
public enum RuleSource: Hashable, Sendable, CustomStringConvertible {
    /// Somebody else's published rule.
    case documented(Document)
    /// The sources leave it open; this package decides.
    case derived
    /// The application's own configuration.
    case configured

    /// A published rule.
    public enum Document: String, CaseIterable, Hashable, Sendable {
        /// Avaya Client SDK for iOS, "Backgrounding and battery considerations".
        case avayaBackgrounding
        /// Apple's rules for voice over IP in the background: the kept socket, `setKeepAliveTimeout(_:handler:)`.
        case appleVoiceOverIP

        /// How to find it.
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
