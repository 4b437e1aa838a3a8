internal import CLinux

/// Notices of the desktop that this process's user has before them.
package enum DesktopNotification {
    /// Shows a notice, and waits for the answer of the service that shows it. Blocks.
    ///
    /// - Parameters:
    ///   - application: The name of the application. No text may have a NUL.
    ///   - title: One line.
    ///   - markup: The text, with its markup.
    ///   - microseconds: How long each step may take.
    /// - Returns: Why it was not shown; nil where it was.
    package static func show(
        application: String, title: String, markup: String, microseconds: UInt64
    ) -> String? {
        var problem = [CChar](repeating: 0, count: 256)
        let number = clinux_notify_desktop(application, title, markup, 0, microseconds, &problem, problem.count)
        guard number < 0 else { return nil }
        return String(decoding: problem.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
