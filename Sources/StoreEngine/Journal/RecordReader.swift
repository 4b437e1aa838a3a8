internal import CoreAPI

/// Reads the records of the journal, after the tag.
struct RecordReader {
    var bytes: ByteReader
    private let start: Int
    private let external: ExternalValues?

    init(_ payload: ArraySlice<UInt8>, external: ExternalValues?) {
        bytes = ByteReader(payload)
        start = payload.startIndex
        self.external = external
    }

    /// Reads all of a payload.
    ///
    /// - Throws: ``SharedCoreError/Code/corrupt``.
    static func read<Value>(
        _ payload: ArraySlice<UInt8>, external: ExternalValues? = nil, as what: String = "message",
        _ body: (inout RecordReader) throws(ByteCodingError) -> Value
    ) throws(SharedCoreError) -> Value {
        var reader = RecordReader(payload, external: external)
        do throws(ByteCodingError) {
            let value = try body(&reader)
            try reader.bytes.finish()
            return value
        } catch {
            throw SharedCoreError(.corrupt, "A \(what) cannot be read: its bytes are \(error).", at: what)
        }
    }

    mutating func effect() throws(ByteCodingError) -> Effect {
        let revision = try place()
        let time = BootInstant(nanoseconds: try bytes.integer())
        let body: Effect.Body
        var delivery: UInt64?
        let tag = try bytes.byte()
        switch tag {
        case 1:
            body = .sessionOpened(
                SessionOpening(
                    process: try bytes.identity(), role: SessionRole(rawValue: try bytes.text()),
                    name: try bytes.text(), backendData: try bytes.data()))
        case 2, 7:
            let session = SessionID(rawValue: try bytes.integer())
            if tag == 7 { delivery = try bytes.integer() }
            let number = try bytes.flag() ? try bytes.integer() : nil
            var operations: [Effect.Operation] = []
            for _ in 0..<(try bytes.count()) { operations.append(try operation()) }
            body = .committed(session, requestNumber: number, operations)
        case 3:
            body = .refused(
                SessionID(rawValue: try bytes.integer()), requestNumber: try bytes.integer(), try failure())
        case 4:
            body = .sessionEnded(SessionID(rawValue: try bytes.integer()))
        case 5:
            var keys: [Key] = []
            for _ in 0..<(try bytes.count()) { keys.append(try key()) }
            body = .expired(keys)
        case 6:
            body = .restarted(try bytes.bootID())
        default: throw .malformed
        }
        return Effect(revision: revision, time: time, body: body, delivery: delivery)
    }

    mutating func snapshotPart(_ tag: UInt8) throws(ByteCodingError) -> SnapshotPart {
        switch tag {
        case RecordTag.snapshotBegin:
            return .begin(try place())
        case RecordTag.snapshotEntries:
            var entries: [(key: Key, entry: StoredEntry)] = []
            for _ in 0..<(try bytes.count()) { entries.append(try stored()) }
            return .entries(entries)
        case RecordTag.snapshotSessions:
            var sessions: [SessionState] = []
            for _ in 0..<(try bytes.count()) { sessions.append(try session()) }
            return .sessions(sessions)
        case RecordTag.snapshotForgottenNames:
            var forgotten = ForgottenNames()
            forgotten.lastPost = try place()
            forgotten.highestCount = try bytes.integer()
            return .forgottenNames(forgotten)
        case RecordTag.snapshotTopics, RecordTag.snapshotLaterTopics:
            var topics: [(name: NotificationName, topic: TopicState)] = []
            for _ in 0..<(try bytes.count()) {
                guard let name = try? NotificationName(try bytes.text()) else { throw .malformed }
                let topic = TopicState(
                    state: try bytes.integer(), count: try bytes.integer(),
                    revision: Revision(rawValue: try bytes.integer()),
                    origin: SessionID(rawValue: try bytes.integer()),
                    firstCount: tag == RecordTag.snapshotLaterTopics ? try bytes.integer() : 0)
                topics.append((name, topic))
            }
            return .topics(topics)
        case RecordTag.snapshotDeliveries:
            return .deliveries(
                SessionID(rawValue: try bytes.integer()),
                try bytes.array { reader throws(ByteCodingError) in
                    SessionState.Delivery(
                        number: try reader.integer(),
                        commit: Commit(
                            revision: Revision(rawValue: try reader.integer()), changed: try reader.flag()))
                })
        case RecordTag.snapshotHistory:
            var commits: [CommittedChanges] = []
            for _ in 0..<(try bytes.count()) { commits.append(try changes()) }
            return .history(commits)
        case RecordTag.snapshotEnd:
            return .end
        default:
            throw .malformed
        }
    }

    mutating func transaction() throws(ByteCodingError) -> Transaction {
        var transaction = Transaction()
        for _ in 0..<(try bytes.count()) { transaction.guards.append(try condition()) }
        for _ in 0..<(try bytes.count()) {
            switch try operation() {
            case .put(let key, .inline(let value), let lifetime):
                transaction.operations.append(.put(key, value, lifetime))
            case .put: throw .malformed
            case .delete(let key): transaction.operations.append(.delete(key))
            case .deletePrefix(let prefix): transaction.operations.append(.deletePrefix(prefix))
            case .post(let name, let state): transaction.operations.append(.post(name, state: state))
            }
        }
        transaction.requestNumber = try bytes.flag() ? try bytes.integer() : nil
        return transaction
    }

