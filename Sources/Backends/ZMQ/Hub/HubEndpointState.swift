package import CoreAPI
internal import Platform

/// The state of an endpoint of this machine, according to its lock: free, or with a hub.
package enum HubEndpointState: Hashable, Sendable {
    case free
    /// No hub, and the last one did not end by itself, as when it was killed: its lock's file still names it.
    case abandoned
    /// A hub that does not answer yet, or no longer.
    case taken
    /// A hub that answers, with its process.
    case serving(ProcessIdentity)

    /// Returns the state of the endpoint at a socket's path, read from its lock.
    ///
    /// - Throws: ``SharedCoreError/Code/forbidden`` where another user may have put the lock there.
    package static func ofSocket(_ path: String) throws(SharedCoreError) -> HubEndpointState {
        try ofLock(HubLock.path(ofSocket: path))
    }

    /// Returns whether a running hub answers at a socket's path and keeps its groups in memory, not in files.
    package static func isOnMemory(atSocket path: String) throws(SharedCoreError) -> Bool {
        var record: HubRecord?
        _ = try ofLock(HubLock.path(ofSocket: path), reading: &record)
        return record?.state == .onMemory
    }

    /// Returns the state of the endpoint whose lock is at a path.
    static func ofLock(_ path: String) throws(SharedCoreError) -> HubEndpointState {
        var record: HubRecord?
        return try ofLock(path, reading: &record)
    }

    private static func ofLock(_ path: String, reading record: inout HubRecord?) throws(SharedCoreError)
        -> HubEndpointState
    {
        let path = try HubLock.trusted(path)
        do throws(SystemCallError) {
            let file = try OpenFile(path: path, .read)
            let isLocked = try file.isLocked(byteAt: HubLock.lockedByte)
            let text = String(decoding: try file.read(count: HubRecord.byteCount, at: 0), as: UTF8.self)
            guard isLocked else { return text.isEmpty || HubRecord.isOfEnd(text) ? .free : .abandoned }
            record = HubRecord(text)
            guard let record, record.state.isServing, let process = record.process else { return .taken }
            return .serving(process)
        } catch {
            if error.isAbsent || error.isNotDirectory { return .free }
            throw SharedCoreError(error)
        }
    }
}

/// The kinds of former hubs at a socket that may still have clients with running cores. Such clients learn only from
/// the next hub that their sessions have ended, so this holds until a hub has served for ``timeout``.
struct FormerClients: Hashable {
    /// The time that such a client takes until its core has stopped: to reconnect (0.5 s), to learn that its session
    /// has ended (0.25 s), and to stop a core (5 s).
    static let timeout = Duration.seconds(6)

    /// Clients of hubs on memory. No later hub knows their sessions.
    var ofMemory = false
    /// Clients of hubs on files. A hub on memory does not know their sessions.
    var ofFiles = false

    /// Returns whether a hub must wait for them before it welcomes new clients.
    func hold(hubOnMemory isOnMemory: Bool) -> Bool { ofMemory || (isOnMemory && ofFiles) }

    /// Returns the clients that may still run cores after a hub has served for ``timeout``.
    func outlasted(byHubOnMemory isOnMemory: Bool) -> FormerClients {
        FormerClients(ofMemory: false, ofFiles: !isOnMemory && ofFiles)
    }
}

/// The content of a lock's file, about a hub and those before it: `pid startTime bootID state ofMemory ofFiles`, or
/// `ended bootID ofMemory ofFiles` of one that has ended by itself. The last two are those of ``FormerClients``, 1 or
/// 0.
///
/// Records have one size, so that one write replaces another one in place: a hub that is killed at any moment leaves a
/// whole record, the former or the new one.
struct HubRecord: Hashable {
    /// The raw value is the word in the file.
    enum State: String {
        /// The hub has taken the lock, and no client could connect yet.
        case starting = "-"
        /// Clients may have connected, but the hub does not count as answering yet.
        case openingOnFiles = "-+"
        case openingOnMemory = "-*"
        /// The hub answers.
        case onFiles = "+"
        case onMemory = "*"
        case ended

        var isServing: Bool { self == .onFiles || self == .onMemory }
    }

    static let byteCount = 128

    /// The hub's process; nil for a hub that has ended.
    let process: ProcessIdentity?
    let state: State
    let former: FormerClients

    /// Creates the record of this process.
    init(_ state: State, _ former: FormerClients) {
        process = state == .ended ? nil : .current
        self.state = state
        self.former = former
    }

    /// Reads a lock's file; nil if it is not of this boot of the machine.
    init?(_ text: String) {
        var words = text.prefix { !$0.isNewline }.split(separator: " ")[...]
        let isEnded = words.first == Substring(State.ended.rawValue)
        let flags: [Substring: Bool] = ["0": false, "1": true]
        guard words.count == (isEnded ? 4 : 6), let ofFiles = words.popLast().flatMap({ flags[$0] }),
            let ofMemory = words.popLast().flatMap({ flags[$0] })
        else { return nil }
        former = FormerClients(ofMemory: ofMemory, ofFiles: ofFiles)
        let bootID = ProcessIdentity.current.bootID
        if isEnded {
            guard words.last == Substring(bootID.description) else { return nil }
            self.process = nil
            self.state = .ended
            return
        }
        guard let state = words.popLast().flatMap({ State(rawValue: String($0)) }), state != .ended,
            words.popLast() == Substring(bootID.description), let start = words.popLast().flatMap({ UInt64($0) }),
            let pid = words.popLast().flatMap({ Int32($0) })
        else { return nil }
        process = ProcessIdentity(bootID: bootID, pid: pid, startTime: start)
        self.state = state
    }

    /// Returns whether a hub wrote the record at its own end, in any boot of the machine.
    static func isOfEnd(_ text: String) -> Bool { text.hasPrefix(State.ended.rawValue + " ") }

    /// The former clients that the next hub finds with this record. A killed hub may have had clients.
    var formerClients: FormerClients {
        var left = former
        switch state {
        case .starting, .ended: break
        case .openingOnMemory, .onMemory: left.ofMemory = true
        case .openingOnFiles, .onFiles: left.ofFiles = true
        }
        return left
    }

    var bytes: [UInt8] {
        let bootID = ProcessIdentity.current.bootID
        let clients = "\(former.ofMemory ? 1 : 0) \(former.ofFiles ? 1 : 0)"
        let text =
            if let process {
                "\(process.pid) \(process.startTime) \(bootID) \(state.rawValue) \(clients)"
            } else {
                "\(state.rawValue) \(bootID) \(clients)"
            }
        let bytes = Array(text.utf8)
        return bytes + [UInt8](repeating: UInt8(ascii: " "), count: Self.byteCount - 1 - bytes.count)
            + [UInt8(ascii: "\n")]
    }
}
