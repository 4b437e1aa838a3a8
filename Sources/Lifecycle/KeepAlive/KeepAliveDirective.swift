public import CoreAPI

/// What the keep-alive wants done now.
///
/// Source: contract P4.
public enum KeepAliveDirective: Hashable, Sendable {
    /// Call a handler.
    case run(KeepAliveRun)
    /// Tell a handler that its time is nearly over.
    case warn(handler: String, endsAt: BootInstant)
    /// End a handler: its time is over.
    case cutOff(handler: String)
}
