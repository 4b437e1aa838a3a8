public import CoreAPI
internal import Mailboxes
internal import Synchronization

/// The history of the core's ownership: a bounded list of entries in the store. Each is written in the transaction that
/// it describes.
///
/// Source: contract C15.
public struct Timeline: Sendable {
    /// The default number of entries that are kept.
    public static let defaultCapacity = 512
    /// The path of the entries and the checkpoint.
    package static let path = ".sharedcore/timeline"
    /// Selects the entries and the checkpoint.
    package static let prefix: KeyPrefix = ".sharedcore/timeline/"
    /// The key of the ``TimelineCheckpoint``, which sums up the dropped entries.
    package static let checkpointKey: Key = ".sharedcore/timeline/checkpoint"

    let store: any SharedStore
    /// The number of entries that are kept.
    public let capacity: Int

    /// Makes the timeline of a group.
    ///
    /// - Parameters:
    ///   - store: The group's store, through this participant's own handle.
    ///   - capacity: The number of entries to keep; at least 16.
    public init(_ store: any SharedStore, capacity: Int = Timeline.defaultCapacity) {
        self.store = store
        self.capacity = max(16, capacity)
    }

    /// Adds an entry to the transaction that it describes.
    ///
    /// Acquisitions and releases also write ``Tenure``, so that the next acquisition can record how this one ended.
    package func append(_ entry: TimelineEntry, to transaction: inout Transaction) throws(SharedCoreError) {
        transaction.put(try Self.key(for: store.session.id), entry.encoded())
        if entry.kind.isAcquisition {
            transaction.put(Tenure.key, Tenure.encoded(released: nil))
        } else if entry.kind == .released {
            transaction.put(Tenure.key, Tenure.encoded(released: entry.epoch))
        }
    }

    /// Makes an acquisition fail if another ownership came between the read of the tenure and the commit, so that
    /// ``TimelineEntry/previous`` is exact.
    package func requireUnchanged(_ tenure: Tenure?, in transaction: inout Transaction) {
        transaction.require(tenure.map { .revision(Tenure.key, $0.revision) } ?? .absent(Tenure.key))
    }

    /// Returns the last ownership that this handle has seen. A handle that has seen the ownership end has also seen its
    /// tenure, and ``requireUnchanged(_:in:)`` refuses an outdated one.
    package func tenure() async throws(SharedCoreError) -> Tenure? {
        Tenure(try await store.get(Tenure.key, consistency: .causal))
    }

    /// Returns a unique key that sorts after the earlier keys of this process for the session.
    private static func key(for session: SessionID) throws(SharedCoreError) -> Key {
        let number = counter.add(1, ordering: .relaxed).newValue
        return try Key(
            path + "/" + session.rawValue.hexadecimal + "-" + number.hexadecimal)
    }

    private static let counter = Atomic<UInt64>(0)
}

extension Timeline {
    /// Returns the present entries.
    public func history() async throws(SharedCoreError) -> TimelineHistory {
        TimelineHistory(try await store.list(Self.prefix))
    }

    /// Returns a page of the present entries, the oldest first.
    ///
    /// - Parameters:
    ///   - revision: The end of the previous page, ``TimelinePage/next``.
    ///   - limit: The number of entries, at least 1. A page may have a few more, because the entries of one commit stay
    ///     together.
    /// - Throws: ``SharedCoreError/Code/invalidArgument`` for a limit below 1; what ``SharedStore/list(_:consistency:)`` throws.
    package func page(
        after revision: Revision = .zero, limit: Int
    ) async throws(SharedCoreError) -> TimelinePage {
        guard limit > 0 else {
            throw SharedCoreError(.invalidArgument, "A page has at least 1 entry, not \(limit).", at: Self.path)
        }
        let history = try await history()
        var page = TimelinePage(records: [], next: nil, history: history)
        for record in history.records where record.revision > revision {
            if page.records.count >= limit, let last = page.records.last, record.revision > last.revision {
                page.next = last.revision
                break
            }
            page.records.append(record)
        }
        return page
    }

