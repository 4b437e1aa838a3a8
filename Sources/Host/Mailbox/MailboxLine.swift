internal import CoreAPI
internal import ProgramOutput
internal import Wormholes

/// A line about a mailbox, as people and programs read it.
struct MailboxLine {
    let kind: String
    let id: String
    var message: JSONText?
    var revision: Revision?
    var origin: SessionID?
    /// How many were passed over, of a line `lagged`.
    var missed: UInt64?
    /// Why it cannot be read, of a line `undecodable`.
    var reason: String?

    init(_ id: String, _ message: MailboxMessage<JSONText>) {
        self.init(id, .message(message))
    }

    init(_ id: String, _ message: JSONText, revision: Revision, origin: SessionID) {
        kind = "message"
        self.id = id
        (self.message, self.revision, self.origin) = (message, revision, origin)
    }

    init(_ id: String, _ problem: Undecodable) {
        kind = "undecodable"
        self.id = id
        reason = problem.description
    }

    init(_ id: String, _ event: MailboxEvent<JSONText>) {
        self.id = id
        switch event {
        case .message(let found):
            kind = "message"
            (message, revision, origin) = (found.value, found.revision, found.origin)
        case .cleared(let at, let by):
            kind = "cleared"
            (revision, origin) = (at, by)
        case .undecodable(let problem, let at, let by):
            kind = "undecodable"
            (reason, revision, origin) = (problem.description, at, by)
        case .lagged(let count):
            kind = "lagged"
            missed = count
        }
    }

    /// For people: the message alone where there is one.
    var text: String {
        if let message { return ValueText.oneLine(message.text) }
        if let missed { return "lagged\t\(missed) passed over" }
        return [kind, reason ?? ""].filter { !$0.isEmpty }.joined(separator: "\t")
    }

    var json: JSONObject {
        var json: JSONObject = [
            "kind": .text(kind), "id": .text(id), "message": message.map { .written($0.text) } ?? .null,
            "revision": revision.map { .natural($0.rawValue) } ?? .null, "origin": .optional(origin?.description),
        ]
        if let missed { json.append("missed", .natural(missed)) }
        if let reason { json.append("reason", .text(reason)) }
        return json
    }
}
