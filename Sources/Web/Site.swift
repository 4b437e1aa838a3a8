internal import CoreAPI
internal import Platform
internal import ProgramOutput
internal import SharedCoreHost

/// The page, its documents and its stream, behind a listener.
final class Site: Sendable {
    let access: Access
    private let reports: GroupReports
    private let streams: ChangeStreams
    private let server: RequestServer

    private static let requestByteCount = 16 << 10
    /// The maximum number of connected peers. Each takes a descriptor. Some descriptors are kept for threads and for
    /// the group, because the system's libraries end a process that gets none for a thread.
    private static var peerCount: Int {
        min(256, max(8, (SpareDescriptors.count ?? 1024) - ProgramStart.descriptorCount))
    }
    /// The maximum number of bytes that are kept for a peer that reads slowly. A document and its head fit.
    private static let unsentByteCount = WebAnswer.documentByteCount + 4096
    private static let pageCount = 200

    /// Starts to serve the page at a listener, to the browser that gets the token of its ``access``.
    ///
    /// - Parameter allowsActions: Whether the page may do more than read.
    init(of reports: GroupReports, at listener: StreamListener, allowsActions: Bool) throws {
        let access = Access(at: listener)
        let streams = ChangeStreams(of: reports)
        let rules = RequestServer.Rules(
            terminator: WebRequest.terminator, requestByteCount: Self.requestByteCount, peerCount: Self.peerCount,
            timeout: .seconds(10), isPersistent: false, user: listener.port == nil ? FileStatus.currentUser : nil,
            tooLong: WebAnswer.problem(.tooLarge, "The head of the request is too long."),
            busy: WebAnswer.problem(.unavailable, "Too many are connected."), unsentByteCount: Self.unsentByteCount,
            bodyByteCount: WebRequest.bodyByteCount)
        server = try RequestServer.start(
            "web", at: listener, rules: rules,
            answer: { peer, head in await Self.answer(head, of: peer, access, reports, streams, allowsActions) },
            streamEnded: { peer in Task { await streams.remove(peer) } })
        self.access = access
        self.reports = reports
        self.streams = streams
    }

    /// Sends the changes of the group to the browsers until its task is cancelled.
    func run() async throws {
        try await streams.run(
            for: access, send: { [server] bytes, peer in server.send(bytes, to: peer) },
            end: { [server] peer in server.endStream(of: peer) })
    }

    func stop() { server.stop() }

    private static func answer(
        _ head: [UInt8], of peer: Int, _ access: Access, _ reports: GroupReports, _ streams: ChangeStreams,
        _ allowsActions: Bool
    ) async -> RequestServer.Answer {
        guard let request = WebRequest(head) else {
            return .init(WebAnswer.problem(.badRequest, "The request cannot be read, or has a body."))
        }
        guard access.isNamed(by: request) else {
            return .init(WebAnswer.problem(.misdirected, "This server has another name."))
        }
        guard access.isOwn(request) else {
            return .init(WebAnswer.problem(.forbidden, "The request comes from another page."))
        }
        let action = request.path.hasPrefix(actionPath) ? String(request.path.dropFirst(actionPath.count)) : nil
        let method = action != nil || request.path == "/session" ? "POST" : "GET"
        if request.path == PlainPage.path, request.method == "POST" {
            return .init(await plainPage(for: request, access, reports))
        }
        guard request.method == method else {
            return .init(WebAnswer.problem(.notAllowed, "Use \(method).", headers: ["Allow: \(method)"]))
        }
        switch request.path {
        case "/": return .init(WebAnswer.bytes(.ok, type: "text/html", body: WebAnswer.page))
        case PlainPage.path: return .init(PlainPage.signIn())
        case "/session":
            // A browser says with every POST which page it comes from.
            guard request["origin"] != nil, let session = access.exchange(request["x-sharedcore-token"]) else {
                return .init(WebAnswer.problem(.forbidden, "The address is wrong, expired or already used."))
            }
            let names = allowsActions ? GroupAction.names.map { JSONValue.text($0) } : []
            return .init(
                WebAnswer.json(["key": .text(session.key), "actions": .array(names)], headers: [session.cookie]))
        case _ where !access.admits(request, key: request["x-sharedcore-key"]):
            return .init(WebAnswer.problem(.unauthorized, "Open the address that sharedcore web prints."))
        case _ where action != nil:
            return .init(await answer(request, to: allowsActions ? action : nil, reports))
        case "/api/changes": return await streams.begin(request, of: peer)
        default:
            do {
                guard let document = try await document(of: request, reports) else {
                    return .init(WebAnswer.problem(.notFound, "There is no such document."))
                }
                return .init(WebAnswer.json(document))
            } catch {
                return .init(WebAnswer.problem(error.isInvalid ? .badRequest : .unavailable, error.message))
            }
        }
    }

