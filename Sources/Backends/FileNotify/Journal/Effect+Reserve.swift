internal import CoreAPI
internal import Platform
internal import StoreEngine

/// The part of the space reserved for a full disk that a record may use (contract S10).
///
/// Two kinds of space are reserved. The first lies behind the records of a journal, so that an ending is written at
/// once; a record that does not fit there waits for a compaction. The second is the spare file, which must hold the
/// snapshot of the state after the record: otherwise no compaction could free space.
enum SpaceClaim {
    /// A record that ends or removes something, and extends no snapshot.
    case ending
    /// A record that lets a participant join. Its space is freed when the participant ends.
    case participant
    /// A small write, which may use reserved space by the same rule as for the limits of the store.
    case small(RoomClaim)
    /// Any other record. On a full disk such records are refused first.
    case content

    init(_ claim: RoomClaim) {
        self =
            switch claim {
            case .removal: .ending
            case .ownership, .record, .session: .small(claim)
            case .content: .content
            }
    }

    /// How many bytes behind the records of the journal the record must leave free.
    var journalByteCount: Int {
        if Defect.withoutReserve.isPresent { return 0 }
        return switch self {
        case .ending: 0
        case .participant, .small: Journal.endingsByteCount
        case .content: Journal.reserveByteCount
        }
    }

    /// How many bytes of the spare file the record must leave free.
    var spareByteCount: Int {
        switch self {
        case .ending, .participant: 0
        case .small(.session): SpareSpace.coordinationByteCount / 2
        case .small(.record): SpareSpace.coordinationByteCount * 5 / 12
        case .small: SpareSpace.coordinationByteCount / 3
        case .content: SpareSpace.coordinationByteCount
        }
    }
}

extension Effect {
    /// Returns the space that the record may use on a full disk, in the state before it.
    func claim(in state: StoreState) -> SpaceClaim {
        switch body {
        case .sessionEnded, .expired, .restarted: .ending
        case .sessionOpened: .participant
        case .refused: .content
        case .committed(_, _, let operations): SpaceClaim(state.claim(of: operations))
        }
    }
}

extension Transaction {
    /// The maximum disk space of the transaction, in bytes: in the journal, and as much in the spare file for the next
    /// snapshot.
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

    /// The bytes that an operation takes beside its key and its value, and a record beside its operations, with the
    /// rounding of a file system.
    private static let operationByteCount = 64
    private static let recordByteCount = 8 << 10
}
