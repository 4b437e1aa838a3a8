internal import ByteCoding
public import CoreAPI

extension StoreState {
    /// The payloads of a snapshot of this state, each about 64 KiB at most unless one value is larger.
    ///
    /// A state made of them equals this one but for the history, which begins anew.
    ///
    /// - Parameter emit: Takes the payloads in their order.
    public func writeSnapshot(_ emit: ([UInt8]) throws(SharedCoreError) -> Void) throws(SharedCoreError) {
        func write(_ part: SnapshotPart) throws(SharedCoreError) {
            var writer = RecordWriter()
            try writer.snapshotPart(part)
            try emit(writer.bytes.bytes)
        }
        try write(.begin(revision))
        for session in sessions.values.sorted(by: { $0.session.id < $1.session.id }) { try write(.sessions([session])) }

        var batch: [(key: Key, entry: StoredEntry)] = []
        var size = 0
        for key in entries.keys.sorted() {
            guard let entry = entries[key] else { continue }
            let byteCount = key.text.utf8.count + entry.value.count + 32
            if !batch.isEmpty, size + byteCount > 64 << 10 {
                try write(.entries(batch))
                batch = []
                size = 0
            }
            batch.append((key, entry))
            size += byteCount
        }
        if !batch.isEmpty { try write(.entries(batch)) }

        var names = topics.keys.sorted()[...]
        while !names.isEmpty {
            try write(.topics(names.prefix(512).compactMap { name in topics[name].map { (name, $0) } }))
            names = names.dropFirst(512)
        }
        try write(.end)
    }
}

/// Makes a state of the records of a snapshot.
public struct SnapshotReader: Sendable {
    private var state: StoreState
    private var progress = Progress.before

    private enum Progress: Sendable {
        case before, within, complete
    }

    /// A reader of a snapshot for a state with these bounds.
    public init(limits: Limits, historyByteCount: Int) {
        state = StoreState(limits: limits, historyByteCount: historyByteCount)
    }

    /// The state, once the snapshot is complete.
    public var result: StoreState? {
        progress == .complete ? state : nil
    }

    /// Takes the next record.
    ///
    /// - Throws: ``SharedCoreError/Code/corrupt`` when it does not belong there.
    public mutating func read(_ part: SnapshotPart) throws(SharedCoreError) {
        switch (progress, part) {
        case (.before, .begin(let revision)):
            state.revision = revision
            state.history.restart(at: revision)
            progress = .within
        case (.within, .sessions(let sessions)):
            for session in sessions { state.sessions[session.session.id] = session }
        case (.within, .entries(let entries)):
            for (key, entry) in entries {
                guard state.entries[key] == nil else { throw Self.misplaced }
                state.insert(key, entry)
            }
        case (.within, .topics(let topics)):
            for (name, topic) in topics { state.topics[name] = topic }
        case (.within, .end):
            progress = .complete
        default: throw Self.misplaced
        }
    }

    private static var misplaced: SharedCoreError {
        SharedCoreError(.corrupt, "The records of a snapshot are not in their order.", at: "journal snapshot")
    }
}

extension StoreState {
    /// Takes over the content of a state at the same revision, made of a snapshot, and keeps the history: what a
    /// replica does when the journal that its external values lie in is replaced.
    ///
    /// - Parameter revision: The history up to here is forgotten, so that it does not refer to old journals for ever.
    public mutating func adoptContent(of other: StoreState, forgettingThrough revision: Revision = .zero) {
        var kept = history
        kept.forget(through: revision)
        self = other
        history = kept
    }
}