    /// Answers the form of the page without a script: it has the token once, and then the key.
    private static func plainPage(
        for request: WebRequest, _ access: Access, _ reports: GroupReports
    ) async -> [UInt8] {
        guard request["origin"] != nil else { return PlainPage.signIn(.forbidden, problem: "The form has no origin.") }
        if let key = request.form["key"], access.admits(request, key: key) {
            return await PlainPage.tables(of: reports, key: key, headers: [])
        }
        guard let session = access.exchange(request.form["token"]) else {
            return PlainPage.signIn(.forbidden, problem: "The token is wrong, expired or already used.")
        }
        return await PlainPage.tables(of: reports, key: session.key, headers: [session.cookie])
    }

    private static let actionPath = "/api/actions/"

    /// Performs an allowed action. Besides the cookie and the key, the request must have `Origin`, and a header with
    /// the name of the action, which no form, link or image can send.
    private static func answer(
        _ request: WebRequest, to name: String?, _ reports: GroupReports
    ) async -> [UInt8] {
        guard let name, GroupAction.names.contains(name) else {
            return WebAnswer.problem(.notFound, "There is no such action, or it needs --allow-actions.")
        }
        guard request["origin"] != nil, request["x-sharedcore-action"] == name else {
            return WebAnswer.problem(
                .forbidden, "An action needs Origin, and X-SharedCore-Action with its name.")
        }
        guard let action = GroupAction(name, request.query), let incarnation = request.query["incarnation"] else {
            return WebAnswer.problem(.badRequest, "An argument of the action is missing or wrong.")
        }
        do throws(GroupReports.Failure) {
            // On a socket, a peer of another user was not accepted; at the port, the key was given to this user alone.
            return WebAnswer.json(try await reports.take(action, in: incarnation, by: FileStatus.currentUser))
        } catch {
            return WebAnswer.problem(error.isRefusal ? .conflict : .unavailable, error.message)
        }
    }

    private static func document(
        of request: WebRequest, _ reports: GroupReports
    ) async throws(GroupReports.Failure) -> JSONObject? {
        switch request.path {
        case "/api/status": return try await reports.status()
        case "/api/sessions":
            let after = request.query["after"].flatMap { UInt64($0) }.map { SessionID(rawValue: $0) }
            return try await reports.sessions(after: after)
        case "/api/inbox": return try await reports.inbox()
        case "/api/calls": return try await reports.calls()
        case "/api/pushes": return try await reports.pushes()
        case "/api/groups": return try await reports.groups()
        case "/api/memory": return try await reports.memory()
        case "/api/mailboxes": return try await reports.mailboxes()
        case "/api/check": return try await reports.check()
        case "/api/timeline":
            let limit = request.query["limit"].flatMap { Int($0) } ?? pageCount
            return try await reports.timeline(
                before: request.query["before"].flatMap { UInt64($0) }.map { Revision(rawValue: $0) },
                limit: min(max(1, limit), GroupReports.pageCount))
        case "/api/store":
            return try await reports.store(below: request.query["prefix"] ?? "", after: request.query["after"])
        case "/api/entry":
            return try await reports.entry(request.query["key"] ?? "")
        default: return nil
        }
    }
}
