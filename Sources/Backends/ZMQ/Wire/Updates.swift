internal import CoreAPI
internal import StoreEngine

/// Effects in order, as they are sent. A replica applies them if its revision is the one before the first.
struct Updates: Hashable {
    /// The revision before the first effect.
    var after: Revision
    /// The effects' records.
    var effects: [[UInt8]] = []
    /// The revision of the last effect, if they were taken from a state. It is not sent.
    private(set) var last: Revision?

    func write(to writer: inout ByteWriter) {
        writer.integer(after.rawValue)
        writer.array(effects) { $0.data($1) }
    }

    init(after: Revision) {
        self.after = after
    }

    mutating func add(_ payload: [UInt8], of effect: Effect) {
        effects.append(payload)
        last = effect.revision
    }

    /// Returns the revision of an effect's record without reading the rest: its tag comes first, then the revision.
    static func revision(of payload: [UInt8]) -> Revision? {
        var reader = ByteReader(payload)
        guard (try? reader.byte()) == 1, let revision = try? reader.integer() else { return nil }
        return Revision(rawValue: revision)
    }

    init(from reader: inout ByteReader) throws(ByteCodingError) {
        after = Revision(rawValue: try reader.integer())
        effects = try reader.array { reader throws(ByteCodingError) in try reader.data() }
    }
}

extension StoreState {
    /// Returns the effects after a revision, limited to the size of an answer or to `byteLimit`. One effect is returned
    /// regardless of its size. Returns nil if the effects, or a large value of one of them, are no longer kept, because a
    /// replaced journal frees its space.
    func updates(after revision: Revision, upTo byteLimit: Int = Wire.updatesByteCount) throws(SharedCoreError)
        -> Updates?
    {
        guard let following = effects?.elements(after: revision) else { return nil }
        var updates = Updates(after: revision)
        var byteCount = 0
        for effect in following {
            let payload: [UInt8]
            do throws(SharedCoreError) {
                payload = try effect.forReplicas.payload()
            } catch {
                guard error.code == .corrupt else { throw error }
                return nil
            }
            byteCount += payload.count
            guard updates.effects.isEmpty || byteCount <= byteLimit else { break }
            updates.add(payload, of: effect)
        }
        return updates
    }
}
