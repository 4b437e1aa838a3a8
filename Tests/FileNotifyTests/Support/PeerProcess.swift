internal import CoreAPITesting
internal import Glibc
internal import Platform
internal import TestSupport

/// The second process of these tests.
typealias PeerProcess = Peer

/// The fail point of a process that does not poll without a signal, as all others do every ten seconds.
///
/// The process sees only changes that it was woken for, however long that takes on a busy machine.
let onlyWhenWoken = "look.idle:fail"

extension Peer {
    /// Starts a peer.
    ///
    /// - Parameters:
    ///   - failPoint: The place at which it stops or dies; see `FailPoint` in the backend.
    ///   - arguments: The command that runs before it and executes it, such as a change of the user.
    convenience init(failPoint: String? = nil, through arguments: [String] = []) throws {
        let program = PeerProgram(path: try ChildProcess.built("sharedcore-test-peer"))
        try self.init(program, environment: ["SHAREDCORE_FAIL_POINT": failPoint], through: arguments)
    }

    /// Starts a peer that has the group open.
    static func joining(
        _ directory: String, failPoint: String? = nil, disk: Bool = false, through arguments: [String] = []
    ) async throws -> Peer {
        let peer = try Peer(failPoint: failPoint, through: arguments)
        _ = try await peer.answer()
        try await peer.tell("open \(directory)\(disk ? " disk" : "")")
        return peer
    }
}
