internal import CoreAPI
internal import Platform

/// How a process ends that holds something.
enum HolderEnd: String, CaseIterable {
    case closed = "closed"
    case killed = "killed"
    case killedAndNotWaitedFor = "killed and not waited for"
    case killedWithAChildLeft = "killed with a child left"

    /// Lets a process end this way.
    ///
    /// - Returns: The child that it has left, which the caller kills.
    func happen(to peer: Peer) async throws -> ProcessHandle? {
        switch self {
        case .closed:
            try await peer.tell("close")
        case .killed:
            await peer.killNow()
        case .killedAndNotWaitedFor:
            try await peer.becomesZombie()
        case .killedWithAChildLeft:
            let number = try expectSome(Int32(try await peer.tell("child")), "the number of the child")
            // While its parent lives, the number means it.
            let child = try ProcessHandle(expectSome(ProcessIdentity(of: number), "the record of the child"))
            await peer.killNow()
            return child
        }
        return nil
    }
}
