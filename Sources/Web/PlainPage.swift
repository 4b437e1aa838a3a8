internal import Coordination
internal import ProgramOutput
internal import SharedCoreHost

/// The main tables as HTML without a script, behind a form that takes the token.
///
/// The key is in a hidden field of its form, never in an address. Texts of the group are escaped scalar by scalar,
/// because a `<` and a combining mark after it are one `Character`.
enum PlainPage {
    static let path = "/plain"

    private static let style = """
        :root { color-scheme: light dark; } body { font: 15px/1.45 system-ui, sans-serif; margin: 1rem; }
        table { border-collapse: collapse; margin-bottom: 1rem; } caption { text-align: start; font-weight: 600; padding: .3rem 0; }
        th, td { text-align: start; vertical-align: top; padding: .2rem .8rem .2rem 0; border-bottom: 1px solid; overflow-wrap: anywhere; unicode-bidi: isolate; }
        """

    static let policy = """
        default-src 'none'; style-src '\(WebAnswer.hash(of: style))'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'
        """

    /// The size of a table, in bytes, after which no further row is added. The last row may exceed it.
    private static let tableByteCount = 96 << 10

    /// Returns an answer with a page. A form needs the policy for referrers: with `no-referrer`, a browser sends no `Origin`.
    private static func answer(_ status: WebAnswer.Status, _ content: String, headers: [String] = []) -> [UInt8] {
        let page = """
            <!doctype html>
            <html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
            <title>SharedCore</title><style>\(style)</style></head><body><h1>SharedCore</h1>
            \(content)
            </body></html>

            """
        return WebAnswer.bytes(
            status, type: "text/html", headers: headers, body: Array(page.utf8), policy: policy, referrer: "same-origin"
        )
    }

    /// Returns the page with the form for the token.
    static func signIn(_ status: WebAnswer.Status = .ok, problem: String? = nil) -> [UInt8] {
        answer(
            status,
            """
            \(problem.map { "<p><strong>\(escaped($0))</strong></p>" } ?? "")
            <form method="post" action="\(path)"><p><label>What follows # in the address that sharedcore web prints:
            <input name="token" autocomplete="off" required></label> <button>Show the group</button></p></form>
            """)
    }

    /// Returns the page with the tables.
    ///
    /// - Parameters:
    ///   - key: The key of the browser's session, for the next request.
    ///   - headers: Further header fields, such as the cookie.
    static func tables(of reports: GroupReports, key: String, headers: [String]) async -> [UInt8] {
        var parts = [
            """
            <form method="post" action="\(path)"><p><input type="hidden" name="key" value="\(escaped(key))">
            <button>Read again</button></p></form>
            """
        ]
        for part in Part.allCases {
            do throws(GroupReports.Failure) {
                parts.append(part.html(of: try await part.document(of: reports)))
            } catch {
                parts.append("<h2>\(part.rawValue)</h2><p>Cannot be read now: \(escaped(error.message))</p>")
            }
        }
        return answer(.ok, parts.joined(separator: "\n"), headers: headers)
    }

    /// Returns a text in HTML, also in a quoted attribute, in which no character changes the direction of the text around it.
    static func escaped(_ text: String) -> String {
        var html = ""
        for scalar in ProgramText.oneLine(text).unicodeScalars {
            switch scalar {
            case "&": html += "&amp;"
            case "<": html += "&lt;"
            case ">": html += "&gt;"
            case "\"": html += "&quot;"
            case "'": html += "&#39;"
            default: html.unicodeScalars.append(scalar)
            }
        }
        return html
    }

    /// A part of the page: a document, and the tables that show it.
    private enum Part: String, CaseIterable {
        case owner = "Owner"
        case sessions = "Sessions"
        case pushes = "Pushes"
        case inbox = "Inbox"
        case mailboxes = "Mailboxes"
        case calls = "Calls"

        func document(of reports: GroupReports) async throws(GroupReports.Failure) -> JSONObject {
            switch self {
            case .owner: try await reports.status()
            case .sessions: try await reports.sessions(after: nil)
            case .pushes: try await reports.pushes()
            case .inbox: try await reports.inbox()
            case .mailboxes: try await reports.mailboxes()
            case .calls: try await reports.calls()
            }
        }

