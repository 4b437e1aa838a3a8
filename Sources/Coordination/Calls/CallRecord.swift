package import CoreAPI
internal import Mailboxes

/// The keys of calls in the store.
package enum CallKey {
    /// Selects all entries of calls.
    static let all: KeyPrefix = ".sharedcore/calls/"
    /// Selects the records of all calls.
    package static let records: KeyPrefix = ".sharedcore/calls/call/"

    /// Returns the key of the record of a call.
    package static func record(of id: CallID) throws(SharedCoreError) -> Key {
        try Key(records.path + ItemName(id.text).text)
    }
}

/// The record of a call in the group.
///
/// A call belongs to the ownership under which its record was written last: an open call whose record is older than the
/// owner's claim is lost. So a commit of a new owner, even that of its acquisition, takes a call over by writing its
/// record again unchanged. The record need not name an epoch, which is not known before the commit of the acquisition.
///
/// ``ByteWriter`` writes these fields, in this order:
///
/// | form | content |
/// |---|---|
/// | byte | version, 1 |
/// | four texts | id, from, to, account; in state 7 only the id is not empty |
/// | two bytes | direction, media |
/// | byte | state: 1 incoming, 2 ringing, 3 answered, 4 held, 5 remotely held, 6 ended, 7 ended and acknowledged |
/// | byte and text | in states 6 and 7: the reason of the end |
/// | two words | the boot id of the times |
/// | integer | when the call began |
/// | two optional integers | when it was answered, when it ended |
package struct CallRecord: Hashable, Sendable {
    /// The maximum number of ended calls that are kept. It applies separately to acknowledged calls and to calls that
    /// were not acknowledged. The oldest are removed first. With this bound the records fit into the space that is
    /// reserved for coordination (S10).
    package static let maximumEndedCount = 128
    private static let version: UInt8 = 1

    package private(set) var call: CallDescription
    package var state: Call.State
    /// True if an ended call need not be shown again.
    package var isAcknowledged = false
    package let bootID: BootID
    package let began: BootInstant
    package var answered: BootInstant?
    package var ended: BootInstant?

    package init(_ call: CallDescription, in state: Call.State, began: BootInstant, bootID: BootID) {
        self.call = call
        self.state = .ringing
        self.began = began
        self.bootID = bootID
        change(to: state, at: began)
    }

    package mutating func change(to state: Call.State, at now: BootInstant) {
        self.state = state
        switch state {
        case .answered, .held, .remotelyHeld: answered = answered ?? now
        case .ended: ended = now
        case .incoming, .ringing: break
        }
    }

    /// The media that the call has.
    var media: Call.Media {
        get { call.media }
        set { call.media = newValue }
    }

    /// Returns true if this is the record of the described call. The media may have changed since it began.
    func isRecord(of description: CallDescription) -> Bool {
        var former = call
        former.media = description.media
        return former == description
    }

    /// Marks the call as one that need not be shown again, and drops its description except the id, the direction and
    /// the media.
    mutating func acknowledge() {
        if case .ended(let reason) = state { state = .ended(Call.EndReason(reason.kind)) }
        call = CallDescription(call.id, call.direction, from: "", to: "", media: call.media)
        isAcknowledged = true
    }

    /// Returns nil when the bytes are no call that this version reads.
    package init?(_ bytes: [UInt8]) {
        do {
            var reader = ByteReader(bytes)
            guard try reader.byte() == Self.version, let id = CallID(try reader.text()) else { return nil }
            let (from, to, account) = (try reader.text(), try reader.text(), try reader.text())
            guard let direction = Call.Direction(rawValue: try reader.byte()) else { return nil }
            call = CallDescription(
                id, direction, from: from, to: to, account: account, media: Call.Media(rawValue: try reader.byte()))
            let tag = try reader.byte()
            switch tag {
            case 1: state = .incoming
            case 2: state = .ringing
            case 3: state = .answered
            case 4: state = .held
            case 5: state = .remotelyHeld
            case 6, 7:
                guard let kind = Call.EndReason.Kind(rawValue: try reader.byte()) else { return nil }
                state = .ended(Call.EndReason(kind, try reader.text()))
            default: return nil
            }
            isAcknowledged = tag == 7
            bootID = BootID(high: try reader.word(), low: try reader.word())
            began = try reader.instant()
            answered = try reader.optional { reader throws(ByteCodingError) in try reader.instant() }
            ended = try reader.optional { reader throws(ByteCodingError) in try reader.instant() }
            try reader.finish()
        } catch {
            return nil
        }
    }

    package var bytes: [UInt8] {
        var writer = ByteWriter(reserving: 128)
        writer.byte(Self.version)
        for text in [call.id.text, call.from, call.to, call.account] { writer.text(text) }
        writer.byte(call.direction.rawValue)
        writer.byte(call.media.rawValue)
        switch state {
        case .incoming: writer.byte(1)
        case .ringing: writer.byte(2)
        case .answered: writer.byte(3)
        case .held: writer.byte(4)
        case .remotelyHeld: writer.byte(5)
        case .ended(let reason):
            writer.byte(isAcknowledged ? 7 : 6)
            writer.byte(reason.kind.rawValue)
            writer.text(reason.text)
        }
        writer.word(bootID.high)
        writer.word(bootID.low)
        writer.instant(began)
        writer.optional(answered) { $0.instant($1) }
        writer.optional(ended) { $0.instant($1) }
        return writer.bytes
    }
}