    /// Begins to deliver entries: first the present ones, then each new one.
    public func follow() async throws(SharedCoreError) -> TimelineFollower {
        TimelineFollower(try await store.watch([Self.prefix], from: .snapshot))
    }
}

extension Timeline {
    /// Drops the oldest entries when there are more than ``capacity``, down to half of it, and adds them to the
    /// checkpoint, in one transaction. Of several participants that try at once, one succeeds.
    ///
    /// - Returns: True if entries were dropped.
    @discardableResult
    package func trim() async throws(SharedCoreError) -> Bool {
        let snapshot = try await store.list(Self.prefix)
        // The timeline is almost always short enough, so the entries themselves need not be decoded.
        guard snapshot.entries.count > capacity, let transaction = trimming(TimelineHistory(snapshot)) else {
            return false
        }
        do throws(SharedCoreError) {
            _ = try await store.commit(transaction)
            return true
        } catch {
            guard error.guardFailure?.condition.key == Self.checkpointKey else { throw error }
            return false
        }
    }

    /// Returns the transaction that trims a history; nil when it is short enough.
    func trimming(_ history: TimelineHistory) -> Transaction? {
        guard history.places.count > capacity else { return nil }
        let last = history.places[history.places.count - capacity / 2 - 1].revision
        // The entries of one commit go together.
        let dropped = history.places.prefix { $0.revision <= last }
        var ledger = history.checkpoint?.ledger ?? OwnershipLedger()
        for record in history.records where record.revision <= last { _ = ledger.apply(record) }
        let checkpoint = TimelineCheckpoint(
            through: last, droppedCount: (history.checkpoint?.droppedCount ?? 0) + dropped.count, ledger: ledger)

        var transaction = Transaction()
        transaction.require(
            history.checkpointRevision.map { .revision(Self.checkpointKey, $0) } ?? .absent(Self.checkpointKey))
        for place in dropped { transaction.delete(place.key) }
        transaction.put(Self.checkpointKey, checkpoint.encoded())
        return transaction
    }
}

/// A part of a timeline.
package struct TimelinePage: Hashable, Sendable {
    /// The entries, the oldest first.
    package fileprivate(set) var records: [TimelineRecord]
    /// The revision at which the next page begins; nil if this is the last one.
    package fileprivate(set) var next: Revision?
    /// The whole history at the revision of the read.
    package let history: TimelineHistory
}

/// The last ownership, kept after its holder has ended so that the next owner can record how it ended.
///
/// It is stored under one key, which each acquisition and each release writes. Until the release, its revision is the
/// epoch. If it is not released and there is no owner, the ownership ended with its session.
package struct Tenure: Hashable, Sendable {
    /// The key of the record.
    package static let key: Key = ".sharedcore/tenure"

    /// The epoch of the ownership.
    package let epoch: Revision
    /// True if its holder released it.
    package let isReleased: Bool
    /// The revision for the guard of an acquisition, so that no other ownership comes in between.
    package let revision: Revision

    /// Reads the entry under ``key``; nil if there never was an owner. Unreadable bytes, which any participant can
    /// write, count as an ownership that ended with its session, so that they keep no participant from owning.
    package init?(_ entry: Entry?) {
        guard let entry else { return nil }
        let released = Self.released(in: entry.value)
        revision = entry.revision
        epoch = released ?? entry.revision
        isReleased = released != nil
    }

    /// Returns the epoch that was released; nil if there was no release or the bytes cannot be read.
    private static func released(in bytes: [UInt8]) -> Revision? {
        var reader = ByteReader(bytes)
        guard (try? reader.byte()) == version, let released = try? reader.optionalRevision(),
            (try? reader.finish()) != nil
        else { return nil }
        return released
    }

    /// Returns the value for an ownership that ends (`released`) or begins (nil).
    static func encoded(released epoch: Revision?) -> [UInt8] {
        var writer = ByteWriter()
        writer.byte(version)
        writer.optional(epoch) { $0.integer($1.rawValue) }
        return writer.bytes
    }

    private static let version: UInt8 = 1

    /// How it ended, for the entry of an acquisition that found no owner.
    package var previous: PreviousOwnership {
        PreviousOwnership(epoch: epoch, end: isReleased ? .released : .sessionEnded)
    }
}
