internal import CoreAPI
internal import StoreEngine

extension Effect {
    /// Whether the record may use the space that is kept for a full disk: what ends something, gives something back or
    /// takes it over, so that a full disk never leaves a dead owner in place (contract S10).
    ///
    /// An ownership that changes hands also writes what happened, for good; all of it stands under one path and is small.
    /// What expires by itself there is a message, which waits for space like any other content.
    var mayUseReserve: Bool {
        switch body {
        case .sessionOpened, .sessionEnded, .expired, .refused, .restarted: true
        case .committed(_, _, let operations):
            operations.allSatisfy { operation in
                switch operation {
                case .delete, .deletePrefix, .post: true
                case .put(_, let value, let lifetime): lifetime == .session && value.count <= 1024
                }
            } || Self.changesHands(operations)
        }
    }

    /// What a change of hands writes at most, in bytes of keys and values.
    private static let changeByteCount = 4096

    /// Where all of it stands.
    private static let coordination: KeyPrefix = ".sharedcore/"

    /// Whether all that is written belongs to the coordination and is small.
    private static func changesHands(_ operations: [Operation]) -> Bool {
        var byteCount = 0
        for operation in operations {
            switch operation {
            case .delete(let key):
                guard coordination.contains(key) else { return false }
                byteCount += key.text.utf8.count
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
