internal import CoreAPI

extension TimelineEntry {
    private static let version: UInt8 = 1

    /// Version, then the fields in the order of their declaration.
    func encoded() -> [UInt8] {
        var writer = ByteWriter(reserving: 64 + name.utf8.count + reason.utf8.count)
        writer.byte(Self.version)
        writer.byte(kind.rawValue)
        writer.integer(participant.rawValue)
        writer.halfWord(UInt32(bitPattern: pid))
        writer.text(role.rawValue)
        writer.text(name)
        writer.optional(epoch) { $0.integer($1.rawValue) }
        writer.optional(other) { $0.integer($1.rawValue) }
        writer.optional(from) { $0.byte($1.rawValue) }
        writer.optional(to) { $0.byte($1.rawValue) }
        writer.optional(previous) { writer, previous in
            writer.integer(previous.epoch.rawValue)
            writer.byte(previous.end.rawValue)
        }
        writer.optional(bound) { $0.integer($1.clampedNanoseconds) }
        writer.text(reason)
        writer.integer(at.nanoseconds)
        writer.word(bootID.high)
        writer.word(bootID.low)
        return writer.bytes
    }

    init(decoding bytes: [UInt8]) throws(ByteCodingError) {
        var reader = ByteReader(bytes)
        guard try reader.byte() == Self.version, let kind = Kind(rawValue: try reader.byte()) else {
            throw .malformed
        }
        self.kind = kind
        participant = SessionID(rawValue: try reader.integer())
        pid = Int32(bitPattern: try reader.halfWord())
        role = SessionRole(rawValue: try reader.text())
        name = try reader.text()
        epoch = try reader.optionalRevision()
        other = try reader.optionalRevision()
        from = try reader.optionalState()
        to = try reader.optionalState()
        previous = try reader.optional { reader throws(ByteCodingError) in
            let epoch = Revision(rawValue: try reader.integer())
            guard let end = OwnershipEndReason(rawValue: try reader.byte()) else { throw .malformed }
            return PreviousOwnership(epoch: epoch, end: end)
        }
        bound = try reader.optional { reader throws(ByteCodingError) in
            .nanoseconds(Int64(clamping: try reader.integer()))
        }
        reason = try reader.text()
        at = BootInstant(nanoseconds: try reader.integer())
        let high = try reader.word()
        bootID = BootID(high: high, low: try reader.word())
        try reader.finish()
    }
}

extension ByteReader {
    mutating func optionalRevision() throws(ByteCodingError) -> Revision? {
        try optional { reader throws(ByteCodingError) in Revision(rawValue: try reader.integer()) }
    }

    fileprivate mutating func optionalState() throws(ByteCodingError) -> OwnerState? {
        try optional { reader throws(ByteCodingError) in
            guard let state = OwnerState(rawValue: try reader.byte()) else { throw .malformed }
            return state
        }
    }
}
