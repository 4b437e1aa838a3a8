internal import CoreAPI
internal import Platform
internal import StoreEngine

/// A record of the log: the format, a number by which its writer finds it again, and an effect.
struct LogRecord {
    /// The version of what this file writes.
    private static let format: UInt8 = 1

    /// Chosen at random for each record.
    let nonce: UInt64
    let effect: Effect

    /// Reads a record. Nothing is trusted.
    ///
    /// - Throws: `corrupt`; `incompatible` for another version.
    init(_ bytes: [UInt8]) throws(SharedCoreError) {
        var reader = ByteReader(bytes)
        try Self.requireFormat(&reader)
        guard let nonce = try? reader.word(),
            case .effect(let effect) = try JournalRecord(bytes[reader.position...])
        else { throw Self.damaged("A record is no effect.") }
        self.nonce = nonce
        self.effect = effect
    }

    /// Writes an effect as a record.
    static func bytes(of effect: Effect, nonce: UInt64) throws(SharedCoreError) -> [UInt8] {
        var writer = ByteWriter()
        writer.byte(format)
        writer.word(nonce)
        return writer.bytes + (try effect.payload())
    }

    /// Writes a state as the parts of a snapshot: the run of the machine, the state, and the latest changes, from which
    /// the watches of a participant can resume that joins later.
    static func snapshot(of state: StoreState, in bootID: BootID) throws(SharedCoreError) -> [[UInt8]] {
        var head = ByteWriter()
        head.byte(format)
        head.word(bootID.high)
        head.word(bootID.low)
        var parts = [head.bytes]
        try state.writeSnapshot { payload throws(SharedCoreError) in parts.append(payload) }
        try state.writeHistory(after: .zero) { payload throws(SharedCoreError) in parts.append(payload) }
        return parts
    }

    /// Reads what ``snapshot(of:in:)`` gave. Nothing is trusted.
    static func state(
        of parts: [[UInt8]], limits: Limits, historyByteCount: Int
    ) throws(SharedCoreError) -> (StoreState, BootID) {
        var head = ByteReader(parts.first ?? [])
        try requireFormat(&head)
        guard let high = try? head.word(), let low = try? head.word(), (try? head.finish()) != nil else {
            throw damaged("A snapshot has no beginning.")
        }
        var reader = SnapshotReader(limits: limits, historyByteCount: historyByteCount)
        var history: [SnapshotPart] = []
        for part in parts.dropFirst() {
            guard case .snapshot(let part) = try JournalRecord(part[...]) else {
                throw damaged("A record stands within a snapshot.")
            }
            if reader.result == nil { try reader.read(part) } else { history.append(part) }
        }
        guard var state = reader.result else { throw damaged("A snapshot is not whole.") }
        try state.prependHistory(history, at: state.revision)
        return (state, BootID(high: high, low: low))
    }

    static func damaged(_ message: String) -> SharedCoreError {
        SharedCoreError(.corrupt, message, at: "log")
    }

    private static func requireFormat(_ reader: inout ByteReader) throws(SharedCoreError) {
        guard let found = try? reader.byte() else { throw damaged("A record is empty.") }
        guard found == format else {
            throw SharedCoreError(
                .incompatible, "A record has the format \(found); this program knows \(format).", at: "log")
        }
    }
}

/// What the group records of a participant's process beside its number: where that number means something.
struct ProcessMark: Hashable {
    /// The run of the machine as the system tells it: a group may live by a clock with another boot id.
    let bootID: BootID
    /// The namespace of process numbers.
    let namespace: UInt64

    static var current: ProcessMark {
        ProcessMark(bootID: ProcessIdentity.current.bootID, namespace: ProcessIdentity.currentNamespace)
    }

    var bytes: [UInt8] {
        var writer = ByteWriter()
        for word in [bootID.high, bootID.low, namespace] { writer.word(word) }
        return writer.bytes
    }

    private init(bootID: BootID, namespace: UInt64) {
        self.bootID = bootID
        self.namespace = namespace
    }

    init?(_ bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        guard let high = try? reader.word(), let low = try? reader.word(), let namespace = try? reader.word() else {
            return nil
        }
        self.init(bootID: BootID(high: high, low: low), namespace: namespace)
    }
}

extension SessionState {
    /// The session's process as the system knows it; nil where its number means nothing here: on another machine, after
    /// a new start of this one, or in another namespace.
    var visibleProcess: ProcessIdentity? {
        let present = ProcessMark.current
        guard ProcessMark(backendData) == present, present.namespace != 0 else { return nil }
        return ProcessIdentity(
            bootID: present.bootID, pid: session.process.pid, startTime: session.process.startTime)
    }
}