        /// Returns the tables; a column is its heading, and the path of its field.
        func html(of document: JSONObject) -> String {
            switch self {
            case .owner:
                let revision = PlainPage.text(document, "revision")
                var asked = ""
                if case .object(let request)? = document["asked"] {
                    asked = PlainPage.table(
                        "A Main waits for it", [request],
                        [("Name", "name"), ("Pid", "pid"), ("Since", "since"), ("Takes over", "takesOver")])
                }
                guard case .object(let owner)? = document["owner"] else {
                    return "<h2>Owner</h2><p>None, at revision \(revision).</p>"
                }
                return PlainPage.table(
                    "Owner, at revision \(revision)", [owner],
                    [
                        ("Role", "role"), ("State", "state"), ("Pid", "pid"), ("Stopped", "processStopped"),
                        ("Epoch", "epoch"), ("Since", "since"),
                    ])
                    + asked
                    + PlainPage.table(
                        "Busy with", PlainPage.objects(document, "activities"),
                        [("Kind", "kind"), ("Id", "id"), ("Begun", "begun"), ("Latest end", "latestEnd")])
            case .sessions:
                return PlainPage.table(
                    "Sessions: \(PlainPage.text(document, "count"))", PlainPage.objects(document, "sessions"),
                    [
                        ("Session", "id"), ("Role", "role"), ("Name", "name"), ("Pid", "pid"), ("Since", "since"),
                        ("Last entry", "last.event"), ("At", "last.at"), ("Inbox in hand", "outstanding.inbox"),
                        ("Mailboxes in hand", "outstanding.mailboxes"), ("Pushes in hand", "outstanding.pushes"),
                    ])
            case .pushes:
                let counts = ["waiting", "taken", "givenUp", "forMain"].map { PlainPage.text(document, $0) }
                return PlainPage.table(
                    "Pushes: \(counts[0]) waiting, \(counts[1]) taken, \(counts[3]) for Main",
                    PlainPage.objects(document, "pushes"),
                    [
                        ("Call-id", "callID"), ("Type", "type"), ("Account", "account"), ("Since", "since"),
                        ("State", "event"), ("Waits for", "waitsFor"), ("Tried again at", "retryAt"), ("Pid", "pid"),
                        ("Failures", "failures"), ("Reason", "reason"),
                    ])
                    + PlainPage.table(
                        "Given up: \(counts[2])", PlainPage.objects(document, "failures"),
                        [
                            ("Call-id", "callID"), ("Type", "type"), ("Account", "account"), ("Failures", "failures"),
                            ("Reason", "reason"),
                        ])
            case .inbox:
                return PlainPage.table(
                    "Inbox: \(PlainPage.text(document, "waiting")) waiting, \(PlainPage.text(document, "taken")) in hand",
                    PlainPage.objects(document, "messages"),
                    [
                        ("Call-id", "callID"), ("Revision", "revision"), ("After", "after"), ("Before", "before"),
                        ("In hand of session", "takenBy"),
                    ])
            case .mailboxes:
                return PlainPage.table(
                    "Mailboxes", PlainPage.objects(document, "mailboxes"),
                    [
                        ("Name", "name"), ("Kind", "kind"), ("Directory", "directory"), ("Waiting", "waiting"),
                        ("Taken", "taken"),
                    ])
            case .calls:
                return PlainPage.table(
                    "Calls", PlainPage.objects(document, "calls"),
                    [
                        ("Call", "id"), ("Direction", "direction"), ("From", "from"), ("To", "to"), ("State", "state"),
                        ("Reason", "reason"),
                    ])
            }
        }
    }

    private static func objects(_ document: JSONObject, _ name: String) -> [JSONObject] {
        guard case .array(let values)? = document[name] else { return [] }
        return values.compactMap { value in
            if case .object(let object) = value { object } else { nil }
        }
    }

    /// Returns the text of a field, whose path has a `.` before a field of an object.
    private static func text(_ object: JSONObject, _ path: String) -> String {
        let parts = path.split(separator: ".", maxSplits: 1).map(String.init)
        switch object[parts[0]] {
        case .text(let text): return text
        case .integer(let number): return "\(number)"
        case .natural(let number): return "\(number)"
        case .flag(let flag): return flag ? "yes" : "no"
        case .object(let inner): return parts.count == 2 ? text(inner, parts[1]) : ""
        default: return ""
        }
    }

    private static func table(_ caption: String, _ rows: [JSONObject], _ columns: [(String, String)]) -> String {
        var html = "<table><caption>\(escaped(caption))</caption><thead><tr>"
        for (title, _) in columns { html += "<th scope=\"col\">\(escaped(title))</th>" }
        html += "</tr></thead><tbody>"
        var count = 0
        for row in rows where html.utf8.count < tableByteCount {
            html += "<tr>" + columns.map { "<td>\(escaped(text(row, $0.1)))</td>" }.joined() + "</tr>"
            count += 1
        }
        if rows.isEmpty { html += "<tr><td colspan=\"\(columns.count)\">None</td></tr>" }
        if count < rows.count {
            html += "<tr><td colspan=\"\(columns.count)\">\(rows.count - count) more are not shown.</td></tr>"
        }
        return html + "</tbody></table>"
    }
}
