internal import KeptSockets
internal import Platform
internal import ProgramOutput

/// A keeper's exclusive hold of its directory: a lock that the kernel gives back with the process, and the socket.
struct KeeperSeat {
    let place: KeeperPlace
    let directory: Directory
    let listener: MessageSocket
    /// Held for as long as this is there.
    private let lock: OpenFile

    /// - Throws: ``KeeperFailure`` with `no` when another keeper has the directory.
    static func take(_ place: KeeperPlace) throws -> KeeperSeat {
        let directory = try Directory(path: place.directory)
        let status = try directory.status()
        guard status.owner == FileStatus.currentUser, status.permissions & 0o077 == 0 else {
            throw KeeperFailure(
                status: .configuration,
                message: "\(place.directory) must belong to this user and be of mode 0700")
        }
        let lock = try OpenFile(KeeperPlace.lockName, in: directory, .create)
        guard try lock.tryLock(byteAt: 0) else {
            throw KeeperFailure(status: .no, message: "another keeper is at work in \(place.directory)")
        }
        // A keeper that was killed leaves its socket: the lock says that no keeper answers there.
        try directory.remove(KeeperPlace.socketName)
        return KeeperSeat(
            place: place, directory: directory, listener: try MessageSocket(listeningAt: place.socket), lock: lock)
    }

    /// Whether the directory was removed: no client can find the keeper any more.
    var isGone: Bool { (try? directory.status().isRemoved) ?? false }

    /// Leaves nothing behind that would be connected to.
    func leave() {
        _ = try? directory.remove(KeeperPlace.socketName)
        withExtendedLifetime(lock) {}
    }
}
