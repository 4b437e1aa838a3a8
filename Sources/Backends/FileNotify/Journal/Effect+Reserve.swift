internal import CoreAPI
internal import Platform
internal import StoreEngine

extension Effect {
    /// How much of the space that is kept for a full disk the record leaves alone, in bytes (contract S10).
    ///
    /// What ends something, gives something back or takes it over may use all of it, so that a full disk never leaves a
    /// dead owner in place. An ownership that changes hands also writes what happened, for good: that may use the
    /// greater part.
    var untouchedReserve: Int {
        if Defect.withoutReserve.isPresent { return Journal.reserveByteCount }
        return switch body {
        case .sessionOpened, .sessionEnded, .expired, .refused, .restarted: 0
        case .committed(_, _, let operations):
            if operations.allSatisfy(\.mayUseReserve) {
                0
            } else if Self.changesHands(operations) {
                Journal.endingsByteCount
            } else {
                Journal.reserveByteCount
            }
        }
    }

    /// What a change of hands writes at most, in bytes of keys and values. What it deletes, as the oldest of the
    /// timeline, makes room and does not count.
    private static let changeByteCount = 4096

    /// Where all of it stands.
    private static let coordination: KeyPrefix = ".sharedcore/"

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
    /// Whether the operation makes room, or lives no longer than its session and is small.
    fileprivate var mayUseReserve: Bool {
        switch self {
        case .delete, .deletePrefix, .post: true
        case .put(_, let value, let lifetime): lifetime == .session && value.count <= 1024
        }
    }
}
