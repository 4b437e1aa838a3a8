package import CoreAPI
package import Mailboxes

/// The pushes that are routed to Main: each waits until a Main has taken and acknowledged it, or its time is over.
///
/// It is a queue of the group separate from that of the Executors' pushes, so that neither waits behind the other. A
/// take ends with the Main's session: if a Main is killed, its pushes can be taken again. The transaction that removes
/// a push also writes its end to the timeline.
///
/// Source: contract P13.
package struct MainPushQueue: Sendable {
    /// The path of the keys of the pushes.
    package static let path = ".sharedcore/main-pushes"
    /// A transaction has a size.
    private static let endedAtOnce = 100
    /// How many ended pushes a timeline entry names.
    private static let namedCount = 3

    package let mailbox: QueueMailbox
    private let timeline: Timeline
    private let clock: any TimeSource

    package init(
        _ store: any SharedStore, timelineCapacity: Int = Timeline.defaultCapacity, clock: any TimeSource
    ) throws(SharedCoreError) {
        mailbox = try QueueMailbox(store, path: Self.path)
        timeline = Timeline(store, capacity: timelineCapacity)
        self.clock = clock
    }

    /// Returns the bytes of a push that comes now.
    ///
    /// - Parameter lifetime: How long it waits for a Main.
    package func bytes(of push: Push, for lifetime: Duration) -> [UInt8] {
        MainPushRecord(push: push, end: clock.now().advanced(by: lifetime), bootID: clock.bootID).bytes
    }

    /// A push that waits for a Main or that a Main has in hand.
    package struct Listed: Hashable, Sendable {
        /// Nil when this version cannot read it.
        package let push: Push?
        /// When its time ends; nil if that belongs to another boot.
        package let end: BootInstant?
        /// The session that has it in hand.
        package let holder: SessionID?
    }

    /// Returns the pushes, the oldest first.
    ///
    /// - Parameter limit: The most pushes.
    /// - Returns: The pushes, and how many there are.
    package func list(limit: Int) async throws(SharedCoreError) -> (pushes: [Listed], count: Int) {
        let contents = try await mailbox.contents()
        let all = contents.taken + contents.waiting
        let pushes = all.prefix(limit).map { item, message in
            let record = MainPushRecord(message.value)
            return Listed(
                push: record?.push, end: record.flatMap { $0.bootID == clock.bootID ? $0.end : nil },
                holder: contents.items[item]?.take?.origin)
        }
        return (pushes, all.count)
    }

    /// Takes a push for the Main that owns under an epoch. A push past its end is removed instead.
    ///
    /// - Returns: The push; nil if there is none that this version can read.
    /// - Throws: ``SharedCoreError/Code/guardFailed``, at the owner's key, when the epoch has ended.
    func take(_ item: ItemName, under epoch: Revision) async throws(SharedCoreError) -> TakenPush? {
        let found = try await mailbox.item(item)
        guard let message = found.message, found.take == nil, let record = MainPushRecord(message.value) else {
            return nil
        }
        if record.isOver(at: clock.now(), in: clock.bootID) {
            _ = try await end([item: message.revision])
            return nil
        }
        let delivery = try await mailbox.take(
            message, of: item, requiring: .epoch(OwnershipKey.owner, epoch))
        return delivery.map { TakenPush(push: record.push, delivery: $0) }
    }

    /// Adds the acknowledgement of a push and its timeline entry to a transaction.
    func acknowledgementOperations(
        of taken: TakenPush, under epoch: Revision?, into transaction: inout Transaction
    ) throws(SharedCoreError) {
        try mailbox.addAcknowledgement(of: taken.delivery, to: &transaction)
        try tell(.pushHandled, taken.push.sentence, under: epoch, in: &transaction)
    }

    /// Removes the given pushes that no Main has in hand and that have not changed since. If there are many, removes
    /// only some of them.
    ///
    /// - Returns: A sentence about the removed pushes; nil if there are none. A watch reports pushes that changed
    ///   meanwhile.
    package func end(_ overdue: [ItemName: Revision]) async throws(SharedCoreError) -> String? {
        var transaction = Transaction()
        var names: [String] = []
        for (item, revision) in overdue.prefix(Self.endedAtOnce) {
            let found = try await mailbox.item(item)
            guard let message = found.message, message.revision == revision, found.take == nil else { continue }
            transaction.require(.revision(message.key, revision))
            transaction.require(.absent(try mailbox.keys.key(of: .take, for: item)))
            transaction.delete(message.key)
            names.append(MainPushRecord(message.value)?.push.sentence ?? "one that cannot be read here")
        }
        guard !names.isEmpty else { return nil }
        let more = names.count - Self.namedCount
        let sentence =
            names.prefix(Self.namedCount).joined(separator: "; ") + (more > 0 ? "; and \(more) more" : "")
        try tell(.pushEnded, sentence, in: &transaction)
        do throws(SharedCoreError) {
            _ = try await mailbox.store.commit(transaction)
        } catch {
            guard mailbox.isOutdated(error) else { throw error }
            return nil
        }
        try await timeline.trim()
        return sentence
    }

    /// Adds an entry of the timeline to a transaction. Call ``trimTimeline()`` after its commit.
    package func tell(
        _ kind: TimelineEntry.Kind, _ reason: String, under epoch: Revision? = nil, in transaction: inout Transaction
    ) throws(SharedCoreError) {
        let entry = TimelineEntry(
            kind, by: mailbox.store.session, epoch: epoch, reason: reason, at: clock.now(), bootID: clock.bootID)
        try timeline.append(entry, to: &transaction)
    }

    /// Drops the oldest entries of a timeline that is too long.
    package func trimTimeline() async throws(SharedCoreError) { try await timeline.trim() }
}

