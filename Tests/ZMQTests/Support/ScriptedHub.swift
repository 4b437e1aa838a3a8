internal import CoreAPI
internal import CoreAPITesting
internal import InMemoryBackend
internal import Platform
internal import Replica
internal import StoreEngine

@testable import ZMQBackend

/// A hub that a test controls step by step. It can act in ways that no real hub does, and in an order that rarely
/// occurs by chance. It automatically welcomes each client that sends hello, and sends no beacons.
final class ScriptedHub {
    /// A request, and the connection to answer.
    struct Question {
        let connection: [UInt8]
        let request: Request
    }

    /// All hellos, in their order.
    private(set) var hellos: [Request.Hello] = []
    /// The lease that the next welcome gives.
    var lease: Duration?
    /// The answer to a hello in place of a welcome.
    var refusal: SharedCoreError?
    private(set) var session: Session?

    private let hubListener: HubEndpointListener
    private let order = MemorySpace().order(of: "group", effectByteCount: 1 << 20)
    private var mark: [UInt8]?

    init(at endpoint: HubEndpoint) throws {
        hubListener = try HubEndpointListener(at: endpoint)
    }

    deinit {
        hubListener.close()
    }

    // MARK: - Requests

    /// Returns the next received message. The sockets are read each time, because no thread waits for their descriptors
    /// here.
    private func nextMessage() -> IncomingMessage? {
        for socket in hubListener.sockets { socket.signal() }
        return hubListener.next()
    }

    /// Waits for the next request other than a hello.
    func next(_ what: String = "a request") async throws -> Question {
        var found: Question?
        try await eventually("the client sends \(what)") {
            found = try await receive()
            return found != nil
        }
        return try expectSome(found, what)
    }

    /// Waits for the client's close. Its earlier requests, also sent twice on a busy machine, stay without an answer.
    func nextClose() async throws -> Question {
        while true {
            let question = try await next("its close")
            if case .close = question.request.body { return question }
        }
    }

    /// Returns the next received request other than a hello; nil if there is none.
    func receive() async throws -> Question? {
        while let message = nextMessage() {
            let question = Question(connection: message.frames[0], request: try Request(message.frames[1]))
            guard case .hello(let hello) = question.request.body else { return question }
            if let refusal {
                hellos.append(hello)
                answer(question, .refused(refusal))
            } else {
                answer(question, .welcome(try await welcome(hello)))
            }
        }
        return nil
    }

    /// Answers requests as a hub does, until a condition holds.
    func serve(until what: String, _ isSo: () async throws -> Bool) async throws {
        try await eventually(what) {
            while let question = try await receive() { try await serve(question) }
            return try await isSo()
        }
    }

    private func serve(_ question: Question) async throws {
        switch question.request.body {
        case .commit(let transaction, let known):
            let id = try expectSome(session, "a session").id
            do throws(SharedCoreError) {
                let recorded = try await order.record(.commit(transaction, of: id))
                answer(question, .outcome(recorded.outcome, at: revision, missing(after: known)))
            } catch {
                answer(question, .refused(error))
            }
        case .read(let known), .probe(let known): answer(question, .current(revision, missing(after: known)))
        case .catchUp(let known?): answer(question, .current(revision, missing(after: known)))
        case .catchUp(nil): answer(question, .snapshot(revision), records: try state())
        case .close: answer(question, .done)
        case .hello, .keepAlive, .history, .view, .keepBaton, .fetchBaton: break
        }
    }

    private func missing(after known: Revision) -> Updates {
        ((try? updates(after: known)) ?? nil) ?? Updates(after: known)
    }

    /// Waits for the request of a client that lacks updates. Returns it with the revision that the client has.
    func nextCatchUp() async throws -> (Question, after: Revision?) {
        let question = try await next("what asks for the state")
        let after: Revision?? = if case .catchUp(let revision) = question.request.body { revision } else { nil }
        return (question, try expectSome(after, "a question for the state in place of \(question.request.body)"))
    }

    /// Welcomes the next client, and connects it to the stream.
    func admit() async throws {
        try await eventually("the client says hello") {
            guard let message = nextMessage() else { return false }
            let question = Question(connection: message.frames[0], request: try Request(message.frames[1]))
            guard case .hello(let hello) = question.request.body else { return false }
            answer(question, .welcome(try await welcome(hello)))
            return true
        }
        try await echo()
    }

    func answer(_ question: Question, _ body: Reply.Body, records: [[UInt8]] = []) {
        let reply = Reply(number: question.request.number, body: body)
        hubListener.send(reply.frame(records: records), to: question.connection)
    }

    private func welcome(_ hello: Request.Hello) async throws -> Reply.Welcome {
        hellos.append(hello)
        if session == nil {
            let opening = SessionOpening(process: .current, description: hello.description)
            let recorded = try await order.record(.join(opening))
            let id = SessionID(rawValue: try recorded.outcome.get().revision.rawValue)
            session = order.replica.read { $0.sessions[id]?.session }
        }
        return Reply.Welcome(
            session: try expectSome(session, "a session"), incarnation: order.incarnation,
            capabilities: order.capabilities, lease: lease, streamPort: nil, nonce: .random())
    }

    // MARK: - The order

    /// Records a value, and returns the update with it.
    func put(_ key: Key, _ value: [UInt8]) async throws -> Updates {
        let before = order.replica.read { $0.revision }
        let id = try expectSome(session, "a session").id
        _ = try await order.record(.commit(Transaction(operations: [.put(key, value, .persistent)]), of: id))
        return try expectSome(try updates(after: before), "news")
    }

    func updates(after revision: Revision) throws -> Updates? {
        try order.replica.read { state throws(SharedCoreError) in try state.updates(after: revision) }
    }

    var revision: Revision { order.replica.read { $0.revision } }

    /// The records of the state as it is now.
    func state() throws -> [[UInt8]] {
        try order.replica.read { state throws(SharedCoreError) in
            var records: [[UInt8]] = []
            try state.writeSnapshot(for: .replica(historyAfter: nil)) { records.append($0) }
            return records
        }
    }

    // MARK: - The stream

    func publish(_ updates: Updates) {
        _ = hubListener.stream.send([StreamMessage.updates(updates, incarnation: order.incarnation).bytes])
    }

    func publishBeacon() {
        _ = hubListener.stream.send([StreamMessage.beacon(revision, incarnation: order.incarnation).bytes])
    }

    /// Echoes the mark of a client that has lost its connection to the stream, as soon as it has subscribed again.
    func echoAgain() async throws {
        mark = nil
        try await echo()
    }

    /// Echoes the client's mark, as soon as it has subscribed.
    func echo() async throws {
        try await eventually("the client subscribes") {
            while let frame = hubListener.stream.receive(upTo: 1)?.frames.first {
                if frame.count == 2 + StreamMessage.armedByteCount, frame[0] == 1 { mark = Array(frame.dropFirst(2)) }
            }
            return mark != nil
        }
        _ = hubListener.stream.send([StreamMessage.armed(try expectSome(mark, "a mark")).bytes])
    }
}
