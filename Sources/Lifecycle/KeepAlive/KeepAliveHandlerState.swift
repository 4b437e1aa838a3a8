package import CoreAPI

/// A keep-alive handler as the machine knows it.
package struct KeepAliveHandlerState: Hashable, Sendable {
    package var window: KeepAliveWindow
    /// The window that it ran in last; the one before the first while it has not run.
    package var ranIn: Int64
    /// Whether somebody is there who can be called. After a restart, it is once the handler was added again.
    package var isPresent = true
    /// The call that is under way.
    package var run: KeepAliveRun?
    /// Whether that call was told that its time is nearly over.
    package var isWarned = false

    /// When it must run at the latest.
    package var latest: BootInstant { window.end(of: ranIn + 1) }

    /// From when on a call counts for a window.
    package func slackBegins(of number: Int64, share: Int) -> BootInstant {
        let slack = (window.interval / share).clampedNanoseconds
        let end = window.end(of: number).nanoseconds
        return BootInstant(nanoseconds: end > slack ? end - slack : 0)
    }
}
