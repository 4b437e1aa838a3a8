internal import CoreAPI

/// The size of a snapshot for a journal, kept as sums: adding or removing an element updates it at constant cost.
///
/// No element's cost depends on its neighbours. Entries of at most ``sharedEntryByteCount`` and notification names share
/// records of ``elementsPerRecord``, in order. Each larger entry and each session has a record of its own.
struct SnapshotSize: Hashable, Sendable {
    /// The elements of a full record. Their count takes one byte.
    static let elementsPerRecord = 64
    /// The maximum size of an entry that shares its record with others, in bytes.
    static let sharedEntryByteCount = 1 << 10

    private var sharedEntries = Sum()
    private var singleEntries = Sum()
    private var names = Sum()
    /// Names that began with a count above zero.
    private var laterNames = Sum()
    /// The bytes of the records of all sessions, with their frames' headers.
    private var sessionByteCount = 0

    /// Elements of one kind.
    private struct Sum: Hashable {
        var count = 0
        var byteCount = 0

        mutating func add(_ bytes: Int) {
            count += 1
            byteCount += bytes
        }

        mutating func remove(_ bytes: Int) {
            count -= 1
            byteCount -= bytes
        }

        /// Returns the bytes of the records that the elements fill.
        func byteCount(elementsPerRecord: Int) -> Int {
            byteCount + (count + elementsPerRecord - 1) / elementsPerRecord * SnapshotSize.recordByteCount(of: 1)
        }
    }

    /// Returns the bytes of a frame with `content` bytes after the payload's tag.
    fileprivate static func recordByteCount(of content: Int) -> Int {
        JournalChain.headerByteCount + 1 + content
    }

    /// Returns the bytes of the whole snapshot of a state at `revision`.
    func byteCount(at revision: Revision, forgotten: ForgottenNames) -> Int {
        let forgottenByteCount =
            forgotten == ForgottenNames()
            ? 0
            : Self.recordByteCount(
                of: ByteWriter.byteCount(of: forgotten.lastPost.rawValue)
                    + ByteWriter.byteCount(of: forgotten.highestCount))
        return Self.recordByteCount(of: ByteWriter.byteCount(of: revision.rawValue)) + sessionByteCount
            + sharedEntries.byteCount(elementsPerRecord: Self.elementsPerRecord)
            + singleEntries.byteCount(elementsPerRecord: 1)
            + forgottenByteCount + names.byteCount(elementsPerRecord: Self.elementsPerRecord)
            + laterNames.byteCount(elementsPerRecord: Self.elementsPerRecord) + Self.recordByteCount(of: 0)
    }

    mutating func add(_ entry: StoredEntry, under key: Key) {
        let byteCount = entry.recordByteCount(under: key)
        if byteCount > Self.sharedEntryByteCount { singleEntries.add(byteCount) } else { sharedEntries.add(byteCount) }
    }

    mutating func remove(_ entry: StoredEntry, under key: Key) {
        let byteCount = entry.recordByteCount(under: key)
        if byteCount > Self.sharedEntryByteCount {
            singleEntries.remove(byteCount)
        } else {
            sharedEntries.remove(byteCount)
        }
    }

    mutating func add(_ topic: TopicState, under name: NotificationName) {
        let byteCount = topic.recordByteCount(under: name)
        if topic.firstCount == 0 { names.add(byteCount) } else { laterNames.add(byteCount) }
    }

    mutating func remove(_ topic: TopicState, under name: NotificationName) {
        let byteCount = topic.recordByteCount(under: name)
        if topic.firstCount == 0 { names.remove(byteCount) } else { laterNames.remove(byteCount) }
    }

    mutating func add(_ session: SessionState) { sessionByteCount += session.recordsByteCount }

    mutating func remove(_ session: SessionState) { sessionByteCount -= session.recordsByteCount }
}

// The bytes that `RecordWriter` writes for an element of a snapshot.

