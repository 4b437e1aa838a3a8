internal import CLinux

/// Notifications on the desktop of this process's user.
package enum DesktopNotification {
    /// Shows a notification, and waits for the answer of the service that shows it. Blocks.
    ///
    /// - Parameters:
    ///   - application: The name of the application. No text may contain a NUL.
    ///   - title: One line.
    ///   - markup: The text, with its markup.
    ///   - microseconds: The timeout of each step.
    /// - Returns: The reason why it was not shown; nil if it was.
    package static func show(
        application: String, title: String, markup: String, microseconds: UInt64
    ) -> String? {
        var problem = [CChar](repeating: 0, count: 256)
        let number = clinux_notify_desktop(application, title, markup, 0, microseconds, &problem, problem.count)
        guard number < 0 else { return nil }
        return String(decoding: problem.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
