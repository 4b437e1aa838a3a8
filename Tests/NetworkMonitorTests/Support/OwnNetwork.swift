internal import CoreAPITesting
internal import Glibc
internal import Platform
internal import TestSupport

/// A network namespace in which a watcher prints the states that a monitor tells. It goes with the watcher.
final class OwnNetwork: Sendable {
    private let watcher: ChildProcess

    /// Returns true if this machine permits a network namespace with virtual Ethernet devices.
    static func isAllowed() async -> Bool {
        let script = "ip link add wan type veth peer name far"
        let process = try? ChildProcess(
            "unshare", namespace + ["sh", "-c", script], errors: "/dev/null")
        return await process?.end() == .exited(0)
    }

    /// - Parameter script: The commands that run in it before the watcher.
    init(_ script: String = "true") async throws {
        let program = try ChildProcess.built("sharedcore-network-watcher")
        watcher = try ChildProcess("unshare", Self.namespace + ["sh", "-c", "set -e; \(script); exec '\(program)'"])
        let watcher = watcher
        try await eventually("the watcher prints the first state") { !watcher.lines.isEmpty }
    }

    private static let isRoot = geteuid() == 0
    private static let namespace = (isRoot ? [] : ["--user", "--map-root-user"]) + ["--net"]

    /// The lines that the watcher has printed.
    var lines: [String] { watcher.lines }

    /// Runs a script in the namespace.
    func run(_ script: String) async throws {
        let user = Self.isRoot ? [] : ["--user", "--preserve-credentials"]
        let process = try ChildProcess(
            "nsenter", ["--target", "\(watcher.pid)", "--net"] + user + ["sh", "-c", "set -e; \(script)"])
        let end = await process.end()
        guard end == .exited(0) else { throw HarnessLimitation("“\(script)” in a namespace: \(end)") }
    }

    /// Waits until the last state is this one.
    func says(_ state: String) async throws {
        try await eventually("“\(state)” after \(watcher.lines)") { watcher.lines.last == state }
    }

    /// Lets the watcher stand still, or go on.
    func stop() async throws {
        watcher.signal(.stop)
        try await eventually("the watcher stands still") { watcher.isStopped }
    }

    func goOn() { watcher.signal(.continue) }
}