extension StoredEntry {
    /// Returns the bytes of the entry in a record of a snapshot, including an external value.
    func recordByteCount(under key: Key) -> Int {
        ByteWriter.byteCount(ofCounted: key.text.utf8.count) + ByteWriter.byteCount(of: revision.rawValue)
            + ByteWriter.byteCount(of: creationRevision.rawValue) + ByteWriter.byteCount(of: origin.rawValue)
            + lifetime.recordByteCount + 1 + (expiry.map { ByteWriter.byteCount(of: $0.nanoseconds) } ?? 0)
            + ByteWriter.byteCount(ofCounted: value.count)
    }
}

extension TopicState {
    /// Returns the bytes of the name and its state in a record of a snapshot.
    func recordByteCount(under name: NotificationName) -> Int {
        ByteWriter.byteCount(ofCounted: name.text.utf8.count) + ByteWriter.byteCount(of: state)
            + ByteWriter.byteCount(of: count) + ByteWriter.byteCount(of: revision.rawValue)
            + ByteWriter.byteCount(of: origin.rawValue) + (firstCount == 0 ? 0 : ByteWriter.byteCount(of: firstCount))
    }
}

extension SessionState {
    /// The bytes of the session's own record of a snapshot and of the one of its deliveries, with the headers.
    var recordsByteCount: Int {
        var byteCount = SnapshotSize.recordByteCount(
            of: 1 + ByteWriter.byteCount(of: session.id.rawValue) + session.process.recordByteCount
                + ByteWriter.byteCount(ofCounted: session.role.rawValue.utf8.count)
                + ByteWriter.byteCount(ofCounted: session.name.utf8.count)
                + ByteWriter.byteCount(of: session.openedAt.nanoseconds)
                + ByteWriter.byteCount(ofCounted: backendData.count)
                + ByteWriter.byteCount(of: UInt64(results.count)) + resultByteCount)
        if !deliveries.isEmpty {
            byteCount += SnapshotSize.recordByteCount(
                of: ByteWriter.byteCount(of: session.id.rawValue) + ByteWriter.byteCount(of: UInt64(deliveries.count))
                    + deliveryByteCount)
        }
        return byteCount
    }
}

extension SessionState.Delivery {
    var recordByteCount: Int { ByteWriter.byteCount(of: number) + commit.recordByteCount }
}

extension SessionState.RequestResult {
    var recordByteCount: Int {
        let outcome =
            switch outcome {
            case .committed(let commit): commit.recordByteCount
            case .refused(let failure): failure.recordByteCount
            }
        return ByteWriter.byteCount(of: number) + 1 + outcome
    }
}

extension Commit {
    fileprivate var recordByteCount: Int { ByteWriter.byteCount(of: revision.rawValue) + 1 }
}

extension GuardFailure {
    fileprivate var recordByteCount: Int {
        let found = found.map { found in
            ByteWriter.byteCount(of: found.revision.rawValue)
                + ByteWriter.byteCount(of: found.creationRevision.rawValue)
                + ByteWriter.byteCount(of: found.origin.rawValue) + found.lifetime.recordByteCount
                + ByteWriter.byteCount(ofCounted: found.value.count)
        }
        let condition =
            switch condition {
            case .absent, .exists: 0
            case .revision(_, let revision), .epoch(_, let revision): ByteWriter.byteCount(of: revision.rawValue)
            }
        return ByteWriter.byteCount(of: UInt64(index)) + 1
            + ByteWriter.byteCount(ofCounted: self.condition.key.text.utf8.count) + condition + 1 + (found ?? 0)
    }
}

extension Lifetime {
    fileprivate var recordByteCount: Int {
        switch self {
        case .persistent, .session: 1
        case .expiring(let duration): 1 + ByteWriter.byteCount(of: duration.clampedNanoseconds)
        }
    }
}

extension ProcessIdentity {
    fileprivate var recordByteCount: Int {
        16 + ByteWriter.byteCount(of: UInt64(UInt32(bitPattern: pid))) + ByteWriter.byteCount(of: startTime)
    }
}
