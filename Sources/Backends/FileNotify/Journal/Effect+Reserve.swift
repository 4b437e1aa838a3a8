internal import CoreAPI
internal import StoreEngine

extension Effect {
    /// Whether the record may use the space that is kept for a full disk: what ends something, gives something back or
    /// takes it over, so that a full disk never leaves a dead owner in place (contract S10).
    var mayUseReserve: Bool {
        switch body {
        case .sessionOpened, .sessionEnded, .expired, .refused, .restarted: true
        case .committed(_, _, let operations):
            operations.allSatisfy { operation in
                switch operation {
                case .delete, .deletePrefix, .post: true
                case .put(_, let value, let lifetime): lifetime == .session && value.count <= 1024
                }
            }
        }
    }
}
