package import CoreAPI

extension StoreState {
    /// Emits the payloads of a snapshot of this state, each at most about 64 KiB unless one value is larger.
    ///
    /// The frames of a snapshot for a journal have ``snapshotByteCount`` bytes in all.
    ///
    /// A state read from them equals this one except for the history, which starts empty.
    ///
    /// - Parameters:
    ///   - reader: The kind of reader that the snapshot is for.
    ///   - emit: Takes the payloads in order.
    package func writeSnapshot(
        for reader: SnapshotReaderKind = .journal, _ emit: ([UInt8]) throws(SharedCoreError) -> Void
    ) throws(SharedCoreError) {
        func write(_ part: SnapshotPart) throws(SharedCoreError) {
            var writer = RecordWriter()
            try writer.snapshotPart(part)
            try emit(writer.bytes.bytes)
        }
        try write(.begin(revision))
        for session in sessions.values.sorted(by: { $0.session.id < $1.session.id }) {
            switch reader {
            case .journal:
                try write(.sessions([session]))
                if !session.deliveries.isEmpty { try write(.deliveries(session.session.id, session.deliveries)) }
            case .replica:
                try write(.sessions([SessionState(session: session.session, backendData: [])]))
            }
        }

        var batch: [(key: Key, entry: StoredEntry)] = []
        for key in entries.keys.sorted() {
            guard let entry = entries[key] else { continue }
            guard entry.recordByteCount(under: key) <= SnapshotSize.sharedEntryByteCount else {
                try write(.entries([(key, entry)]))
                continue
            }
            batch.append((key, entry))
            guard batch.count == SnapshotSize.elementsPerRecord else { continue }
            try write(.entries(batch))
            batch = []
        }
        if !batch.isEmpty { try write(.entries(batch)) }

        if topics.forgotten != ForgottenNames() { try write(.forgottenNames(topics.forgotten)) }
        let names = topics.names.sorted()
        for isLater in [false, true] {
            let named = names.compactMap { name in topics[name].map { (name: name, topic: $0) } }
            var rest = named.filter { ($0.topic.firstCount != 0) == isLater }[...]
            while !rest.isEmpty {
                let record = rest.prefix(SnapshotSize.elementsPerRecord)
                try write(.topics(Array(record)))
                rest = rest.dropFirst(record.count)
            }
        }
        if case .replica(let revision?) = reader { try writeHistory(after: revision, emit) }
        try write(.end)
    }
}

/// The kinds of readers of a snapshot.
package enum SnapshotReaderKind: Hashable, Sendable {
    /// For a journal, from which processes continue the order: everything except the history.
    case journal
    /// For a remote replica, which evaluates no requests: without the session data that only the order's own backend
    /// needs, and with the history after a revision; nil for none.
    case replica(historyAfter: Revision?)
}

/// Builds a state from the records of a snapshot.
package struct SnapshotReader: Sendable {
    private var state: StoreState
    private var progress = Progress.before
    /// True after the beginning was read.
    private var isBegun = false

    private enum Progress: Sendable {
        case before, within, complete
    }

    /// Creates a reader for a state with these bounds.
    package init(limits: Limits, historyByteCount: Int, effectByteCount: Int = 0, forgetsNames: Bool = true) {
        state = StoreState(
            limits: limits, historyByteCount: historyByteCount, effectByteCount: effectByteCount,
            forgetsNames: forgetsNames)
    }

    /// The state, once the snapshot is complete.
    package var result: StoreState? {
        progress == .complete ? state : nil
    }

    /// The state of the records read so far, for a damaged snapshot. Its revision is that of the first record or,
    /// without that, the highest one of the records that were read; see ``StoreState/removeOrphans()``.
    package var survivingState: StoreState {
        guard !isBegun else { return state }
        var state = state
        let revisions =
            state.entries.values.map(\.revision) + state.sessions.keys.map { Revision(rawValue: $0.rawValue) }
            + state.topics.names.compactMap { state.topics[$0]?.revision }
        state.stand(at: revisions.max() ?? .zero)
        return state
    }

    /// Takes the next record of a snapshot with a damaged beginning.
    ///
    /// - Throws: The errors of ``read(_:)``.
    package mutating func readSurviving(_ part: SnapshotPart) throws(SharedCoreError) {
        if progress == .before {
            progress = .within
            if case .begin = part { progress = .before }
        }
        try read(part)
    }

    /// Takes the next record.
    ///
    /// - Throws: ``SharedCoreError/Code/corrupt`` when the record is out of sequence.
    package mutating func read(_ part: SnapshotPart) throws(SharedCoreError) {
        switch (progress, part) {
        case (.before, .begin(let revision)):
            state.stand(at: revision)
            isBegun = true
            progress = .within
        case (.within, .sessions(let sessions)):
            for session in sessions { state.enter(session) }
        case (.within, .entries(let entries)):
            for (key, entry) in entries {
                guard state.entries[key] == nil else { throw Self.misplaced }
                state.insert(key, entry)
            }
        case (.within, .topics(let topics)):
            for (name, topic) in topics { state.enter(topic, under: name) }
        case (.within, .forgottenNames(let forgotten)):
            state.topics.forgotten = forgotten
        case (.within, .deliveries(let session, let deliveries)):
            guard state.sessions[session] != nil else { throw Self.misplaced }
            state.change(session) { $0.restore(deliveries) }
        case (.within, .history(let commits)):
            let revision = state.revision
            for commit in commits { try state.history.take(commit, at: revision) }
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
    /// Sets the first revision, with an empty history.
    fileprivate mutating func stand(at revision: Revision) {
        self.revision = revision
        lastSessionEnd = revision
        history.restart(at: revision)
        effects?.restart(at: revision)
    }

    /// Adopts the content of a state at the same revision, read from a snapshot, and keeps the history. A replica does
    /// so when the journal with its external values is replaced.
    ///
    /// - Parameters:
    ///   - other: The state with the content.
    ///   - revision: The history up to this revision is dropped, because its changes would refer to old journals and
    ///     keep them open.
    package mutating func adoptContent(of other: StoreState, forgettingThrough revision: Revision = .zero) {
        var kept = history
        kept.forget(through: revision)
        var keptEffects = effects
        keptEffects?.forget(through: revision)
        self = other
        history = kept
        effects = keptEffects
    }
}
