package import CoreAPI

/// Sends the latest changes to a remote replica, which needs them when a watch resumes from a revision older than the
/// replica's state.
extension StoreState {
    /// The bytes of changes at which a record of the history is full.
    private static let historyRecordByteCount = 64 << 10

    /// Emits the payloads of the changes after a revision. If some values can no longer be fetched, or the changes
    /// exceed the bytes of the history, emits only the newest ones.
    ///
    /// The first change is empty and only carries the revision from which the changes are complete.
    package func writeHistory(
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

    /// Prepends the changes of such payloads to the history, if there is no gap between the two.
    ///
    /// - Parameters:
    ///   - parts: The payloads' changes, the oldest first.
    ///   - revision: The revision of the state that the changes were taken from.
    package mutating func prependHistory(
        _ parts: [SnapshotPart], at revision: Revision
    ) throws(SharedCoreError) {
        var earlier = History(floor: revision, byteLimit: history.byteLimit)
        for part in parts {
            guard case .history(let commits) = part else {
                throw SharedCoreError(.corrupt, "The history contains an unexpected record.", at: "history")
            }
            for commit in commits { try earlier.take(commit, at: revision) }
        }
        history.prepend(earlier, through: revision)
    }

    /// Keeps the history of the state that this one replaces, if there is no gap between the two.
    package mutating func keepHistory(of former: StoreState) {
        history.prepend(former.history, through: former.revision)
    }
}

extension History {
    /// Appends the next received change. A change without content restarts the history at its revision.
    ///
    /// - Throws: `corrupt` if the change is later than the snapshot that came with it.
    mutating func take(_ commit: CommittedChanges, at revision: Revision) throws(SharedCoreError) {
        guard commit.revision <= revision else {
            throw SharedCoreError(.corrupt, "The revision of a change exceeds that of its snapshot.", at: "history")
        }
        if commit.changes.isEmpty { restart(at: commit.revision) } else { append(commit) }
    }
}
