internal import KeptSockets
internal import Platform

/// The duplicates of Main's sockets, and the watch for data on them while Main is away.
struct KeptSocketTable {
    private struct Kept {
        let file: OpenFile
        let key: UInt64
    }

    private var sockets: [String: Kept] = [:]
    private let readiness: ReadinessSet
    private var isWatching = false
    private var lastKey: UInt64 = 0

    init() throws {
        readiness = try ReadinessSet()
    }

    /// The descriptor to poll for reading while ``watch(_:)`` is on.
    var descriptor: Int32 { readiness.descriptor }
    var names: [String] { sockets.keys.sorted() }

    func file(_ name: String) -> OpenFile? { sockets[name]?.file }

    mutating func keep(_ file: OpenFile, as name: String) throws(KeeperProblem) {
        guard let status = try? file.status(), status.isSocket else {
            throw KeeperProblem(.noSocket, "what came is no socket")
        }
        guard sockets[name] != nil || sockets.count < KeeperLimits.socketCount else {
            throw KeeperProblem(.tooMany, "\(KeeperLimits.socketCount) sockets are kept already")
        }
        release(name)
        lastKey += 1
        sockets[name] = Kept(file: file, key: lastKey)
        if isWatching { try? readiness.add(file.descriptor, key: lastKey) }
    }

    /// Stops keeping a socket, and closes this process's duplicate of it.
    ///
    /// - Returns: True if the socket was kept.
    @discardableResult
    mutating func release(_ name: String) -> Bool {
        guard let kept = sockets.removeValue(forKey: name) else { return false }
        // Remove the descriptor from the watch first: Main has the same open file description, so closing the duplicate
        // does not end the watch.
        readiness.remove(kept.file.descriptor)
        return true
    }

    mutating func releaseAll() {
        for name in names { release(name) }
    }

    /// Starts or stops the watch. Data that has already arrived is reported as new.
    mutating func watch(_ isOn: Bool) {
        guard isOn != isWatching else { return }
        isWatching = isOn
        for kept in sockets.values {
            if isOn {
                try? readiness.add(kept.file.descriptor, key: kept.key)
            } else {
                readiness.remove(kept.file.descriptor)
            }
        }
    }

    /// Returns whether data has come since the last call; it is reported once for each socket and watch.
    func takeData() -> Bool {
        let keys = Set(readiness.take())
        return sockets.values.contains { keys.contains($0.key) }
    }
}
