package import Coordination
internal import CoreAPI

/// What the environment of a core's program, and of the command of `exclusive`, says of the core.
package enum CoreVariables {
    private static let epoch = "SHAREDCORE_EPOCH"
    private static let role = "SHAREDCORE_ROLE"
    static let group = "SHAREDCORE_GROUP"

    /// The names of those that are no settings.
    package static let names = [epoch, role]

    /// By which a service manager speaks to one process alone.
    static let ofServiceManager: Set<String> = [
        "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES",
    ]

    /// The variables that say of a core what it is.
    package static func of(_ context: CoreContext) -> [String: String] {
        [epoch: "\(context.epoch.rawValue)", role: context.role.rawValue]
    }
}