/// The record of a push that waits for a Main, as ``ByteWriter`` writes it.
///
/// | form | content |
/// |---|---|
/// | byte | version, 1 |
/// | three texts | call-id, type, account |
/// | data | payload |
/// | integer | the end of the push's time, in nanoseconds since the machine's boot |
/// | two words | the id of that boot |
struct MainPushRecord: Hashable, Sendable {
    private static let version: UInt8 = 1

    let push: Push
    /// The end of the push's time.
    let end: BootInstant
    /// The boot of the machine since which ``end`` counts.
    let bootID: BootID

    init(push: Push, end: BootInstant, bootID: BootID) {
        self.push = push
        self.end = end
        self.bootID = bootID
    }

    /// Reads a record; nil for bytes that are no push in a form that this version reads.
    init?(_ bytes: [UInt8]) {
        do {
            var reader = ByteReader(bytes)
            guard try reader.byte() == Self.version, let callID = CallID(try reader.text()) else { return nil }
            let type = try reader.text()
            let account = try reader.text()
            push = try Push(callID, type: type, account: account, payload: try reader.data())
            end = try reader.instant()
            bootID = BootID(high: try reader.word(), low: try reader.word())
            try reader.finish()
        } catch {
            return nil
        }
    }

    var bytes: [UInt8] {
        var writer = ByteWriter(reserving: 64 + push.callID.text.utf8.count + push.payload.count)
        writer.byte(Self.version)
        writer.text(push.callID.text)
        writer.text(push.type)
        writer.text(push.account)
        writer.data(push.payload)
        writer.instant(end)
        writer.word(bootID.high)
        writer.word(bootID.low)
        return writer.bytes
    }

    /// Returns true if the push's time has passed. Returns false if its end belongs to another boot.
    func isOver(at now: BootInstant, in bootID: BootID) -> Bool { bootID == self.bootID && end <= now }
}

/// The ends of the pushes that no Main has in hand, kept up to date by a watch. It holds names and times only.
///
/// An end that belongs to another boot, cannot be read or lies too far ahead has no meaning here, since any participant
/// can have written it. Such a push ends one lifetime after it was first seen.
package struct UntakenPushes: Sendable {
    private struct Place {
        var message: (revision: Revision, end: BootInstant)?
        var isTaken = false
    }

    private let keys: QueueKeys
    private let lifetime: Duration
    private let bootID: BootID
    private var places: [ItemName: Place] = [:]

    package init(of queue: MainPushQueue, lifetime: Duration, in bootID: BootID) {
        keys = queue.mailbox.keys
        self.lifetime = lifetime
        self.bootID = bootID
    }

    /// Applies an event of a watch of the queue.
    package mutating func apply(_ event: WatchEvent, at now: BootInstant) {
        switch event {
        case .snapshot(let snapshot), .lagged(let snapshot):
            let former = places
            places = [:]
            for entry in snapshot.entries { set(entry.key, to: entry, beside: former, at: now) }
        case .changes(let changes):
            for change in changes.changes { set(change.key, to: change.new, beside: places, at: now) }
        }
    }

    /// Returns the pushes past their end, with the revisions at which they were seen.
    package func overdue(at now: BootInstant) -> [ItemName: Revision] {
        places.compactMapValues { place in
            guard let message = place.message, !place.isTaken, message.end <= now else { return nil }
            return message.revision
        }
    }

    /// The earliest end of a waiting push; nil if none waits.
    package var nextEnd: BootInstant? {
        places.values.lazy.filter { !$0.isTaken }.compactMap(\.message?.end).min()
    }

    private mutating func set(_ key: Key, to entry: Entry?, beside former: [ItemName: Place], at now: BootInstant) {
        guard let (item, part) = keys.place(of: key) else { return }
        var place = places[item] ?? Place()
        switch part {
        case .message:
            place.message = entry.map { entry in
                if let known = former[item]?.message, known.revision == entry.revision { return known }
                let latest = now.advanced(by: lifetime)
                let record = MainPushRecord(entry.value)
                let end = record.flatMap { $0.bootID == bootID ? $0.end : nil } ?? latest
                return (entry.revision, min(end, latest))
            }
        case .take: place.isTaken = entry != nil
        case .mark, .details: return
        }
        places[item] = place.message == nil && !place.isTaken ? nil : place
    }
}
