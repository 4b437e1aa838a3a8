internal import Glibc

/// How a process ends that holds something.
enum HolderEnd: String, CaseIterable {
    case closed = "closed"
    case killed = "killed"
    case killedAndNotWaitedFor = "killed and not waited for"
    case killedWithAChildLeft = "killed with a child left"

    /// Lets a process end this way.
    ///
    /// - Returns: The child that it has left, which is the caller's to kill.
    func happen(to peer: Peer) async throws -> Int32? {
        switch self {
        case .closed:
            try await peer.tell("close")
        case .killed:
            peer.killNow()
        case .killedAndNotWaitedFor:
            peer.signal(SIGKILL)
            try await peer.becomesZombie()
        case .killedWithAChildLeft:
            let child = Int32(try await peer.tell("child"))
            peer.killNow()
            return child
        }
        return nil
    }
}
