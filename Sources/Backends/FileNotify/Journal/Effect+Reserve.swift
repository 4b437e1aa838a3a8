internal import CoreAPI
internal import Platform
internal import StoreEngine

/// What a record may use of the space that is kept for a full disk (contract S10).
///
/// Of two kinds of space some is kept. Behind the records of a journal, so that an ending is written at once; what finds no
/// room there waits for a compaction. And in the spare file, which has to take the snapshot of what stands after the
/// record: otherwise there would be no compaction that makes room.
enum SpaceClaim {
    /// What ends or removes something: a snapshot becomes no longer by it.
    case ending
    /// A participant that joins: what it takes ends with it.
    case participant
    /// An ownership that changes hands.
    case coordination
    /// What a session writes that goes with it, and is small.
    case session
    /// Anything else: it is refused first.
    case content

    /// How much of the space behind the records it leaves alone, in bytes.
    var journalByteCount: Int {
        if Defect.withoutReserve.isPresent { return 0 }
        return switch self {
        case .ending: 0
        case .participant, .coordination, .session: Journal.endingsByteCount
        case .content: Journal.reserveByteCount
        }
    }

    /// How much of the spare file it leaves alone, in bytes.
    var spareByteCount: Int {
        switch self {
        case .ending, .participant: 0
        case .coordination: SpareSpace.coordinationByteCount / 3
        case .session: SpareSpace.coordinationByteCount / 2
        case .content: SpareSpace.coordinationByteCount
        }
    }
}

extension Effect {
    /// What the record may use on a full disk.
    var claim: SpaceClaim {
        switch body {
        case .sessionEnded, .expired, .restarted: return .ending
        case .sessionOpened: return .participant
        case .refused: return .content
        case .committed(_, _, let operations):
            if operations.allSatisfy(\.removes) { return .ending }
            if Self.changesHands(operations) { return .coordination }
            return operations.allSatisfy(\.isShortOfSession) ? .session : .content
        }
    }

    /// What a change of hands writes at most, in bytes of keys and values. What it deletes, as the oldest of the
    /// timeline, makes room and does not count.
    fileprivate static let changeByteCount = 4096

    /// Where all of it stands.
    fileprivate static let coordination: KeyPrefix = ".sharedcore/"

    /// Whether all that is written belongs to the coordination and is small. What expires by itself there is a message,
    /// which waits for space like any other content.
    private static func changesHands(_ operations: [Operation]) -> Bool {
        var byteCount = 0
        for operation in operations {
            switch operation {
            case .delete(let key):
                guard coordination.contains(key) else { return false }
            case .put(let key, let value, let lifetime):
                guard coordination.contains(key), lifetime == .session || lifetime == .persistent else { return false }
                byteCount += key.text.utf8.count + value.count
            case .deletePrefix, .post:
                return false
            }
        }
        return byteCount <= changeByteCount
    }
}

extension Effect.Operation {
    fileprivate var removes: Bool {
        switch self {
        case .delete, .deletePrefix: true
        case .put, .post: false
        }
    }

    /// Whether the operation removes something, or lives no longer than its session and is small.
    fileprivate var isShortOfSession: Bool {
        if case .put(_, let value, let lifetime) = self { return lifetime == .session && value.count <= 1024 }
        return removes
    }
}

extension Transaction {
    /// Whether the transaction adds what may wait for a compaction: anything but a small change of hands.
    var isContent: Bool {
        var byteCount = 0
        for operation in operations {
            switch operation {
            case .put(let key, let value, _):
                byteCount += key.text.utf8.count + value.count
                if byteCount > Effect.changeByteCount || !Effect.coordination.contains(key) { return true }
            case .post: return true
            case .delete, .deletePrefix: break
            }
        }
        return false
    }

    /// How many bytes of a disk the transaction takes at most, when it is content: in the journal, and as many in the spare
    /// file for the next snapshot.
    var spaceByteCount: Int {
        var byteCount = 0
        for operation in operations {
            switch operation {
            case .put(let key, let value, _): byteCount += key.text.utf8.count + value.count
            case .post(let name, _): byteCount += name.text.utf8.count
            case .delete, .deletePrefix: break
            }
            byteCount += Self.operationByteCount
        }
        return 2 * (byteCount + Self.recordByteCount)
    }

    /// What an operation takes beside its key and its value, and a record beside its operations, with what a file system
    /// rounds up.
    private static let operationByteCount = 64
    private static let recordByteCount = 8 << 10
}
