public import CoreAPI
package import Platform
internal import Synchronization

/// Reports whether this machine is connected to other networks, and learns of every change from the kernel.
///
/// ```swift
/// let monitor = try await NetworkMonitor.open()
/// for await state in monitor.states { print(state) }
/// ```
///
/// A state is reported when it has stood still for a quarter of a second, or after a second without quiet. Nothing
/// polls: while nothing changes, nothing runs. It belongs to the network namespace of its process.
public final class NetworkMonitor: Sendable {
    private let follower: NetworkFollower

    private init(_ follower: NetworkFollower) {
        self.follower = follower
    }

    deinit {
        follower.stop()
    }

    /// Opens a monitor, which knows the present state when this returns.
    ///
    /// - Throws: ``SharedCoreError/Code-swift.struct/system`` or ``SharedCoreError/Code-swift.struct/forbidden`` where
    ///   the kernel gives no socket for its reports, and ``SharedCoreError/Code-swift.struct/cancelled``.
    public static func open() async throws(SharedCoreError) -> NetworkMonitor {
        try await open(SharedCoreError.wrapping { () throws(SystemCallError) in try RouteSocket() })
    }

    /// Opens a monitor over another source of reports.
    package static func open(_ reports: any RouteReports) async throws(SharedCoreError) -> NetworkMonitor {
        let follower = try SharedCoreError.wrapping { () throws(SystemCallError) in try NetworkFollower(reports) }
        // From here on the monitor's end is the follower's.
        let monitor = NetworkMonitor(follower)
        try await follower.start()
        return monitor
    }

    /// The state that was told last.
    public var current: NetworkState { follower.current }

    /// The present state, and from then on each that differs from the one before. A slow consumer misses those in
    /// between, never the last one. It ends with the monitor.
    public var states: AsyncStream<NetworkState> { follower.states() }

    /// The number of times that the kernel dropped reports, after which everything was read again.
    package var losses: Int { follower.losses }

    /// Ends all streams of states.
    public func close() {
        follower.stop()
    }
}
