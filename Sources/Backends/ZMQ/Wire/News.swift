internal import ByteCoding
internal import CoreAPI
internal import StoreEngine

/// Effects in their order, as they are sent: what a replica applies when it stands where they begin.
struct News {
    /// The revision that they follow.
    var after: Revision
    /// Their records.
    var effects: [[UInt8]] = []

    func write(to writer: inout ByteWriter) {
        writer.integer(after.rawValue)
        writer.array(effects) { $0.data($1) }
    }

    init(after: Revision) {
        self.after = after
    }

    init(from reader: inout ByteReader) throws(ByteCodingError) {
        after = Revision(rawValue: try reader.integer())
        effects = try reader.array { reader throws(ByteCodingError) in try reader.data() }
    }
}

extension StoreState {
    /// The effects after a revision, no more than an answer holds; nil when they are no longer kept.
    func news(after revision: Revision) throws(SharedCoreError) -> News? {
        guard let following = effects?.elements(after: revision) else { return nil }
        var news = News(after: revision)
        var byteCount = 0
        for effect in following {
            let payload = try effect.forReplicas.payload()
            byteCount += payload.count
            guard news.effects.isEmpty || byteCount <= Wire.newsByteCount else { break }
            news.effects.append(payload)
        }
        return news
    }
}
