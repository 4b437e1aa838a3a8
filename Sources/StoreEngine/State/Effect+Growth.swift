internal import CoreAPI

extension Effect {
    /// More than an entry, a name, a session or a result takes in a snapshot beside its own bytes: its numbers, counts and a
    /// record's header.
    private static let elementByteCount = 160

    /// The most bytes by which a snapshot of a state becomes longer when the effect is applied to it. What the effect removes
    /// does not count.
    package var snapshotGrowth: Int {
        var byteCount = Self.elementByteCount
        switch body {
        case .sessionEnded, .expired, .restarted: return 0
        case .sessionOpened(let opening):
            byteCount += opening.role.rawValue.utf8.count + opening.name.utf8.count
            byteCount += opening.backendData.count
        case .refused(_, _, let failure):
            byteCount += failure.condition.key.text.utf8.count
            if let found = failure.found { byteCount += found.key.text.utf8.count + found.value.count }
        case .committed(_, _, let operations):
            for operation in operations {
                switch operation {
                case .put(let key, let value, _): byteCount += key.text.utf8.count + value.count + Self.elementByteCount
                case .post(let name, _): byteCount += name.text.utf8.count + Self.elementByteCount
                case .delete, .deletePrefix: break
                }
            }
        }
        return byteCount
    }
}
