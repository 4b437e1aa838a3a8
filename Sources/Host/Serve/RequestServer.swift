internal import CoreAPI
internal import Platform
internal import Synchronization

/// Answers short requests through a socket, on a thread of its own that never waits for a peer.
///
/// A peer costs no more than its place. Requests have a size limit and a deadline. The server closes the connection of
/// a peer that does not read its answers, and of one of another user. If each peer has one request and all places are
/// taken, a new peer replaces the one that has been silent the longest, so silent peers cannot keep others out.
final class RequestServer: Sendable {
    /// The limits on peers.
    struct Rules: Sendable {
        /// The bytes that end a request.
        let terminator: [UInt8]
        /// The longest request, in bytes, without its terminator.
        let requestByteCount: Int
        /// The most peers at a time.
        var peerCount = 32
        /// How long a request may take to come.
        var patience = Duration.seconds(10)
        /// True if a peer may send another request after an answer.
        let isPersistent: Bool
        /// The only user that may connect; nil where the system does not tell.
        let user: UInt32?
        /// The answer to a request that is too long.
        let tooLong: [UInt8]
        /// The answer to a peer beyond the limit, if no other peer is replaced by it.
        let busy: [UInt8]
    }

    private struct State {
        var answers: [(peer: Int, bytes: [UInt8])] = []
        var isStopped = false
    }

    /// How many peers are admitted before the admitted ones are read again, so that new peers cannot replace one that
    /// has sent its request.
    private static let admissionCount = 8
    /// How long it waits for a free descriptor.
    private static let pause = Duration.milliseconds(100)

    private let listener: StreamListener
    private let rules: Rules
    private let answer: @Sendable ([UInt8]) async -> [UInt8]
    private let bell: EventCounter
    private let clock = SystemClock()
    private let state = Mutex(State())

    /// The address at which it listens, for people.
    var location: String { listener.location }

    private init(
        _ listener: StreamListener, rules: Rules, answer: @escaping @Sendable ([UInt8]) async -> [UInt8]
    ) throws(SystemCallError) {
        self.listener = listener
        self.rules = rules
        self.answer = answer
        bell = try EventCounter()
    }

    /// Begins to serve.
    ///
    /// - Parameter answer: Gives the answer to a request.
    static func start(
        _ name: String, at listener: StreamListener, rules: Rules,
        answer: @escaping @Sendable ([UInt8]) async -> [UInt8]
    ) throws(SystemCallError) -> RequestServer {
        let server = try RequestServer(listener, rules: rules, answer: answer)
        try OwnedThread.start(name) { server.serve() }
        return server
    }

    /// Ends it. Requests that are being answered get no answer any more.
    func stop() {
        state.withLock { $0.isStopped = true }
        bell.raise()
    }

    private func serve() {
        var table = PeerTable(rules: rules)
        var isFull = false
        while !state.withLock({ $0.isStopped }) {
            let heard = table.listening
            var timeout = table.nextDeadline.map { clock.now().duration(to: $0) }
            // Without a free descriptor a client waits and cannot be accepted: a pause, in place of a busy loop.
            if isFull { timeout = min(timeout ?? Self.pause, Self.pause) }
            let ready = Poll.wait(
                for: [bell.descriptor, isFull ? bell.descriptor : listener.descriptor] + heard.map(\.descriptor),
                timeout: timeout)
            if ready[0] { bell.clear() }
            deliver(to: &table)
            for (peer, isReady) in zip(heard, ready.dropFirst(2)) where isReady { begin(table.hear(peer.key)) }
            if isFull || ready[1] { isFull = !accept(into: &table) }
            table.dropLate(at: clock.now())
        }
    }

    /// - Returns: Whether the system had a descriptor for each.
    private func accept(into table: inout PeerTable) -> Bool {
        do throws(SystemCallError) {
            for _ in 0..<Self.admissionCount {
                guard let connection = try listener.accept() else { return true }
                if let user = rules.user, connection.peerUser != user { continue }
                let (hasPlace, requests) = table.add(connection, until: clock.now().advanced(by: rules.patience))
                requests.forEach(begin)
                if !hasPlace { _ = connection.send(rules.busy) }
            }
            return true
        } catch {
            return false
        }
    }

    private func deliver(to table: inout PeerTable) {
        let answers = state.withLock { state in
            defer { state.answers = [] }
            return state.answers
        }
        for (peer, bytes) in answers {
            begin(table.answer(peer, bytes, next: clock.now().advanced(by: rules.patience)))
        }
    }

    /// Has a request answered.
    private func begin(_ request: PeerTable.Request?) {
        guard let request else { return }
        Task {
            let bytes = await answer(request.bytes)
            state.withLock { $0.answers.append((request.peer, bytes)) }
            bell.raise()
        }
    }
}
