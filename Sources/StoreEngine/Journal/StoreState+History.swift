public import CoreAPI

/// The latest changes on their way to a replica elsewhere, which needs them when a watch is to go on from a revision
/// that is older than its own state.
extension StoreState {
    /// The bytes of changes at which a record of the history is full.
    private static let historyRecordByteCount = 64 << 10

    /// The payloads of the changes after a revision: the newest of them that fit the bytes of the history with their
    /// values, and whose values can still be fetched.
    ///
    /// The first change is empty and only gives the revision from which the changes are whole.
    public func writeHistory(
        after revision: Revision, _ emit: ([UInt8]) throws(SharedCoreError) -> Void
    ) throws(SharedCoreError) {
        let start = max(revision, history.floor)
        guard let commits = history.elements(after: start) else { return }
        var byteCount = 0
        var first = commits.endIndex
        while first > commits.startIndex {
            byteCount += commits[first - 1].wholeByteCount
            guard byteCount <= history.byteLimit, commits[first - 1].changes.allSatisfy(\.canBeFetched) else { break }
            first -= 1
        }
        let floor = first == commits.startIndex ? start : commits[first - 1].revision
        var batch = [CommittedChanges(revision: floor, origin: SessionID(rawValue: 0), changes: [])]
        var size = 0
        func write() throws(SharedCoreError) {
            var writer = RecordWriter()
            try writer.snapshotPart(.history(batch))
            try emit(writer.bytes.bytes)
        }
        for commit in commits[first...] {
            if size > 0, size + commit.wholeByteCount > Self.historyRecordByteCount {
                try write()
                batch = []
                size = 0
            }
            batch.append(commit)
            size += commit.wholeByteCount
        }
        try write()
    }

    /// Puts the changes of such payloads in front of the history, as far as the two meet.
    ///
    /// - Parameters:
    ///   - parts: The payloads' changes, the oldest first.
    ///   - revision: The revision of the state that the changes were taken from.
    public mutating func prependHistory(
        _ parts: [SnapshotPart], at revision: Revision
    ) throws(SharedCoreError) {
        var earlier = History(floor: revision, byteLimit: history.byteLimit)
        for part in parts {
            guard case .history(let commits) = part else {
                throw SharedCoreError(.corrupt, "Something else stands among the records of a history.", at: "history")
            }
            for commit in commits { try earlier.take(commit, at: revision) }
        }
        history.prepend(earlier, through: revision)
    }

    /// Keeps the history of a state that this one takes the place of, as far as the two meet.
    public mutating func keepHistory(of former: StoreState) {
        history.prepend(former.history, through: former.revision)
    }
}

extension History {
    /// Takes the next change of a history as it is sent.
    mutating func take(_ commit: CommittedChanges, at revision: Revision) throws(SharedCoreError) {
        guard commit.revision <= revision else {
            throw SharedCoreError(.corrupt, "A change is younger than its state.", at: "history")
        }
        if commit.changes.isEmpty { restart(at: commit.revision) } else { append(commit) }
    }
}
