package import CoreAPI
internal import Mailboxes

extension OwnershipKey {
    /// The baton that the last owner offered when it released the ownership.
    package static let baton: Key = ".sharedcore/ownership/baton"
    /// The record of the host, if the host also keeps batons.
    package static let batonHost: Key = ".sharedcore/ownership/batonHost"
}

/// The record of a baton in the group, without its bytes. Exactly one commit removes the record, and its author has the
/// calls from then on.
///
/// Source: contract C25.
package struct BatonRecord: StoredRecord {
    package enum State: UInt8, Sendable {
        case offered = 1
        /// An owner could not use it.
        case failed = 2
    }

    /// The epoch of the owner that gave the baton. An ownership gives at most one baton.
    package var epoch: Revision
    package var state: State
    package var kind: String
    package var byteCount: Int
    /// The SHA-256 of its bytes.
    package var digest: [UInt8]
    package var descriptorCount: Int
    /// The ids of its calls.
    package var calls: [String]
    /// The boot of the machine since which ``deadline`` counts.
    package var bootID: BootID
    /// The time until which the keepers keep the baton.
    package var deadline: BootInstant
    /// The addresses of the processes that keep the baton: the paths of their sockets, or ``hub``.
    package var keepers: [String]

    package init(
        epoch: Revision, kind: String, byteCount: Int, digest: [UInt8], descriptorCount: Int, calls: [String],
        bootID: BootID, deadline: BootInstant, keepers: [String]
    ) {
        self.epoch = epoch
        self.state = .offered
        self.kind = kind
        self.byteCount = byteCount
        self.digest = digest
        self.descriptorCount = descriptorCount
        self.calls = calls
        self.bootID = bootID
        self.deadline = deadline
        self.keepers = keepers
    }

    /// The record in place of bytes that cannot be read. No process keeps its baton.
    package static let unreadable = {
        var record = BatonRecord(
            epoch: .zero, kind: "", byteCount: 0, digest: [], descriptorCount: 0, calls: [],
            bootID: BootID(high: 0, low: 0), deadline: BootInstant(nanoseconds: 0), keepers: [])
        record.state = .failed
        return record
    }()

    init(_ baton: Baton, of epoch: Revision, bootID: BootID, until deadline: BootInstant, keeper: String) {
        self.init(
            epoch: epoch, kind: baton.kind, byteCount: baton.bytes.count, digest: SHA256(of: baton.bytes).digest,
            descriptorCount: baton.files.count, calls: baton.calls.map(\.text), bootID: bootID, deadline: deadline,
            keepers: [keeper])
    }

    /// The text for the timeline: the kind and the sizes.
    package var title: String { "“\(kind)”, \(byteCount) bytes, \(descriptorCount) descriptors, \(calls.count) calls" }

    /// Returns the keys of the calls that an offered baton names. Such calls must not be ended as lost, because the
    /// next owner may continue them.
    static func movingKeys(of entry: Entry?) -> Set<Key> {
        guard let record = entry.map({ BatonRecord(bytes: $0.value) }), record.state == .offered else { return [] }
        return Set(record.calls.compactMap { CallID($0) }.compactMap { try? CallKey.record(of: $0) })
    }
}

extension BatonRecord {
    private static let maximumKeeperCount = 2
    /// The name of the hub among ``keepers``. Every other keeper is the path of a socket.
    package static let hub = "hub"

    package init(reading reader: inout ByteReader, layout: UInt8) throws(ByteCodingError) {
        epoch = try reader.revision()
        guard let state = State(rawValue: try reader.byte()) else { throw .malformed }
        self.state = state
        kind = try reader.text()
        byteCount = Int(clamping: try reader.integer() as UInt64)
        digest = try reader.data()
        descriptorCount = Int(try reader.byte())
        calls = try reader.array { reader throws(ByteCodingError) in try reader.text() }
        bootID = try reader.bootID()
        deadline = try reader.instant()
        keepers = try reader.array { reader throws(ByteCodingError) in try reader.text() }
        guard Baton.isKind(kind), byteCount <= Baton.maximumByteCount, digest.count == 32,
            descriptorCount <= Baton.maximumDescriptorCount, 1...Baton.maximumCallCount ~= calls.count,
            keepers.count <= Self.maximumKeeperCount
        else { throw .malformed }
    }

    package func write(into writer: inout ByteWriter) {
        writer.revision(epoch)
        writer.byte(state.rawValue)
        writer.text(kind)
        writer.integer(UInt64(byteCount))
        writer.data(digest)
        writer.byte(UInt8(clamping: descriptorCount))
        writer.array(calls) { $0.text($1) }
        writer.bootID(bootID)
        writer.instant(deadline)
        writer.array(keepers) { $0.text($1) }
    }
}

/// The socket of the host that also keeps batons. Lives with the host's session.
package struct BatonHostRecord: StoredRecord {
    package var path: String

    package init(path: String) {
        self.path = path
    }

    package static let unreadable = BatonHostRecord(path: "")
}

extension BatonHostRecord {
    package init(reading reader: inout ByteReader, layout: UInt8) throws(ByteCodingError) {
        path = try reader.text()
    }

    package func write(into writer: inout ByteWriter) {
        writer.text(path)
    }
}

/// A baton that a participant has given, until its core is told the outcome.
package struct GivenBaton: Hashable, Sendable {
    package enum Phase: Hashable, Sendable {
        /// The keepers have the baton, and the group has no record of it yet.
        case kept
        /// This commit wrote the baton's record, which offers it to the next owner.
        case offered(Revision)
        case over(BatonEnd)
    }

    package let record: BatonRecord
    /// The time for which the keepers keep the baton. The store removes its record after twice this time.
    package let lifetime: Duration
    package var phase = Phase.kept
    /// True if a commit that offers it may have taken effect.
    package var isUnclear = false
    /// The end that a commit with an unknown outcome may have given it; nil if there is no such commit.
    package var unclearEnd: BatonEnd?

    package init(_ record: BatonRecord, lifetime: Duration) {
        self.record = record
        self.lifetime = lifetime
    }

    package var isOffered: Bool { if case .offered = phase { true } else { false } }
}

/// The effect of a commit on the baton that its author has given.
package enum BatonStep: Hashable, Sendable {
    case offers
    case ends(BatonEnd)
}
