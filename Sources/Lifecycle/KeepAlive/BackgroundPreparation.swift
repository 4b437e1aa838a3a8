/// Whether the registrations survive a time without a refresh.
///
/// Source: contract P5.
public enum BackgroundPreparation: Hashable, Sendable {
    /// All do.
    case ready
    /// Some do not, or it could not be found out.
    case notReady([BackgroundObstacle])

    /// Whether the application may sleep.
    public var isReady: Bool { self == .ready }
}