    mutating func outcome() throws(ByteCodingError) -> RequestOutcome {
        guard try bytes.flag() else { return .refused(try failure()) }
        let revision = Revision(rawValue: try bytes.integer())
        return .committed(Commit(revision: revision, changed: try bytes.flag()))
    }

    private mutating func changes() throws(ByteCodingError) -> CommittedChanges {
        let revision = try place()
        let origin = SessionID(rawValue: try bytes.integer())
        var changes: [StoredChange] = []
        for _ in 0..<(try bytes.count()) {
            let kind: Change.Kind
            switch try bytes.byte() {
            case 1: kind = .put
            case 2: kind = .deleted
            case 3: kind = .expired
            case 4: kind = .sessionEnded
            default: throw .malformed
            }
            let key = try key()
            let old = try bytes.flag() ? try stored() : nil
            let new = try bytes.flag() ? try stored() : nil
            guard [old, new].allSatisfy({ $0 == nil || $0?.key == key }) else { throw .malformed }
            changes.append(StoredChange(key: key, kind: kind, old: old?.entry, new: new?.entry))
        }
        return CommittedChanges(revision: revision, origin: origin, changes: changes)
    }

    /// Reads a revision. The upper half of the numbers is invalid, so that counting never overflows.
    private mutating func place() throws(ByteCodingError) -> Revision {
        let revision = try bytes.integer()
        guard revision <= UInt64.max / 2 else { throw .malformed }
        return Revision(rawValue: revision)
    }

    private mutating func operation() throws(ByteCodingError) -> Effect.Operation {
        switch try bytes.byte() {
        case 1:
            let key = try key()
            let lifetime = try lifetime()
            return .put(key, try value(), lifetime)
        case 2: return .delete(try key())
        case 3:
            guard let prefix = try? KeyPrefix(try bytes.text()) else { throw .malformed }
            return .deletePrefix(prefix)
        case 4:
            guard let name = try? NotificationName(try bytes.text()) else { throw .malformed }
            return .post(name, state: try bytes.flag() ? try bytes.integer() : nil)
        default: throw .malformed
        }
    }

    private mutating func stored() throws(ByteCodingError) -> (key: Key, entry: StoredEntry) {
        let key = try key()
        let revision = Revision(rawValue: try bytes.integer())
        let creation = Revision(rawValue: try bytes.integer())
        let origin = SessionID(rawValue: try bytes.integer())
        let lifetime = try lifetime()
        let expiry = try bytes.flag() ? BootInstant(nanoseconds: try bytes.integer()) : nil
        let entry = StoredEntry(
            value: try value(), revision: revision, creationRevision: creation, lifetime: lifetime, origin: origin,
            expiry: expiry)
        return (key, entry)
    }

    private mutating func session() throws(ByteCodingError) -> SessionState {
        let id = SessionID(rawValue: try bytes.integer())
        let process = try bytes.identity()
        let role = SessionRole(rawValue: try bytes.text())
        let name = try bytes.text()
        let openedAt = BootInstant(nanoseconds: try bytes.integer())
        var state = SessionState(
            session: Session(id: id, process: process, role: role, name: name, openedAt: openedAt),
            backendData: try bytes.data())
        for _ in 0..<(try bytes.count()) {
            let number = try bytes.integer()
            state.restore(SessionState.RequestResult(number: number, outcome: try outcome()))
        }
        return state
    }

    private mutating func failure() throws(ByteCodingError) -> GuardFailure {
        let index = try bytes.integer()
        guard index <= UInt64(Int32.max) else { throw .malformed }
        let condition = try condition()
        guard try bytes.flag() else { return GuardFailure(index: Int(index), condition: condition, found: nil) }
        let revision = Revision(rawValue: try bytes.integer())
        let creation = Revision(rawValue: try bytes.integer())
        let origin = SessionID(rawValue: try bytes.integer())
        let lifetime = try lifetime()
        let found = Entry(
            key: condition.key, value: try bytes.data(), revision: revision, creationRevision: creation,
            lifetime: lifetime, origin: origin)
        return GuardFailure(index: Int(index), condition: condition, found: found)
    }

    private mutating func condition() throws(ByteCodingError) -> Transaction.Guard {
        switch try bytes.byte() {
        case 1: .absent(try key())
        case 2: .exists(try key())
        case 3: .revision(try key(), Revision(rawValue: try bytes.integer()))
        case 4: .epoch(try key(), Revision(rawValue: try bytes.integer()))
        default: throw .malformed
        }
    }

    private mutating func value() throws(ByteCodingError) -> StoredValue {
        let slice = try bytes.slice()
        guard let external, slice.count > external.threshold else { return .inline(Array(slice)) }
        return .external(
            external.source, offset: external.offset + UInt64(slice.startIndex - start), count: slice.count,
            checksum: slice.withUnsafeBytes(Checksum.init(of:)).value)
    }

    private mutating func lifetime() throws(ByteCodingError) -> Lifetime {
        switch try bytes.byte() {
        case 1: .persistent
        case 2: .session
        case 3: .expiring(after: .nanoseconds(Int64(clamping: try bytes.integer())))
        default: throw .malformed
        }
    }

    private mutating func key() throws(ByteCodingError) -> Key {
        guard let key = try? Key(try bytes.text()) else { throw .malformed }
        return key
    }
}
