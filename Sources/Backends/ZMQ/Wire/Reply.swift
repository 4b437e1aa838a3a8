internal import CoreAPI
internal import StoreEngine

/// The hub's answer: one frame. In a snapshot, a history and a view, records follow it (``Answer``).
struct Reply: Hashable {
    /// The number of the request.
    let number: UInt64
    var body: Body

    enum Body: Hashable {
        /// The client is in the group.
        case welcome(Welcome)
        /// The result of a commit, the revision then, and the updates that the client lacks, as far as they fit.
        case outcome(RequestOutcome, at: Revision, Updates)
        /// The revision, and the updates that the client lacks, as far as they fit.
        case current(Revision, Updates)
        /// The state at a revision; its records follow.
        case snapshot(Revision)
        /// The request was executed; there is nothing to report.
        case done
        /// The request was refused.
        case refused(SharedCoreError)
        /// The hub does not know the connection: the client must send a hello first, then the request again.
        case unknown
        /// Changes that led to a revision; their records follow.
        case history(Revision)
        /// The state of a group for a reader, which has not joined; its records follow.
        case view(Revision, Capabilities)
        /// The bytes of a baton; nil if the hub has none of the epoch.
        case baton([UInt8]?)
    }

    /// The facts that a client receives when it joins.
    struct Welcome: Hashable {
        var session: Session
        var incarnation: UInt64
        /// The capabilities of the backend behind the hub.
        var capabilities: Capabilities
        /// How long the session lasts without a message of the client; nil when the hub sees the end of the client's
        /// process.
        var lease: Duration?
        /// The stream's port, unless it is the one after the port of the requests.
        var streamPort: UInt16?
        /// The nonce that each later request of this connection carries.
        var nonce: ConnectionNonce
    }

    func bytes() -> [UInt8] {
        var writer = ByteWriter(reserving: 64)
        writer.byte(Wire.version)
        switch body {
        case .welcome(let welcome):
            writer.byte(1)
            writer.integer(number)
            Self.write(welcome, to: &writer)
        case .outcome(let outcome, let revision, let updates):
            writer.byte(2)
            writer.integer(number)
            writer.data(outcome.payload())
            writer.integer(revision.rawValue)
            updates.write(to: &writer)
        case .current(let revision, let updates):
            writer.byte(3)
            writer.integer(number)
            writer.integer(revision.rawValue)
            updates.write(to: &writer)
        case .snapshot(let revision):
            writer.byte(4)
            writer.integer(number)
            writer.integer(revision.rawValue)
        case .done:
            writer.byte(5)
            writer.integer(number)
        case .refused(let error):
            writer.byte(6)
            writer.integer(number)
            writer.text(error.code.description)
            writer.text(error.message)
            writer.text(error.location)
            writer.optional(error.cause) { $0.text($1) }
        case .unknown:
            writer.byte(7)
            writer.integer(number)
        case .history(let revision):
            writer.byte(8)
            writer.integer(number)
            writer.integer(revision.rawValue)
        case .view(let revision, let capabilities):
            writer.byte(9)
            writer.integer(number)
            writer.integer(revision.rawValue)
            Self.write(capabilities, to: &writer)
        case .baton(let bytes):
            writer.byte(10)
            writer.integer(number)
            writer.optional(bytes) { $0.data($1) }
        }
        return writer.bytes
    }

    init(number: UInt64, body: Body) {
        self.number = number
        self.body = body
    }

    /// Reads a reply from untrusted bytes, without its records.
    ///
    /// - Parameter recordsOffset: Set to the offset at which the records begin; nil for a kind of reply without records.
    /// - Throws: ``SharedCoreError/Code/corrupt`` for bytes that are no reply.
    init(_ bytes: [UInt8], recordsOffset: inout Int?) throws(SharedCoreError) {
        var offset: Int?
        (number, body) = try Wire.read(bytes) { reader in
            let tag = try reader.byte()
            let number = try reader.integer()
            let body = try Self.body(tag, &reader)
            if body.hasRecords {
                offset = reader.position
                reader.skipRest()
            }
            return (number, body)
        }
        recordsOffset = offset
    }

    /// Reads a reply without records.
    init(_ bytes: [UInt8]) throws(SharedCoreError) {
        var recordsOffset: Int?
        try self.init(bytes, recordsOffset: &recordsOffset)
        guard recordsOffset.map({ $0 == bytes.count }) ?? true else { throw Wire.malformed("it has records") }
    }

    /// Returns the reply as it is sent, with its records.
    func frame(records: [[UInt8]] = []) -> OutgoingFrame { OutgoingFrame(bytes(), records: records) }

    /// Returns whether replies of a kind have records behind them, which may be many MiB.
    static func hasRecords(_ tag: UInt8) -> Bool { [4, 8, 9].contains(tag) }

