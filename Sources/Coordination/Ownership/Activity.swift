public import CoreAPI

/// Work of an owner that a hand-over waits for: a call, a transfer, or something of the application's own.
///
/// A core begins one with ``CoreContext/begin(_:id:expectedEnd:)``. It lasts until it is ended, until the owner's session ends, or
/// until its bound has passed.
///
/// Source: contract C17.
public struct Activity: Hashable, Sendable {
    /// What kind of work it is, and how long it may last at most.
    public struct Kind: Hashable, Sendable {
        /// The work for people: `call`, `transfer`, or the name of a custom one.
        public let name: String
        /// How long one may last, counted from its beginning.
        public let bound: Duration

        /// A call: 4 hours at most.
        public static let call = Kind(name: "call", bound: .seconds(4 * 3600))
        /// The transfer of a file: 10 minutes at most.
        public static let transfer = Kind(name: "transfer", bound: .seconds(600))

        /// Any other work.
        ///
        /// - Parameters:
        ///   - name: What it is, for people: 1 to 64 bytes of UTF-8.
        ///   - bound: How long it may last: 1 second to 1 hour.
        public static func custom(_ name: String, bound: Duration) -> Kind {
            Kind(name: name, bound: bound)
        }

        init(name: String, bound: Duration) {
            self.name = name
            self.bound = bound
        }
    }

    /// What kind of work it is.
    public let kind: Kind
    /// Which one it is, for people and for the application: 1 to 128 bytes of UTF-8. An owner has one of a name and id at a time.
    public let id: String
    /// When it began, by the clock of the machine's run.
    public let begun: BootInstant
    /// When its application expects it to end, by the same clock; nil where that is not known. Nothing follows from it.
    public let expectedEnd: BootInstant?
    /// The kind of the ``Baton`` with which another core can go on with it; nil where none can.
    ///
    /// Source: contract C25.
    public let moves: String?

    package init(
        _ kind: Kind, id: String, begun: BootInstant, expectedEnd: BootInstant? = nil, moves: String? = nil
    ) {
        self.kind = kind
        self.id = id
        self.begun = begun
        self.expectedEnd = expectedEnd
        self.moves = moves
    }

    /// When its bound has passed, by the clock of the machine's run: from then on it keeps nothing.
    public var latestEnd: BootInstant { begun.advanced(by: kind.bound) }

    /// The activity for people: `call “a84b4c76e66710”`.
    public func describe() -> String { "\(kind.name) “\(id)”" }

    /// The activities of a group's owner; none where it has none, or where there is no owner.
    ///
    /// Their bounds may have passed.
    public static func current(in store: some SharedStore) async throws(SharedCoreError) -> [Activity] {
        var view = OwnershipView()
        // As they stand: this has no clock of the group.
        view.apply(try await store.list(OwnershipKey.path), at: BootInstant(nanoseconds: .max))
        return view.owner.map { ActivitiesRecord.open(under: $0.claim, in: view.activities) } ?? []
    }

    func isSameWork(as other: Activity) -> Bool { kind.name == other.kind.name && id == other.id }
}

extension Activity.Kind {
    fileprivate static let longestBound = call.bound
    fileprivate static let maximumNameByteCount = 64
    private static let customBounds = Duration.seconds(1)...Duration.seconds(3600)

    /// The rule that it breaks; nil where it breaks none.
    fileprivate var problem: String? {
        if self == .call || self == .transfer { return nil }
        guard 1...Self.maximumNameByteCount ~= name.utf8.count, name != Self.call.name, name != Self.transfer.name
        else {
            return
                "The name of a custom activity has 1 to \(Self.maximumNameByteCount) bytes, and is not that of another kind."
        }
        return Self.customBounds.contains(bound)
            ? nil : "The bound of a custom activity is 1 second to 1 hour, not \(bound)."
    }
}

extension Activity {
    private static let maximumIDByteCount = 128

    /// Whether a core can have begun it, of this version or another: what would keep a core longer than any activity may, or
    /// has a longer text, is damaged.
    fileprivate var isPossible: Bool {
        kind.bound <= Kind.longestBound && 1...Kind.maximumNameByteCount ~= kind.name.utf8.count
            && 1...Self.maximumIDByteCount ~= id.utf8.count && moves.map(Baton.isKind) ?? true
    }

    /// The rule that it breaks; nil where it breaks none.
    package var problem: String? {
        guard 1...Self.maximumIDByteCount ~= id.utf8.count else {
            return "The id of an activity has 1 to \(Self.maximumIDByteCount) bytes, not \(id.utf8.count)."
        }
        return kind.problem
    }
}

/// The activities of an owner that are open. Lives with the owner's session.
package struct ActivitiesRecord: StoredRecord {
    /// How many may be open at once.
    package static let maximumCount = 16

    /// The ownership under which they were begun.
    package var epoch: Revision
    package var activities: [Activity]

    package init(epoch: Revision, activities: [Activity]) {
        self.epoch = epoch
        self.activities = activities
    }

    package static let newestLayout: UInt8 = 2
    /// Layout 2 says with which baton each of them moves.
    package var layout: UInt8 { activities.contains { $0.moves != nil } ? 2 : 1 }

    /// No activity: what cannot be read protects nothing.
    package static let unreadable = ActivitiesRecord(epoch: .zero, activities: [])

    /// The longest time that one of them may take.
    package var bound: Duration { activities.map(\.kind.bound).max() ?? .zero }

    /// The one whose bound passes last.
    package var last: Activity? { activities.max { $0.latestEnd < $1.latestEnd } }
}

