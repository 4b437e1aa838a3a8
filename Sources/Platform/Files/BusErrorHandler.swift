internal import CLinux

/// Keeps the process alive when a file of a group is cut while the group is open.
///
/// Processes of a group in files share pages of them. When another program truncates such a file, the system ends a
/// process that uses the page then with SIGBUS. With the handler the process goes on: the group ends for it with
/// `unavailable` or `corrupt`, and no commit counts as done that was not. Without it, the window is the time between a
/// check of the file's size, once in some milliseconds, and the use.
///
/// SharedCore's programs install it. An application does so once, early, because a process has one handler of a signal:
///
/// ```swift
/// try BusErrorHandler.install()
/// ```
///
/// A bus error anywhere else goes to the handler that was installed before, or ends the process as ever. A handler that
/// is installed later has to do the same with this one.
public enum BusErrorHandler {
    /// Installs the handler; again does nothing.
    ///
    /// - Throws: ``SystemFailure`` when the system refuses, which it does for no known reason.
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