extension CallRecord {
    /// Returns the records of open calls that were written under former ownerships, and the records that cannot be
    /// read.
    ///
    /// - Parameter spared: The calls that the owner's core may continue.
    package static func left(among entries: [Entry], before owner: Revision, butFor spared: Set<Key>) -> [Entry] {
        entries.filter {
            CallKey.records.contains($0.key) && $0.lifetime == .persistent && $0.isOlder(than: owner)
                && !spared.contains($0.key)
        }
    }

    /// Returns the commit that ends calls as lost, and removes records that cannot be read.
    package static func ending(
        lost: some Sequence<Entry>, at now: BootInstant, for lifetime: Duration
    ) -> Transaction {
        var transaction = Transaction()
        for entry in lost {
            transaction.require(.revision(entry.key, entry.revision))
            guard var record = CallRecord(entry.value), record.state.isOpen else {
                transaction.delete(entry.key)
                continue
            }
            record.change(to: .ended(.lost), at: now)
            transaction.put(entry.key, record.bytes, lifetime: .expiring(after: lifetime))
        }
        return transaction
    }

    /// Returns the oldest ended calls that were not acknowledged: those to remove so that `more` further ones can be
    /// kept.
    static func surplus(among entries: some Sequence<Entry>, with more: Int = 0) -> some Collection<Entry> {
        let ended = entries.filter { $0.lifetime != .persistent && CallRecord($0.value)?.isAcknowledged != true }
        // No commit changes a record between the end of its call and the acknowledgement, so the order of the revisions
        // is the order of the ends.
        return ended.sorted { $0.revision < $1.revision }.prefix(max(0, ended.count + more - maximumEndedCount))
    }

    /// Returns the acknowledged calls beyond the maximum, beginning with those that ended first. The remaining records
    /// tell a participant that waits for an id late that its call was acknowledged.
    static func acknowledgedSurplus(
        among entries: some Sequence<Entry>, with more: Int, in bootID: BootID
    ) -> some Collection<Entry> {
        let acknowledged = entries.compactMap { entry -> (entry: Entry, end: (Int, BootInstant, Revision))? in
            guard let record = CallRecord(entry.value), record.isAcknowledged else { return nil }
            return (entry, (record.bootID == bootID ? 1 : 0, record.ended ?? record.began, entry.revision))
        }
        return acknowledged.sorted { $0.end < $1.end }.map(\.entry)
            .prefix(max(0, acknowledged.count + more - maximumEndedCount))
    }
}

extension Transaction {
    /// Removes entries, and fails if one has changed since it was read.
    mutating func remove(_ entries: some Sequence<Entry>) {
        for entry in entries {
            require(.revision(entry.key, entry.revision))
            delete(entry.key)
        }
    }
}

extension Entry {
    /// Returns true if a call's record was written under an earlier ownership.
    package func isOlder(than owner: Revision?) -> Bool { owner.map { revision < $0 } ?? true }
}

/// The calls of a group and its owner, at one revision.
struct CallsView: Hashable {
    private var owner: GroupOwner?
    /// The keys of the calls that move between cores. They are not lost: an owner may continue them.
    private var moving: Set<Key> = []
    private var entries: [Key: Entry] = [:]

    static let prefixes = [KeyPrefix(OwnershipKey.owner), KeyPrefix(OwnershipKey.baton), CallKey.records]

    init() {}

    init(_ entries: [Entry], owner: Entry?, baton: Entry?) {
        for entry in entries { set(entry.key, to: entry) }
        set(OwnershipKey.owner, to: owner)
        set(OwnershipKey.baton, to: baton)
    }

    /// Applies an event of a watch of ``prefixes``.
    mutating func apply(_ event: WatchEvent) {
        switch event {
        case .snapshot(let snapshot), .lagged(let snapshot):
            self = CallsView()
            for entry in snapshot.entries { set(entry.key, to: entry) }
        case .changes(let changes):
            for change in changes.changes { set(change.key, to: change.new) }
        }
    }

    private mutating func set(_ key: Key, to entry: Entry?) {
        if key == OwnershipKey.owner {
            owner = entry.map { GroupOwner(Standing($0)) }
        } else if key == OwnershipKey.baton {
            moving = BatonRecord.movingKeys(of: entry)
        } else if CallKey.records.contains(key) {
            entries[key] = entry
        }
    }

    /// The open calls, the oldest first, then those that have ended, the newest first. Acknowledged and unreadable
    /// calls are left out.
    var calls: [Call] {
        let calls = entries.values.compactMap { entry -> (entry: Entry, call: Call)? in
            guard let record = CallRecord(entry.value), !record.isAcknowledged else { return nil }
            let isHeld = !entry.isOlder(than: owner?.epoch)
            return (entry, Call(record, holder: isHeld ? owner : nil, isMoving: !isHeld && moving.contains(entry.key)))
        }
        let open = calls.filter(\.call.isOpen).sorted { $0.entry.creationRevision < $1.entry.creationRevision }
        let ended = calls.filter { !$0.call.isOpen }.sorted { $0.entry.revision > $1.entry.revision }
        return (open + ended).map(\.call)
    }
}
