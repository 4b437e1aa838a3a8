internal import CoreAPITesting
internal import Glibc
internal import TestSupport
internal import Testing

extension HostProgram {
    /// The backends for a test of a command: files and a hub, in `make test` files alone.
    static let backends = TestScope.isCheck ? ["file", "zmq"] : ["file"]

    /// Calls `body` with a program that uses a backend, and ends the hub that it may have started.
    static func using(
        _ backend: String, _ prepared: HostProgram? = nil, _ body: (HostProgram) async throws -> Void
    ) async throws {
        var program = try prepared ?? HostProgram()
        program.environment["SHAREDCORE_BACKEND"] = backend
        do {
            try await body(program)
        } catch {
            _ = try? await program.run("hub", "--stop")
            throw error
        }
        if backend == "zmq" { _ = try await program.run("hub", "--stop") }
    }

    /// The path of the socket of the group `default`, as long as the environment names no directory for sockets.
    var socket: String { directory.path(of: "state/sharedcore/default/hub") }

    /// The content of a file beside the socket.
    func beside(_ ending: String) async throws -> String {
        try await shell("cat '\(socket)\(ending)'").output
    }

    /// The process number of the hub that has the lock.
    func hub() async throws -> Int32 {
        let word = try await beside(".lock").split(separator: " ").first
        return try #require(word.flatMap { Int32($0) })
    }
}
