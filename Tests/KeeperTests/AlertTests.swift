internal import CoreAPI
internal import CoreAPITesting
internal import FileNotifyBackend
internal import Glibc
internal import Lifecycle
internal import Platform
internal import TestSupport
internal import Testing

extension KeeperTests {
    @Suite("P9: alerts", .serialized)
    struct AlertTests {
        private let directory: TemporaryDirectory

        init() throws {
            directory = try TemporaryDirectory()
        }

        /// Runs a host with Executors that bring a message, and sends it a push.
        private func serve(
            on address: String, _ more: [String: String] = [:],
            _ look: (_ errors: () -> String, _ push: (String) async throws -> Void) async throws -> Void
        ) async throws {
            let script = directory.path(of: "executor")
            let text = #"""
                #!/bin/sh
                echo '{"event":"message","callID":"x","from":"Ann & Bob","text":"<b>'$SHAREDCORE_CALL_ID'</b>"}'
                """#
            try OpenFile(path: script, .create).writeStream(Array((text + "\n").utf8))
            _ = chmod(script, 0o700)
            let environment = [
                "SHAREDCORE_STATE_DIRECTORY": directory.path(of: "g"), "SHAREDCORE_CONFIG": "/dev/null",
                "SHAREDCORE_GROUP": "default", "XDG_RUNTIME_DIR": directory.path(of: "r"),
                "SHAREDCORE_EXECUTOR_COMMAND": script, "DBUS_SESSION_BUS_ADDRESS": address,
            ].merging(more) { $1 }
            let errors = directory.path(of: "errors")
            let program = try ChildProcess.built("sharedcore")
            let host = try ChildProcess(
                program, ["serve", "--log-level", "info"], environment: environment, errors: errors)
            try await eventually("the host serves") { host.lines.contains { $0.contains("serves") } }
            try await look {
                ((try? OpenFile(path: errors, .read).read(count: 1 << 16, at: 0)) ?? []).withUnsafeBytes {
                    String(decoding: $0, as: UTF8.self)
                }
            } _: { id in
                let push = try ChildProcess(program, ["push", id], environment: environment, errors: errors)
                #expect(await push.end() == .exited(0))
            }
            host.signal(.terminate)
            #expect(await host.end() == .exited(0))
        }

        @Test(
            "The message of an Executor is shown by the desktop's service, unchanged",
            .enabled(if: NotificationMock.obstacle == nil, "\(NotificationMock.obstacle ?? "")"))
        func shown() async throws {
            let mock = try await NotificationMock(in: directory)
            try await serve(on: mock.address) { _, push in
                try await push("first")
                try await eventually("it is shown") {
                    mock.notifications.contains { $0.contains("Ann & Bob") && $0.contains("&lt;b&gt;first&lt;/b&gt;") }
                }
            }
        }

        @Test(
            "While a user looks at the application there is no alert; afterwards there is",
            .enabled(if: NotificationMock.obstacle == nil, "\(NotificationMock.obstacle ?? "")"))
        func inFront() async throws {
            let mock = try await NotificationMock(in: directory)
            try await serve(on: mock.address) { errors, push in
                let group = try await FileGroup.open(
                    directory: directory.path(of: "g/default"), as: SessionDescription(role: .main, name: "front"))
                try await ApplicationStates(group).set(.foreground)
                try await push("while")
                try await eventually("it was not shown: \(errors())") { errors().contains("no alert") }
                try await ApplicationStates(group).set(.background)
                try await push("after")
                try await eventually("it is shown") { mock.notifications.contains { $0.contains("after") } }
                #expect(!mock.notifications.contains { $0.contains("while") })
                await group.close()
            }
        }

        @Test("Without a bus the alert is in the log")
        func logged() async throws {
            try await serve(on: "unix:path=/nowhere/bus") { errors, push in
                try await push("lonely")
                try await eventually("the log has it: \(errors())") {
                    errors().contains("Ann & Bob: <b>lonely</b>")
                }
            }
        }

        @Test("Without libsystemd the alert is in the log, with the reason")
        func withoutLibrary() async throws {
            // The file that the loader finds first is no library.
            let folder = directory.path(of: "lib")
            #expect(mkdir(folder, 0o755) == 0)
            _ = try OpenFile(path: folder + "/libsystemd.so.0", .create)
            try await serve(on: "unix:path=/nowhere/bus", ["LD_LIBRARY_PATH": folder]) { errors, push in
                try await push("lonely")
                try await eventually("the log has it: \(errors())") {
                    errors().contains("Ann & Bob: <b>lonely</b> (libsystemd.so.0 is not there)")
                }
            }
        }
    }
}

/// A session bus with a notification service that records its requests (python3-dbusmock).
final class NotificationMock {
    /// The reason that it cannot be had; nil where it can.
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
        service.signal(.kill)
        bus.signal(.kill)
    }

    /// The notifications that the service was asked to show.
    var notifications: [String] { service.lines.filter { $0.contains(" Notify ") } }
}
