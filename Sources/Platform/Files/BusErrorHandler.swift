internal import CLinux

/// Keeps the process alive when a file of a group is cut while the group is open.
///
/// Processes of a group in files share pages of them. If another program truncates such a file, the kernel ends a
/// process that then uses the page with SIGBUS. With the handler the process continues: the group ends for it with
/// `unavailable` or `corrupt`, and no failed commit counts as done. Without the handler, the process is at risk between
/// a check of the file's size, once every few milliseconds, and the use.
///
/// SharedCore's programs install it. An application does so once, early, because a process has one handler of a signal:
///
/// ```swift
/// try BusErrorHandler.install()
/// ```
///
/// A bus error elsewhere goes to the handler that was installed before, or ends the process as usual. A handler that is
/// installed later must do the same with this one.
public enum BusErrorHandler {
    /// Installs the handler. Idempotent.
    ///
    /// - Throws: ``SystemFailure`` when the system refuses, for which no reason is known.
    public static func install() throws(SystemFailure) {
        let result = clinux_handle_bus_errors()
        if result < 0 { throw SystemFailure(number: -result) }
    }

    /// The system refused to install a handler.
    public struct SystemFailure: Error, Hashable, Sendable {
        /// The system's error number.
        public let number: Int32
    }
}