    private static func body(_ tag: UInt8, _ reader: inout ByteReader) throws -> Body {
        switch tag {
        case 1: return .welcome(try welcome(&reader))
        case 2:
            let outcome = try RequestOutcome(payload: try reader.slice())
            let revision = Revision(rawValue: try reader.integer())
            return .outcome(outcome, at: revision, try Updates(from: &reader))
        case 3:
            let revision = Revision(rawValue: try reader.integer())
            return .current(revision, try Updates(from: &reader))
        case 4: return .snapshot(Revision(rawValue: try reader.integer()))
        case 5: return .done
        case 6:
            guard let code = SharedCoreError.Code(name: try reader.text()) else { throw ByteCodingError.malformed }
            let message = try reader.text()
            let location = try reader.text()
            let cause = try reader.optional { reader throws(ByteCodingError) in try reader.text() }
            return .refused(SharedCoreError(code, message, at: location, cause: cause))
        case 7: return .unknown
        case 8: return .history(Revision(rawValue: try reader.integer()))
        case 9:
            let revision = Revision(rawValue: try reader.integer())
            return .view(revision, try capabilities(&reader))
        case 10:
            return .baton(
                try reader.optional { reader throws(ByteCodingError) in
                    let bytes = try reader.slice()
                    guard bytes.count <= Wire.batonByteLimit else { throw .malformed }
                    return Array(bytes)
                })
        default: throw ByteCodingError.malformed
        }
    }

    private static func write(_ welcome: Welcome, to writer: inout ByteWriter) {
        writer.integer(welcome.session.id.rawValue)
        writer.identity(welcome.session.process)
        writer.text(welcome.session.role.rawValue)
        writer.text(welcome.session.name)
        writer.integer(welcome.session.openedAt.nanoseconds)
        writer.word(welcome.incarnation)
        write(welcome.capabilities, to: &writer)
        writer.optional(welcome.lease) { $0.integer($1.clampedNanoseconds) }
        writer.optional(welcome.streamPort) { $0.integer(UInt64($1)) }
        writer.word(welcome.nonce.high)
        writer.word(welcome.nonce.low)
    }

    private static func write(_ capabilities: Capabilities, to writer: inout ByteWriter) {
        writer.text(capabilities.backend)
        writer.array(capabilities.features.map(\.rawValue).sorted()) { $0.text($1) }
        writer.text(capabilities.durability.rawValue)
        writer.integer(capabilities.limits.valueByteCount)
        writer.integer(capabilities.limits.transactionByteCount)
        writer.integer(capabilities.limits.storeByteCount)
        writer.integer(capabilities.limits.entryCount)
    }

    private static func capabilities(_ reader: inout ByteReader) throws(ByteCodingError) -> Capabilities {
        let backend = try reader.text()
        let features = try reader.array { reader throws(ByteCodingError) in try reader.text() }
        guard zip(features, features.dropFirst()).allSatisfy({ $0 < $1 }) else { throw .malformed }
        guard let durability = Durability(rawValue: try reader.text()) else { throw .malformed }
        func size() throws(ByteCodingError) -> Int {
            guard let size = Int(exactly: try reader.integer()) else { throw .malformed }
            return size
        }
        let limits = Limits(
            valueByteCount: try size(), transactionByteCount: try size(), storeByteCount: try size(),
            entryCount: try size())
        return Capabilities(
            backend: backend, features: Set(features.map { Capability(rawValue: $0) }), durability: durability,
            limits: limits)
    }

    private static func welcome(_ reader: inout ByteReader) throws(ByteCodingError) -> Welcome {
        let id = SessionID(rawValue: try reader.integer())
        let session = Session(
            id: id, process: try reader.identity(), role: SessionRole(rawValue: try reader.text()),
            name: try reader.text(), openedAt: BootInstant(nanoseconds: try reader.integer()))
        let incarnation = try reader.word()
        let capabilities = try capabilities(&reader)
        let lease = try reader.optional { reader throws(ByteCodingError) in
            guard let nanoseconds = Int64(exactly: try reader.integer()) else { throw .malformed }
            return Duration.nanoseconds(nanoseconds)
        }
        let port = try reader.optional { reader throws(ByteCodingError) in
            guard let port = UInt16(exactly: try reader.integer()) else { throw .malformed }
            return port
        }
        return Welcome(
            session: session, incarnation: incarnation, capabilities: capabilities, lease: lease, streamPort: port,
            nonce: ConnectionNonce(high: try reader.word(), low: try reader.word()))
    }
}

extension Reply.Body {
    /// True if records follow the reply.
    var hasRecords: Bool {
        switch self {
        case .snapshot, .history, .view: true
        case .welcome, .outcome, .current, .done, .refused, .unknown, .baton: false
        }
    }

    /// True if the reply brings a client up to date, even if it arrives late.
    var isState: Bool {
        switch self {
        case .current, .snapshot: true
        case .welcome, .outcome, .done, .refused, .unknown, .history, .view, .baton: false
        }
    }
}
