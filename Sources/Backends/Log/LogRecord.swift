internal import CoreAPI
internal import Platform
internal import StoreEngine

/// A record of the log: the format, the nonces of the record and its predecessor, and an effect.
struct LogRecord {
    /// The version of the format that this file writes.
    private static let format: UInt8 = 2

    /// The nonce of the record before it; 0 in the first one of a log. A log that leaves records out, repeats them,
    /// loses its last ones or replaces one breaks this chain.
    let previous: UInt64
    /// A random number, by which the writer recognizes its record when it reads the log after an unknown outcome.
    let nonce: UInt64
    let effect: Effect
    let byteCount: Int

    /// Reads a record. The bytes are untrusted.
    ///
    /// - Throws: `corrupt`; `incompatible` for another version.
    init(_ bytes: [UInt8]) throws(SharedCoreError) {
        var reader = ByteReader(bytes)
        try Self.requireFormat(&reader)
        guard let previous = try? reader.word(), let nonce = try? reader.word(),
            case .effect(let effect) = try JournalRecord(bytes[reader.position...])
        else { throw Self.damaged("A record is no effect.") }
        (self.previous, self.nonce, self.effect, byteCount) = (previous, nonce, effect, bytes.count)
    }

    /// Makes the record of an effect for a place, and its bytes.
    static func make(of effect: Effect, at place: LogPlace) throws(SharedCoreError) -> (
        record: LogRecord, bytes: [UInt8]
    ) {
        let nonce = UInt64.random(in: 1 ... .max)
        var writer = ByteWriter()
        writer.byte(format)
        writer.word(place.tail)
        writer.word(nonce)
        let bytes = writer.bytes + (try effect.payload())
        return (LogRecord(previous: place.tail, nonce: nonce, effect: effect, byteCount: bytes.count), bytes)
    }

    private init(previous: UInt64, nonce: UInt64, effect: Effect, byteCount: Int) {
        (self.previous, self.nonce, self.effect, self.byteCount) = (previous, nonce, effect, byteCount)
    }

    /// Writes a state as the parts of a snapshot: its place, the state, and the latest changes, from which watches of a
    /// participant that joins later can resume.
    static func snapshot(of state: StoreState, at place: LogPlace) throws(SharedCoreError) -> [[UInt8]] {
        var head = ByteWriter()
        head.byte(format)
        head.word(place.tail)
        head.optional(place.bootID) { $0.bootID($1) }
        var parts = [head.bytes]
        try state.writeSnapshot { payload throws(SharedCoreError) in parts.append(payload) }
        try state.writeHistory(after: .zero) { payload throws(SharedCoreError) in parts.append(payload) }
        return parts
    }

    /// Reads the parts of ``snapshot(of:at:)`` for a position. The bytes are untrusted.
    static func state(
        of parts: [[UInt8]], at position: UInt64, limits: Limits, historyByteCount: Int
    ) throws(SharedCoreError) -> (state: StoreState, place: LogPlace) {
        var head = ByteReader(parts.first ?? [])
        try requireFormat(&head)
        var place = LogPlace(position: position)
        do throws(ByteCodingError) {
            place.tail = try head.word()
            place.bootID = try head.optional { reader throws(ByteCodingError) in try reader.bootID() }
            try head.finish()
        } catch {
            throw damaged("A snapshot has no beginning: its bytes are \(error).")
        }
        var reader = SnapshotReader(limits: limits, historyByteCount: historyByteCount)
        var history: [SnapshotPart] = []
        for part in parts.dropFirst() {
            guard case .snapshot(let part) = try JournalRecord(part[...]) else {
                throw damaged("A snapshot contains a record of another kind.")
            }
            if reader.result == nil { try reader.read(part) } else { history.append(part) }
        }
        guard var state = reader.result else { throw damaged("A snapshot is not whole.") }
        try state.prependHistory(history, at: state.revision)
        return (state, place)
    }

    static func damaged(_ message: String) -> SharedCoreError {
        SharedCoreError(.corrupt, message + " Make a new log.", at: "log")
    }

    private static func requireFormat(_ reader: inout ByteReader) throws(SharedCoreError) {
        guard let found = try? reader.byte() else { throw damaged("A record is empty.") }
        guard found == format else {
            throw SharedCoreError(
                .incompatible, "A record has the format \(found); this program knows \(format).", at: "log")
        }
    }
}

/// The facts about a participant's process that the group records beside its process id. They are the boot and the
/// namespace in which the id is valid, and the name of the socket that proves to others which process has the session.
struct ProcessMark: Hashable {
    /// The system's boot id: the group's clock may have another one.
    let bootID: BootID
    /// The namespace of process numbers.
    let namespace: UInt64

    /// Chosen at random for each session, so that no other process can take the socket's name first. Nil without a
    /// proof of the process: for a participant of an earlier release, or one without a socket.
    let token: Token?

    struct Token: Hashable {
        let high: UInt64
        let low: UInt64

        static func random() -> Token { Token(high: .random(in: 0 ... .max), low: .random(in: 0 ... .max)) }

        /// The name of the session's socket.
        var socketName: String { "log/" + String(high, radix: 16) + "-" + String(low, radix: 16) }
    }

    /// Returns the mark of this process.
    static func current(_ token: Token? = nil) -> ProcessMark {
        ProcessMark(
            bootID: ProcessIdentity.current.bootID, namespace: ProcessIdentity.currentNamespace, token: token)
    }

    var bytes: [UInt8] {
        var writer = ByteWriter()
        writer.bootID(bootID)
        writer.word(namespace)
        if let token {
            writer.word(token.high)
            writer.word(token.low)
        }
        return writer.bytes
    }

    private init(bootID: BootID, namespace: UInt64, token: Token?) {
        self.bootID = bootID
        self.namespace = namespace
        self.token = token
    }

    init?(_ bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        guard let bootID = try? reader.bootID(), let namespace = try? reader.word() else { return nil }
        var token: Token?
        if let high = try? reader.word(), let low = try? reader.word() { token = Token(high: high, low: low) }
        self.init(bootID: bootID, namespace: namespace, token: token)
    }

    /// True if process numbers of the recorded boot and namespace mean the same in this process.
    var isVisible: Bool {
        let present = ProcessMark.current()
        return bootID == present.bootID && namespace == present.namespace && namespace != 0
    }
}

extension SessionState {
    /// The session's process; nil if its process id has no meaning here: on another machine, after a restart of this
    /// one, or in another PID namespace.
    var visibleProcess: ProcessIdentity? {
        guard let mark = ProcessMark(backendData), mark.isVisible else { return nil }
        return ProcessIdentity(
            bootID: mark.bootID, pid: session.process.pid, startTime: session.process.startTime)
    }
}
