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

        /// Runs a host whose Executors bring a message, and gives it a push.
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
                "SHAREDCORE_DIR": directory.path(of: "g"), "SHAREDCORE_CONFIG": "/dev/null",
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
            host.signal(SIGTERM)
            #expect(await host.end() == .exited(0))
        }

        @Test(
            "What an Executor brings is shown by the desktop's service, as it stands",
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

        @Test("Where there is no bus the log has it")
        func logged() async throws {
            try await serve(on: "unix:path=/nowhere/bus") { errors, push in
                try await push("lonely")
                try await eventually("the log has it: \(errors())") {
                    errors().contains("Ann & Bob: <b>lonely</b>")
                }
            }
        }

        @Test("Where libsystemd is not there the log has it, and why")
        func withoutLibrary() async throws {
            // What the loader finds first is no library.
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
