public import CoreAPI

/// Work of an owner that a hand-over waits for: a call, a transfer, or something of the application's own.
///
/// A core begins one with ``CoreContext/begin(_:id:expectedEnd:)``. It lasts until it is ended, until the owner's session ends, or
/// until its bound has passed.
///
/// Source: contract C17.
public struct Activity: Hashable, Sendable {
    /// The kind of an activity, and how long it may last at most.
    public struct Kind: Hashable, Sendable {
        /// The name of the work, as text for users: `call`, `transfer` or the name of a custom kind.
        public let name: String
        /// How long one may last, counted from its beginning.
        public let bound: Duration

        /// A call: 4 hours at most.
        public static let call = Kind(name: "call", bound: .seconds(4 * 3600))
        /// The transfer of a file: 10 minutes at most.
        public static let transfer = Kind(name: "transfer", bound: .seconds(600))

        /// Returns the kind of any other work.
        ///
        /// - Parameters:
        ///   - name: The name of the work, for people: 1 to 64 bytes of UTF-8.
        ///   - bound: How long it may last: 1 second to 1 hour.
        public static func custom(_ name: String, bound: Duration) -> Kind {
            Kind(name: name, bound: bound)
        }

        init(name: String, bound: Duration) {
            self.name = name
            self.bound = bound
        }
    }

    /// The kind of work.
    public let kind: Kind
    /// The identifier, for users and for the application: 1 to 128 bytes of UTF-8, or the id of its call. An owner has
    /// at most one open activity with the same name and id.
    public let id: String
    /// When it began, on the boot clock of its process.
    public internal(set) var begun: BootInstant
    /// When the application expects it to end, by the same clock; nil if not known. It is information for users and has
    /// no effect.
    public let expectedEnd: BootInstant?
    /// The kind of the ``Baton`` with which another core can continue it; nil if none can.
    ///
    /// The group has it in a record of its own, which programs of earlier releases do not read.
    ///
    /// Source: contract C25.
    public internal(set) var moves: String?
    /// The part of that baton that the next core needs; without meaning if ``moves`` is nil.
    public internal(set) var needs: BatonNeed

    package init(
        _ kind: Kind, id: String, begun: BootInstant, expectedEnd: BootInstant? = nil, moves: String? = nil,
        needs: BatonNeed = .descriptors
    ) {
        self.kind = kind
        self.id = id
        self.begun = begun
        self.expectedEnd = expectedEnd
        self.moves = moves
        self.needs = needs
    }

    /// When its bound passes, by the machine's boot clock. From then on it delays no hand-over.
    public var latestEnd: BootInstant { begun.advanced(by: kind.bound) }

    /// Returns the activity for people: `call “a84b4c76e66710”`.
    public func describe() -> String { "\(kind.name) “\(id)”" }

    /// Returns the activities of a group's owner; none if there is no owner.
    ///
    /// Their bounds may have passed.
    public static func current(in store: some SharedStore) async throws(SharedCoreError) -> [Activity] {
        var view = OwnershipView()
        // The view includes activities past their bound, because this reader has no clock of the group.
        view.apply(try await store.list(OwnershipKey.path), at: BootInstant(nanoseconds: .max))
        return view.owner.map { OpenWork(view).open(under: $0.claim) } ?? []
    }

    func isSameWork(as other: Activity) -> Bool { isWork(named: other.kind.name, id: other.id) }

    /// Returns true if this is the activity of the call.
    package func isWork(of call: CallID) -> Bool { isWork(named: Kind.call.name, id: call.text) }

    /// Returns true if the name and the id are equal to those of this activity, byte by byte.
    func isWork(named name: String, id: String) -> Bool {
        UTF8Bytes.equal(kind.name, name) && UTF8Bytes.equal(self.id, id)
    }
}

extension Activity.Kind {
    fileprivate static let longestBound = call.bound
    fileprivate static let maximumNameByteCount = 64
    private static let customBounds = Duration.seconds(1)...Duration.seconds(3600)

    /// The rule that it breaks; nil if it breaks none.
    fileprivate var problem: String? {
        if self == .call || self == .transfer { return nil }
        guard 1...Self.maximumNameByteCount ~= name.utf8.count, name != Self.call.name, name != Self.transfer.name
        else {
            return
                "The name of a custom activity has 1 to \(Self.maximumNameByteCount) bytes, and is not that of another kind."
        }
        guard !UTF8Bytes.hasControl(name) else { return "The name of an activity has no control characters." }
        return Self.customBounds.contains(bound)
            ? nil : "The bound of a custom activity is 1 second to 1 hour, not \(bound)."
    }
}

extension Activity {
    private static let maximumIDByteCount = 128

    /// True if a core of any version can have written it. A bound or a text beyond the limits shows that the record is
    /// damaged.
    fileprivate var isPossible: Bool {
        let isCall = kind.name == Kind.call.name
        let maximumIDByteCount = isCall ? CallDescription.maximumByteCount : Self.maximumIDByteCount
        return kind.bound <= Kind.longestBound && 1...Kind.maximumNameByteCount ~= kind.name.utf8.count
            && 1...maximumIDByteCount ~= id.utf8.count
    }

    /// The rule that it breaks; nil if it breaks none.
    package var problem: String? {
        guard 1...Self.maximumIDByteCount ~= id.utf8.count else {
            return "The id of an activity has 1 to \(Self.maximumIDByteCount) bytes, not \(id.utf8.count)."
        }
        guard !UTF8Bytes.hasControl(id) else { return "The id of an activity has no control characters." }
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

    /// The value for bytes that cannot be read: no activities, so a damaged record delays no hand-over.
    package static let unreadable = ActivitiesRecord(epoch: .zero, activities: [])

    /// The longest bound of the activities.
    package var bound: Duration { activities.map(\.kind.bound).max() ?? .zero }

    /// The activity with the latest end of its bound.
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
            let activity = Activity(kind, id: id, begun: begun, expectedEnd: end)
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
        }
    }
}

extension ActivitiesRecord {
    /// Checks that one more activity may begin.
    ///
    /// - Throws: ``SharedCoreError/Code/limitExceeded`` if the maximum number of activities is open.
    static func requireRoom(beside open: [Activity]) throws(SharedCoreError) {
        guard open.count >= maximumCount else { return }
        throw SharedCoreError(
            .limitExceeded, "At most \(maximumCount) activities of an owner are open at once.",
            at: OwnershipKey.activities.text)
    }

    /// Returns the activities in a record if it was written under this ownership.
    package static func open(under epoch: Revision, in standing: Standing<ActivitiesRecord>?) -> [Activity] {
        guard let record = standing?.record, record.epoch == epoch else { return [] }
        return record.activities
    }
}