extension ActivitiesRecord {
    package init(reading reader: inout ByteReader, layout: UInt8) throws(ByteCodingError) {
        epoch = try reader.revision()
        let count = try reader.byte()
        guard count <= Self.maximumCount else { throw .malformed }
        activities = []
        for _ in 0..<count {
            let kind = Activity.Kind(name: try reader.text(), bound: try reader.duration())
            let id = try reader.text()
            let begun = try reader.instant()
            let end = try reader.optional { reader throws(ByteCodingError) in try reader.instant() }
            let moves =
                layout >= 2
                ? try reader.optional { reader throws(ByteCodingError) in try reader.text() } : nil
            let activity = Activity(kind, id: id, begun: begun, expectedEnd: end, moves: moves)
            guard activity.isPossible else { throw .malformed }
            activities.append(activity)
        }
    }

    package func write(into writer: inout ByteWriter) {
        writer.revision(epoch)
        writer.byte(UInt8(clamping: activities.count))
        for activity in activities {
            writer.text(activity.kind.name)
            writer.duration(activity.kind.bound)
            writer.text(activity.id)
            writer.instant(activity.begun)
            writer.optional(activity.expectedEnd) { $0.instant($1) }
            if layout >= 2 { writer.optional(activity.moves) { $0.text($1) } }
        }
    }
}

extension ActivitiesRecord {
    /// The transaction that begins an activity: not while a request is pending, nor while the owner rests.
    ///
    /// - Parameter standing: What stands, also of an ownership that is over.
    package static func beginning(
        _ activity: Activity, under epoch: Revision, beside standing: Standing<ActivitiesRecord>?
    ) -> Transaction {
        var transaction = Transaction()
        transaction.require(.epoch(OwnershipKey.owner, epoch))
        transaction.require(.absent(OwnershipKey.handover))
        transaction.require(.absent(OwnershipKey.rest))
        let others = open(under: epoch, in: standing)
        write(ActivitiesRecord(epoch: epoch, activities: others + [activity]), over: standing, to: &transaction)
        return transaction
    }

    /// The transaction that writes the activities anew as they stand: not while a request is pending.
    static func keeping(under epoch: Revision, _ standing: Standing<ActivitiesRecord>?) -> Transaction {
        var transaction = Transaction()
        transaction.require(.epoch(OwnershipKey.owner, epoch))
        transaction.require(.absent(OwnershipKey.handover))
        write(
            ActivitiesRecord(epoch: epoch, activities: open(under: epoch, in: standing)), over: standing,
            to: &transaction)
        return transaction
    }

    /// - Throws: ``SharedCoreError/Code/limitExceeded`` where so many are open that none can begin.
    static func requireRoom(beside open: [Activity]) throws(SharedCoreError) {
        guard open.count >= maximumCount else { return }
        throw SharedCoreError(
            .limitExceeded, "At most \(maximumCount) activities of an owner are open at once.",
            at: OwnershipKey.activities.text)
    }

    /// The transaction that ends an activity; nil where it is not open.
    package static func ending(
        _ activity: Activity, under epoch: Revision, beside standing: Standing<ActivitiesRecord>?
    ) -> Transaction? {
        let present = open(under: epoch, in: standing)
        let others = present.filter { $0 != activity }
        guard others.count < present.count else { return nil }
        var transaction = Transaction()
        transaction.require(.epoch(OwnershipKey.owner, epoch))
        write(ActivitiesRecord(epoch: epoch, activities: others), over: standing, to: &transaction)
        return transaction
    }

    /// Adds to a transaction that activities of a former ownership go on under this one.
    static func moving(
        _ moved: [Activity], to epoch: Revision, beside standing: Standing<ActivitiesRecord>?,
        in transaction: inout Transaction
    ) throws(SharedCoreError) {
        let others = open(under: epoch, in: standing).filter { other in !moved.contains { $0.isSameWork(as: other) } }
        guard others.count + moved.count <= maximumCount else { return try requireRoom(beside: others + moved) }
        write(ActivitiesRecord(epoch: epoch, activities: others + moved), over: standing, to: &transaction)
    }

    /// Adds to a transaction with which baton an activity moves. Nothing where it is not open.
    static func setting(
        _ moves: String?, of activity: Activity, under epoch: Revision, beside standing: Standing<ActivitiesRecord>?,
        in transaction: inout Transaction
    ) {
        var present = open(under: epoch, in: standing)
        guard let index = present.firstIndex(where: { $0.isSameWork(as: activity) }) else { return }
        let former = present[index]
        present[index] = Activity(
            former.kind, id: former.id, begun: former.begun, expectedEnd: former.expectedEnd, moves: moves)
        write(ActivitiesRecord(epoch: epoch, activities: present), over: standing, to: &transaction)
    }

    /// The activities of an ownership in what stands.
    package static func open(under epoch: Revision, in standing: Standing<ActivitiesRecord>?) -> [Activity] {
        guard let record = standing?.record, record.epoch == epoch else { return [] }
        return record.activities
    }

    private static func write(
        _ record: ActivitiesRecord, over standing: Standing<ActivitiesRecord>?, to transaction: inout Transaction
    ) {
        let key = OwnershipKey.activities
        transaction.require(standing.map { .revision(key, $0.revision) } ?? .absent(key))
        if record.activities.isEmpty {
            transaction.delete(key)
        } else {
            transaction.put(key, record.bytes, lifetime: .session)
        }
    }
}
