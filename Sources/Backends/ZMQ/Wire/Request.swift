internal import CoreAPI
internal import StoreEngine

/// A client's request to the hub: one frame.
struct Request: Hashable {
    /// Increases with each request of a session; an answer carries the number of its request.
    let number: UInt64
    /// The nonce of the connection's welcome; a hello and a view have none.
    let nonce: ConnectionNonce
    let body: Body

    enum Body: Hashable {
        /// Joins the group, or resumes a session.
        case hello(Hello)
        /// Commits a transaction.
        ///
        /// - Parameter known: The revision of the client's replica.
        case commit(Transaction, known: Revision)
        /// Asks for all changes that were committed before the request.
        case read(known: Revision)
        /// Like `read`, but the hub first ends the sessions of dead processes.
        case probe(known: Revision)
        /// Asks for the changes after a revision, regardless of their size.
        case catchUp(after: Revision?)
        /// Renews the session's lease.
        case keepAlive
        /// Ends the session.
        case close
        /// Asks for the changes after a revision, from which a watch resumes.
        case history(after: Revision)
        /// Asks for the state of a group, without joining it.
        case view(group: String)
        /// Keeps the bytes of the owner of an epoch for the next owner.
        case keepBaton([UInt8], of: Revision, for: Duration)
        /// Asks for the bytes of an epoch, as the owner of another one.
        case fetchBaton(of: Revision, under: Revision)
    }

    /// A client's description of itself.
    struct Hello: Hashable {
        /// The group to join.
        var group: String
        var process: ProcessIdentity
        var description: SessionDescription
        /// A secret of the client, which proves that the session is its own when it returns.
        var token: [UInt8]
        /// The session that it had before the connection was lost.
        var resumed: SessionID?
    }

    func bytes() throws(SharedCoreError) -> [UInt8] {
        var writer = ByteWriter(reserving: 64)
        writer.byte(Wire.version)
        switch body {
        case .hello(let hello):
            begin(&writer, Self.helloTag)
            writer.text(hello.group)
            writer.identity(hello.process)
            writer.text(hello.description.role.rawValue)
            writer.text(hello.description.name)
            writer.data(hello.token)
            writer.optional(hello.resumed) { $0.integer($1.rawValue) }
        case .commit(let transaction, let known):
            begin(&writer, 2)
            writer.integer(known.rawValue)
            writer.data(try transaction.payload())
        case .read(let known):
            begin(&writer, 3)
            writer.integer(known.rawValue)
        case .probe(let known):
            begin(&writer, 4)
            writer.integer(known.rawValue)
        case .catchUp(let revision):
            begin(&writer, 5)
            writer.optional(revision) { $0.integer($1.rawValue) }
        case .keepAlive:
            begin(&writer, 6)
        case .close:
            begin(&writer, 7)
        case .history(let revision):
            begin(&writer, 8)
            writer.integer(revision.rawValue)
        case .view(let group):
            begin(&writer, Self.viewTag)
            writer.text(group)
        case .keepBaton(let bytes, let epoch, let lifetime):
            begin(&writer, 10)
            writer.integer(epoch.rawValue)
            writer.integer(lifetime.clampedNanoseconds)
            writer.data(bytes)
        case .fetchBaton(let epoch, let own):
            begin(&writer, 11)
            writer.integer(epoch.rawValue)
            writer.integer(own.rawValue)
        }
        return writer.bytes
    }

    private func begin(_ writer: inout ByteWriter, _ tag: UInt8) {
        writer.byte(tag)
        writer.integer(number)
        guard Self.hasNonce(tag) else { return }
        writer.word(nonce.high)
        writer.word(nonce.low)
    }

    /// Reads a request. The bytes are untrusted.
    ///
    /// - Throws: ``SharedCoreError/Code/corrupt``, ``SharedCoreError/Code/incompatible`` for another version, and
    ///   ``SharedCoreError/Code/limitExceeded`` or ``SharedCoreError/Code/invalidArgument`` for a baton beyond its
    ///   bounds.
    init(_ bytes: [UInt8]) throws(SharedCoreError) {
        (number, nonce, body) = try Wire.read(bytes) { reader in
            let tag = try reader.byte()
            let number = try reader.integer()
            let nonce =
                Self.hasNonce(tag) ? ConnectionNonce(high: try reader.word(), low: try reader.word()) : .none
            return (number, nonce, try Self.body(tag, &reader))
        }
    }

