public import CoreAPI
internal import FoundationEssentials
internal import GRDB
internal import Synchronization

extension SQLiteGroup {
    public func watch(_ prefixes: [KeyPrefix], from start: WatchStart) async throws(SharedCoreError) -> Watch {
        // Armed by knowing the place in the order from which changes are delivered.
        let cursor = WatchCursor(
            try await read { database, _ in
                let revision = try Int64.fetchOne(database, sql: "SELECT revision FROM state") ?? 0
                let last = Revision(rawValue: UInt64(stored: revision))
                return switch start {
                case .snapshot: nil
                case .now: last
                case .after(let revision): revision
                }
            })
        return Watch(
            next: { [weak self] () async throws(SharedCoreError) -> WatchEvent? in
                while !cursor.isCancelled, !Task.isCancelled {
                    guard let news = self?.news else { return nil }
                    let count = news.count
                    guard let event = try await self?.nextEvent(of: prefixes, after: cursor) else { return nil }
                    if let event = event.event { return event }
                    await cursor.wait(for: news, after: count)
                }
                return nil
            },
            cancel: { [weak self] in
                cursor.cancel()
                self?.news.ring()
            })
    }

    /// What a watch delivers next: an event, or nothing yet. Nil when the handle is closed.
    private func nextEvent(
        of prefixes: [KeyPrefix], after cursor: WatchCursor
    ) async throws(SharedCoreError) -> (event: WatchEvent?, Void)? {
        let position = cursor.position
        let found: WatchEvent?
        do throws(SharedCoreError) {
            found = try await read { database, now in
                guard let position else { return .snapshot(try Self.snapshot(prefixes, in: database, at: now)) }
                let floor = try Int64.fetchOne(database, sql: "SELECT floor FROM state") ?? 0
                if position.rawValue < UInt64(stored: floor) {
                    return .lagged(try Self.snapshot(prefixes, in: database, at: now))
                }
                return try Self.changes(of: prefixes, after: position, in: database).map(WatchEvent.changes)
            }
        } catch {
            if error.code == .closed || error.code == .cancelled { return nil }
            throw error
        }
        if let found { cursor.advance(to: found.revision) }
        return (found, ())
    }

    /// The changes of the next commit that touched a selected key.
    private static func changes(
        of prefixes: [KeyPrefix], after position: Revision, in database: Database
    ) throws -> ChangeSet? {
        let rows = try Row.fetchCursor(
            database, sql: "SELECT * FROM change WHERE revision > ? ORDER BY revision, place",
            arguments: [position.rawValue.stored])
        var revision: Int64?
        var author: Int64 = 0
        var changes: [Change] = []
        while let row = try rows.next() {
            let number: Int64 = row["revision"]
            if let revision, revision != number { break }
            let data: Data = row["key"]
            let key = try Key(String(decoding: data, as: UTF8.self))
            guard prefixes.contains(where: { $0.contains(key) }) else { continue }
            revision = number
            author = row["author"]
            changes.append(
                Change(
                    key: key, kind: Change.Kind(number: row["kind"]), old: StoredEntry.side("old", of: row, key: key),
                    new: StoredEntry.side("new", of: row, key: key)))
        }
        guard let revision else { return nil }
        return ChangeSet(
            revision: Revision(rawValue: UInt64(stored: revision)), origin: SessionID(rawValue: UInt64(stored: author)),
            changes: changes)
    }

    public func observe(_ name: NotificationName) async throws(SharedCoreError) -> Observation {
        let taken = Mutex(try await state(of: name).count)
        let cursor = WatchCursor(nil)
        return Observation(
            next: { [weak self] () async throws(SharedCoreError) -> NotificationDelivery? in
                while !cursor.isCancelled, !Task.isCancelled {
                    guard let news = self?.news else { return nil }
                    let count = news.count
                    let state: NotificationState?
                    do throws(SharedCoreError) {
                        state = try await self?.state(of: name)
                    } catch {
                        if error.code == .closed || error.code == .cancelled { return nil }
                        throw error
                    }
                    guard let state else { return nil }
                    let posts = taken.withLock { taken in
                        defer { taken = state.count }
                        return state.count - taken
                    }
                    if posts > 0, let origin = state.origin {
                        return NotificationDelivery(
                            name: name, state: state.state, count: posts, revision: state.revision, origin: origin)
                    }
                    await cursor.wait(for: news, after: count)
                }
                return nil
            },
            cancel: { [weak self] in
                cursor.cancel()
                self?.news.ring()
            })
    }
}

/// The place of one watch in the order.
final class WatchCursor: Sendable {
    private let state: Mutex<(position: Revision?, isCancelled: Bool)>

    init(_ position: Revision?) {
        state = Mutex((position, false))
    }

    var position: Revision? { state.withLock(\.position) }
    var isCancelled: Bool { state.withLock(\.isCancelled) }

    func advance(to revision: Revision) {
        state.withLock { $0.position = revision }
    }

    func cancel() {
        state.withLock { $0.isCancelled = true }
    }

    func wait(for news: News, after count: UInt64) async {
        if !isCancelled { await news.wait(after: count) }
    }
}
