internal import CoreAPI
internal import StoreEngine

/// What a client asks of the hub: one frame.
struct Request: Hashable {
    /// Rises with each request of a session; an answer carries the number of its request.
    let number: UInt64
    /// What the connection was welcomed with; a hello and a view have none.
    let nonce: ConnectionNonce
    let body: Body

    enum Body: Hashable {
        /// Joins the group, or takes up a session again.
        case hello(Hello)
        /// Commits a transaction.
        ///
        /// - Parameter known: The revision that the client's replica stands at.
        case commit(Transaction, known: Revision)
        /// Asks for everything that was committed before.
        case read(known: Revision)
        /// The same, after the dead have been looked for.
        case probe(known: Revision)
        /// Asks for what comes after a revision, whatever has to be sent for it.
        case catchUp(after: Revision?)
        /// Says that the client is there.
        case keepAlive
        /// Ends the session.
        case close
        /// Asks for the changes after a revision, which a watch is to go on from.
        case history(after: Revision)
        /// Asks for the state of a group, without joining it.
        case view(group: String)
    }

    /// What a client says of itself.
    struct Hello: Hashable {
        /// The group that it wants.
        var group: String
        var process: ProcessIdentity
        var description: SessionDescription
        /// What the client has made up to prove that the session is its own when it comes again.
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

    /// Reads a request. Nothing is trusted.
    ///
    /// - Throws: ``SharedCoreError/Code/corrupt``, and ``SharedCoreError/Code/incompatible`` for another version.
    init(_ bytes: [UInt8]) throws(SharedCoreError) {
        (number, nonce, body) = try Wire.read(bytes) { reader in
            let tag = try reader.byte()
            let number = try reader.integer()
            let nonce =
                Self.hasNonce(tag) ? ConnectionNonce(high: try reader.word(), low: try reader.word()) : .none
            return (number, nonce, try Self.body(tag, &reader))
        }
    }

    /// The number of a request of which the rest cannot be read; 0 when that cannot be read either.
    static func number(of bytes: [UInt8]) -> UInt64 {
        var reader = ByteReader(bytes)
        guard (try? reader.byte()) == Wire.version, (try? reader.byte()) != nil else { return 0 }
        return (try? reader.integer()) ?? 0
    }

    /// Whether it comes without a welcome, if it can be read, so that the hub has to know the process that sends it.
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
        default: throw ByteCodingError.malformed
        }
    }

    private static func hello(_ reader: inout ByteReader) throws(ByteCodingError) -> Hello {
        let group = try reader.text()
        let process = try reader.identity()
        let role = try reader.text()
        guard SessionRole(rawValue: role).isWord else { throw .malformed }
        let name = try reader.text()
        // Longer ones would be cut, which takes its time.
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
