internal import Coordination
package import CoreAPI
internal import Mailboxes
package import ProgramOutput

/// The sessions of a group, each with its last entry of the timeline and what it has in hand and has not acknowledged.
struct SessionTable: Sendable {
    /// The messages and pushes that a session has in hand.
    struct Outstanding: Hashable, Sendable {
        var inbox = 0
        var mailboxes = 0
        var pushes = 0

        var json: JSONObject {
            [
                "inbox": .integer(Int64(inbox)), "mailboxes": .integer(Int64(mailboxes)),
                "pushes": .integer(Int64(pushes)),
            ]
        }
    }

    private let sessions: [Session]
    private var latest: [SessionID: TimelineRecord] = [:]
    private var outstanding: [SessionID: Outstanding] = [:]
    private let line = TimelineLine(clock: WallTime())

    init(of group: any SharedGroup) async throws(SharedCoreError) {
        for record in try await Timeline(group).history().records { latest[record.entry.participant] = record }
        for message in try await Inbox(group).unacknowledged() {
            if let session = message.takenBy { outstanding[session, default: Outstanding()].inbox += 1 }
        }
        for row in MailboxTable(try await group.list(MailboxTable.prefix).entries).rows {
            for (session, count) in row.consumers { outstanding[session, default: Outstanding()].mailboxes += count }
        }
        let queue = try PushQueue(of: group)
        for mailbox in [queue.pending, queue.forMain.mailbox] {
            for item in try await mailbox.contents().items.values where item.message != nil {
                if let session = item.take?.origin { outstanding[session, default: Outstanding()].pushes += 1 }
            }
        }
        // Read the sessions last, so that all the rest is of an earlier revision, as in `status`.
        sessions = try await group.sessions().sorted { $0.id < $1.id }
    }

    var count: Int { sessions.count }

    /// Returns the sessions after one, in the order in which they began.
    func rows(after session: SessionID?) -> ArraySlice<Session> {
        sessions.drop { row in session.map { row.id <= $0 } ?? false }
    }

    /// Returns a session: `id role name pid since last{event,revision,at} outstanding{inbox,mailboxes,pushes}`.
    func json(of session: Session) -> JSONObject {
        let last = latest[session.id].map { record -> JSONValue in
            .object([
                "event": .text("\(record.entry.kind)"), "revision": .natural(record.revision.rawValue),
                "at": .optional(line.clock.text(of: record.entry.at, in: record.entry.bootID)),
            ])
        }
        return [
            "id": .text(session.id.description), "role": .text(session.role.rawValue), "name": .text(session.name),
            "pid": .integer(Int64(session.process.pid)),
            "since": .optional(line.clock.text(of: session.openedAt, in: session.process.bootID)),
            "last": last ?? .null, "outstanding": .object((outstanding[session.id] ?? Outstanding()).json),
        ]
    }
}

extension GroupReports {
    /// Returns a page of the sessions, in the order in which they began: `revision count
    /// sessions[]{id,role,name,pid,since,last,outstanding} next`. `last` is the last entry of the timeline by the
    /// session. `outstanding` counts the items that the session has taken and not acknowledged.
    ///
    /// - Parameter session: The last session of the page before; nil for the first page.
    package func sessions(after session: SessionID?) async throws(Failure) -> JSONObject {
        try await read { group, _ in
            let table = try await SessionTable(of: group)
            let rows = table.rows(after: session)
            let listed = Self.beginning(of: rows) { table.json(of: $0) }
            let next = rows.dropFirst(listed.count).isEmpty ? nil : rows.prefix(listed.count).last?.id
            return [
                "revision": try await group.revisionNow(), "count": .integer(Int64(table.count)),
                "sessions": .array(listed), "next": .optional(next?.description),
            ]
        }
    }
}