    /// Returns the number of a request that cannot be read otherwise; 0 when the number cannot be read either.
    static func number(of bytes: [UInt8]) -> UInt64 {
        var reader = ByteReader(bytes)
        guard (try? reader.byte()) == Wire.version, (try? reader.byte()) != nil else { return 0 }
        return (try? reader.integer()) ?? 0
    }

    /// Returns whether a request may come before a welcome. For such a request the hub must determine the sending
    /// process.
    static func needsPeer(_ bytes: [UInt8]) -> Bool {
        bytes.count > 1 && bytes[0] == Wire.version && !hasNonce(bytes[1])
    }

    private static let helloTag: UInt8 = 1
    private static let viewTag: UInt8 = 9

    private static func hasNonce(_ tag: UInt8) -> Bool { tag != helloTag && tag != viewTag }

    init(number: UInt64, nonce: ConnectionNonce = .none, body: Body) {
        self.number = number
        self.nonce = nonce
        self.body = body
    }

    private static func body(_ tag: UInt8, _ reader: inout ByteReader) throws -> Body {
        switch tag {
        case helloTag: return .hello(try hello(&reader))
        case 2:
            let known = Revision(rawValue: try reader.integer())
            return .commit(try Transaction(payload: try reader.slice()), known: known)
        case 3: return .read(known: Revision(rawValue: try reader.integer()))
        case 4: return .probe(known: Revision(rawValue: try reader.integer()))
        case 5:
            return .catchUp(
                after: try reader.optional { reader throws(ByteCodingError) in
                    Revision(rawValue: try reader.integer())
                })
        case 6: return .keepAlive
        case 7: return .close
        case 8: return .history(after: Revision(rawValue: try reader.integer()))
        case viewTag: return .view(group: try reader.text())
        case 10: return try keepBaton(&reader)
        case 11:
            return .fetchBaton(
                of: Revision(rawValue: try reader.integer()), under: Revision(rawValue: try reader.integer()))
        default: throw ByteCodingError.malformed
        }
    }

    private static func keepBaton(_ reader: inout ByteReader) throws -> Body {
        let epoch = Revision(rawValue: try reader.integer())
        let lifetime = Duration.nanoseconds(Int64(clamping: try reader.integer()))
        let bytes = try reader.slice()
        // A frame that cannot be read is `corrupt`, also if one of its fields breaks a rule.
        try reader.finish()
        guard bytes.count <= Wire.batonByteLimit else {
            throw SharedCoreError(
                .limitExceeded, "A baton has at most \(Wire.batonByteLimit) bytes, not \(bytes.count).", at: "baton")
        }
        guard epoch != .zero, HubBaton.lifetimes.contains(lifetime) else {
            throw SharedCoreError(
                .invalidArgument, "A baton is of an epoch, and is kept for 1 s to 60 s.", at: "baton")
        }
        return .keepBaton(Array(bytes), of: epoch, for: lifetime)
    }

    private static func hello(_ reader: inout ByteReader) throws(ByteCodingError) -> Hello {
        let group = try reader.text()
        let process = try reader.identity()
        let role = try reader.text()
        guard SessionRole(rawValue: role).isWord else { throw .malformed }
        let name = try reader.text()
        // Longer names would be truncated, which takes time.
        guard max(role.utf8.count, name.utf8.count) <= SessionDescription.maximumNameByteCount else { throw .malformed }
        let token = try reader.data()
        guard token.count == Wire.tokenByteCount else { throw .malformed }
        let resumed = try reader.optional { reader throws(ByteCodingError) in
            SessionID(rawValue: try reader.integer())
        }
        return Hello(
            group: group, process: process,
            description: SessionDescription(role: SessionRole(rawValue: role), name: name), token: token,
            resumed: resumed)
    }
}
