package import CoreAPI
internal import Platform

/// Whether a hub of this machine serves somewhere, as the lock there tells.
package enum HubSeat: Hashable, Sendable {
    case free
    /// None, and the last one did not end by itself, as when it was killed: its lock's file still names it.
    case abandoned
    /// A hub that does not answer yet, or not any more.
    case taken
    /// A hub that answers: its process.
    case serving(ProcessIdentity)

    /// Looks at a socket's path.
    ///
    /// - Throws: ``SharedCoreError/Code/forbidden`` where another user may have put the lock there.
    package static func ofSocket(_ path: String) throws(SharedCoreError) -> HubSeat {
        try ofLock(HubLock.path(ofSocket: path))
    }

    /// Whether a hub that serves its own memory answers at a socket's path.
    package static func isOnMemory(atSocket path: String) throws(SharedCoreError) -> Bool {
        var process: HubProcess?
        _ = try ofLock(HubLock.path(ofSocket: path), naming: &process)
        return process?.isOnMemory == true
    }

    /// Looks at the path of a lock.
    static func ofLock(_ path: String) throws(SharedCoreError) -> HubSeat {
        var process: HubProcess?
        return try ofLock(path, naming: &process)
    }

    private static func ofLock(_ path: String, naming process: inout HubProcess?) throws(SharedCoreError) -> HubSeat {
        let path = try HubLock.trusted(path)
        do throws(SystemCallError) {
            let file = try OpenFile(path: path, .read)
            guard try file.isLocked(byteAt: HubLock.lockedByte) else {
                let left = String(decoding: try file.read(count: 256, at: 0), as: UTF8.self)
                return left.isEmpty || left == HubProcess.endedBeforeClients ? .free : .abandoned
            }
            let text = String(decoding: try file.read(count: 256, at: 0), as: UTF8.self)
            process = HubProcess(text)
            return process.map { .serving($0.identity) } ?? .taken
        } catch {
            if error.isAbsent || error.isNotDirectory { return .free }
            throw SharedCoreError(error)
        }
    }
}

/// The process of a hub, as its lock's file names it: `pid startTime bootID`, and `+` when it answers, `*` when it does and
/// serves its own memory, `-` as long as it does not answer.
struct HubProcess: Hashable {
    let identity: ProcessIdentity
    /// Whether it serves the memory of the process: the files of the group's directory are not what it serves.
    let isOnMemory: Bool

    /// What the file says behind a hub on memory that has ended by itself while it had clients.
    static var endedBeforeClients: String { "ended \(ProcessIdentity.current.bootID)\n" }

    /// This process.
    init(isOnMemory: Bool) {
        identity = .current
        self.isOnMemory = isOnMemory
    }

    /// Reads a lock's file; nil while the hub does not answer yet.
    init?(_ text: String) {
        let words = text.split(whereSeparator: \.isWhitespace)
        guard words.count == 4, words[3] == "+" || words[3] == "*", let pid = Int32(words[0]),
            let start = UInt64(words[1]),
            words[2] == ProcessIdentity.current.bootID.description
        else { return nil }
        identity = ProcessIdentity(bootID: ProcessIdentity.current.bootID, pid: pid, startTime: start)
        isOnMemory = words[3] == "*"
    }

    /// What the file says; as long in all cases.
    func text(isServing: Bool) -> String {
        let state = isServing ? isOnMemory ? "*" : "+" : "-"
        return "\(identity.pid) \(identity.startTime) \(identity.bootID) \(state)\n"
    }
}
