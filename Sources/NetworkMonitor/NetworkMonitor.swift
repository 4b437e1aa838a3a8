public import CoreAPI
package import Platform
internal import Synchronization

/// Reports whether this machine is connected to other networks. The kernel notifies it of every change.
///
/// ```swift
/// let monitor = try await NetworkMonitor.open()
/// for await state in monitor.states { print(state) }
/// ```
///
/// A state is reported when it has not changed for a quarter of a second, or at the latest after a second of changes.
/// The monitor does not poll: it sleeps while nothing changes. It reports on the network namespace of its process.
public final class NetworkMonitor: Sendable {
    private let follower: NetworkFollower

    private init(_ follower: NetworkFollower) {
        self.follower = follower
    }

    deinit {
        follower.stop()
    }

    /// Opens a monitor. It knows the present state when this returns.
    ///
    /// - Throws: ``SharedCoreError/Code-swift.struct/system`` or ``SharedCoreError/Code-swift.struct/forbidden`` if the
    ///   kernel provides no socket for its reports, and ``SharedCoreError/Code-swift.struct/cancelled``.
    public static func open() async throws(SharedCoreError) -> NetworkMonitor {
        try await open(SharedCoreError.wrapping { () throws(SystemCallError) in try RouteSocket() })
    }

    /// Opens a monitor over another source of reports.
    package static func open(_ reports: any RouteReports) async throws(SharedCoreError) -> NetworkMonitor {
        let follower = try SharedCoreError.wrapping { () throws(SystemCallError) in try NetworkFollower(reports) }
        // From here on, releasing the monitor stops the follower.
        let monitor = NetworkMonitor(follower)
        try await follower.start()
        return monitor
    }

    /// The last reported state.
    public var current: NetworkState { follower.current }

    /// The present state, then each different one. A slow consumer may miss intermediate states, but never the last
    /// one. The stream ends with the monitor.
    public var states: AsyncStream<NetworkState> { follower.states() }

    /// The number of times that the kernel dropped reports, after which everything was read again.
    package var losses: Int { follower.losses }

    /// Ends all streams of states.
    public func close() {
        follower.stop()
    }
}
