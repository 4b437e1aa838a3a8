internal import CoreAPITesting
internal import Glibc
internal import Platform
internal import TestSupport

/// A session bus with a notification service that writes down what it is asked (python3-dbusmock).
final class NotificationMock {
    /// Why it cannot be had; nil where it can.
    static let obstacle: String? = {
        for path in [python, "/usr/bin/dbus-daemon", question, "/usr/lib/python3/dist-packages/dbusmock/__init__.py"]
        where access(path, R_OK) != 0 {
            return "the packages dbus and python3-dbusmock are not installed (\(path))"
        }
        return nil
    }()

    private static let python = "/usr/bin/python3"
    private static let question = "/usr/bin/dbus-send"

    let address: String
    private let bus: ChildProcess
    private let service: ChildProcess

    init(in directory: TemporaryDirectory) async throws {
        address = "unix:path=\(directory.path(of: "bus"))"
        bus = try ChildProcess(
            "/usr/bin/dbus-daemon", ["--session", "--nofork", "--print-address", "--address", address],
            errors: directory.path(of: "bus.log"))
        let bus = bus
        try await eventually("the bus runs") { !bus.lines.isEmpty }
        service = try ChildProcess(
            Self.python, ["-u", "-m", "dbusmock", "--template", "notification_daemon"],
            environment: ["DBUS_SESSION_BUS_ADDRESS": address], errors: directory.path(of: "mock.log"))
        try await eventually("the service is on the bus") { [address] in try await Self.isServed(address) }
    }

    private static func isServed(_ address: String) async throws -> Bool {
        let asked = try ChildProcess(
            question,
            [
                "--bus=\(address)", "--print-reply", "--dest=org.freedesktop.DBus", "/org/freedesktop/DBus",
                "org.freedesktop.DBus.NameHasOwner", "string:org.freedesktop.Notifications",
            ])
        _ = await asked.end()
        return asked.lines.contains { $0.contains("boolean true") }
    }

    deinit {
        service.signal(SIGKILL)
        bus.signal(SIGKILL)
    }

    /// What it was asked to show.
    var notifications: [String] { service.lines.filter { $0.contains(" Notify ") } }
}
