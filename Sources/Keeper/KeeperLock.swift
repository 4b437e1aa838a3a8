internal import KeptSockets
internal import Platform
internal import ProgramOutput

/// A keeper's exclusive use of its directory: a lock, which the kernel releases with the process, and the socket.
struct KeeperLock {
    let place: KeeperPlace
    let directory: Directory
    let listener: MessageSocket
    /// The open file with the lock, which is held as long as this value exists.
    private let lock: OpenFile

    /// Takes the lock of the keeper's directory, and listens at its socket.
    ///
    /// - Throws: ``KeeperFailure`` with `no` when another keeper has the directory.
    static func take(_ place: KeeperPlace) throws -> KeeperLock {
        guard case .found(let directory) = try Directory.follow(place.directory, lastIsLink: false) else {
            throw KeeperFailure(
                status: .configuration,
                message: "a symbolic link of another user is on the path \(place.directory)")
        }
        let status = try directory.status()
        guard status.owner == FileStatus.currentUser, status.permissions & 0o077 == 0 else {
            throw KeeperFailure(
                status: .configuration,
                message: "\(place.directory) has owner \(status.owner) and mode "
                    + "\(String(status.permissions, radix: 8)); it must belong to this user, \(FileStatus.currentUser), and have mode 700"
            )
        }
        let lock = try OpenFile(KeeperPlace.lockName, in: directory, .create)
        guard try lock.tryLock(byteAt: 0) else {
            throw KeeperFailure(status: .no, message: "another keeper is at work in \(place.directory)")
        }
        // Remove the socket that a killed keeper has left. This process has the lock, so no other keeper listens at the
        // socket.
        try directory.remove(KeeperPlace.socketName)
        return KeeperLock(
            place: place, directory: directory, listener: try MessageSocket(listeningAt: place.socket), lock: lock)
    }

    /// True if the directory was removed: no client can find the keeper any more.
    var isGone: Bool { (try? directory.status().isRemoved) ?? false }

    /// Removes the socket, so that no client connects to it.
    func leave() {
        _ = try? directory.remove(KeeperPlace.socketName)
        withExtendedLifetime(lock) {}
    }
}

/// A connection to the keeper.
final class Visitor {
    let socket: MessageSocket
    /// The connection has ended, or must be closed.
    private(set) var isGone = false

    init(_ socket: MessageSocket) {
        self.socket = socket
    }

    /// Sends a message. Does not wait for a peer that does not read.
    func send(_ message: KeeperMessage, with file: OpenFile? = nil) {
        guard !isGone else { return }
        do throws(SystemCallError) {
            try socket.send(Array(message.text.utf8), with: file.map { [$0] } ?? [])
        } catch {
            isGone = true
        }
    }

    /// Returns the next request; nil if there is none now. An invalid message is refused and dropped.
    func next() -> (KeeperRequest, OpenFile?)? {
        while !isGone {
            switch socket.receive(upTo: KeeperLimits.messageByteCount) {
            case .message(let bytes, let files):
                do throws(KeeperProblem) {
                    return (try KeeperRequest(bytes), files.first)
                } catch {
                    send(.refused(error))
                }
            case .tooLong:
                send(.refused(KeeperProblem(.tooLong, "a message has \(KeeperLimits.messageByteCount) bytes at most")))
            case .nothing: return nil
            case .end: isGone = true
            }
        }
        return nil
    }
}
