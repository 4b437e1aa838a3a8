/// What decides the level of a service, beside the table.
///
/// Source: contract P1, P3.
public struct Situation: Hashable, Sendable {
    /// The state of the application.
    public var application: ApplicationState
    /// Whether the telephone of the device is in a call, which takes media away from everybody else.
    public var hasCellularCall: Bool
    /// Whether there is an active call beside the one that is asked about.
    public var hasOtherActiveCall: Bool

    public init(_ application: ApplicationState, hasCellularCall: Bool = false, hasOtherActiveCall: Bool = false) {
        self.application = application
        self.hasCellularCall = hasCellularCall
        self.hasOtherActiveCall = hasOtherActiveCall
    }
}
