internal import CoreAPITesting
internal import Platform
internal import Synchronization
internal import TestSupport

/// Ends the hubs in the background that tests have left, when the process of the tests is gone, also by SIGKILL.
///
/// Such a hub is a daemon: the command that starts it ends, and the kernel ends it with no process. So a shell waits
/// for the end of a pipe that only the process of the tests has. Then it ends the processes that have a lock in the
/// directories that it was told of.
final class BackgroundHubs: Sendable {
    /// For the programs of this process.
    static let shared = Result { try BackgroundHubs() }

    private let input: Mutex<OpenFile?>

    private static let script = """
        while IFS= read -r directory; do set -- "$@" "$directory"; done
        for directory; do
            [ -d "$directory" ] || continue
            find "$directory" -name '*.lock' -type f | while IFS= read -r lock; do
                SHAREDCORE_ZMQ_ENDPOINT="ipc://${lock%.lock}" XDG_STATE_HOME="$directory" "$0" hub --stop
            done
        done
        """

    init() throws {
        let pipe = try Pipe()
        let nothing = try OpenFile(path: "/dev/null", .write)
        // In a session of its own, so that no signal to the group of the tests ends it before the tests end.
        _ = try StartedProgram(
            "/bin/sh", ["-c", Self.script, try ChildProcess.built("sharedcore")],
            variables: ["SHAREDCORE_BACKEND": "zmq", "XDG_CONFIG_HOME": "/nonexistent"],
            streams: [pipe.output, nothing, nothing], ownSession: true)
        input = Mutex(pipe.input)
    }

    /// Notes a directory below which hubs may have their sockets and groups.
    func add(_ directory: String) {
        input.withLock { try? $0?.writeStream(Array((directory + "\n").utf8)) }
    }

    /// Has it done now, as the end of the process does.
    func end() {
        input.withLock { $0 = nil }
    }
}
