internal import CoreAPI
internal import Platform
internal import Synchronization

/// Answers short requests through a socket, on a thread of its own that never waits for a peer.
///
/// Whatever a peer does, it costs no more than its place: requests are bounded, each has a time within which it must be
/// complete, a peer that does not read its answers is let go, and so is one of another user.
final class RequestServer: Sendable {
    /// What peers may do.
    struct Rules: Sendable {
        /// What ends a request.
        let terminator: [UInt8]
        /// The longest request, without what ends it.
        let requestByteCount: Int
        /// The most peers at a time.
        var peerCount = 32
        /// How long a request may take to come.
        var patience = Duration.seconds(10)
        /// Whether a peer may send another request after an answer.
        let isPersistent: Bool
        /// The only user who may connect; nil where the system does not tell.
        let user: UInt32?
        /// The answer to a request that is too long.
        let tooLong: [UInt8]
        /// The answer to one more peer than there may be.
        let busy: [UInt8]
    }

    private struct State {
        var answers: [(peer: Int, bytes: [UInt8])] = []
        var isStopped = false
    }

    private let listener: StreamListener
    private let rules: Rules
    private let answer: @Sendable ([UInt8]) async -> [UInt8]
    private let bell: EventCounter
    private let clock = SystemClock()
    private let state = Mutex(State())

    /// Where it listens, for people.
    var location: String { listener.location }

    private init(
        _ listener: StreamListener, rules: Rules, answer: @escaping @Sendable ([UInt8]) async -> [UInt8]
    ) throws(SystemCallError) {
        self.listener = listener
        self.rules = rules
        self.answer = answer
        bell = try EventCounter()
    }

    deinit {
        bell.raise()
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
        while !state.withLock({ $0.isStopped }) {
            let heard = table.listening
            let timeout = table.nextDeadline.map { clock.now().duration(to: $0) }
            // A listener without a free descriptor stays readable: a pause then, in place of a busy loop.
            let ready = Poll.wait(
                for: [bell.descriptor, listener.descriptor] + heard.map(\.descriptor), timeout: timeout)
            if ready[0] { bell.clear() }
            deliver(to: &table)
            for (peer, isReady) in zip(heard, ready.dropFirst(2)) where isReady { begin(table.hear(peer.key)) }
            if ready[1] { accept(into: &table) }
            table.dropLate(at: clock.now())
        }
    }

    private func accept(into table: inout PeerTable) {
        while let connection = listener.accept() {
            if let user = rules.user, connection.peerUser != user { continue }
            guard table.add(connection, until: clock.now().advanced(by: rules.patience)) else {
                _ = connection.send(rules.busy)
                continue
            }
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
