internal import CoreAPI
package import Platform
internal import Synchronization

/// Answers short requests through a socket, on a thread of its own that never waits for a peer.
///
/// A peer takes no more than its place in the table and the limit of unsent bytes. Requests have a size limit and a
/// deadline. The server closes the connection of a peer that does not read its answers, and of one of another user. If
/// each peer has one request and all places are taken, a new peer replaces the one that has been silent the longest, so
/// silent peers cannot keep others out.
package final class RequestServer: Sendable {
    /// The limits on peers.
    package struct Rules: Sendable {
        /// The bytes that end a request.
        let terminator: [UInt8]
        /// The longest request, in bytes, without its terminator.
        let requestByteCount: Int
        /// The maximum number of peers at a time.
        var peerCount: Int
        /// The time limit for a request, and for a peer with unsent bytes to accept some of them.
        var timeout: Duration
        /// True if a peer may send another request after an answer.
        let isPersistent: Bool
        /// The only user that may connect; nil if the system does not report the peer's user.
        let user: UInt32?
        /// The answer to a request that is too long.
        let tooLong: [UInt8]
        /// The answer to a peer beyond the limit, if no other peer is replaced by it.
        let busy: [UInt8]
        /// The maximum number of bytes that are kept for a peer while the kernel accepts none. Zero: an answer that the
        /// kernel does not accept at once ends the connection.
        var unsentByteCount: Int
        /// Returns how many bytes of a request follow the terminator, by those before it; nil for none.
        let bodyByteCount: (@Sendable ([UInt8]) -> Int)?

        package init(
            terminator: [UInt8], requestByteCount: Int, peerCount: Int = 32, timeout: Duration = .seconds(10),
            isPersistent: Bool, user: UInt32?, tooLong: [UInt8], busy: [UInt8], unsentByteCount: Int = 0,
            bodyByteCount: (@Sendable ([UInt8]) -> Int)? = nil
        ) {
            self.terminator = terminator
            self.requestByteCount = requestByteCount
            self.peerCount = peerCount
            self.timeout = timeout
            self.isPersistent = isPersistent
            self.user = user
            self.tooLong = tooLong
            self.busy = busy
            self.unsentByteCount = unsentByteCount
            self.bodyByteCount = bodyByteCount
        }
    }

    /// An answer, or the beginning of one.
    package struct Answer: Sendable {
        let bytes: [UInt8]
        /// True for the beginning of a stream, which ``send(_:to:)`` continues until the peer disconnects.
        let isStream: Bool

        package init(_ bytes: [UInt8], isStream: Bool = false) {
            self.bytes = bytes
            self.isStream = isStream
        }
    }

    private struct State {
        var answers: [(peer: Int, answer: Answer)] = []
        var isStopped = false
    }

    /// How many peers are accepted before the present ones are read again. Otherwise new peers could replace a peer
    /// that has just sent its request.
    private static let admissionCount = 8
    /// How long it waits for a free descriptor.
    private static let pause = Duration.milliseconds(100)

    private let listener: StreamListener
    private let rules: Rules
    private let answer: @Sendable (_ peer: Int, [UInt8]) async -> Answer
    private let streamEnded: @Sendable (_ peer: Int) -> Void
    private let changeSignal: EventCounter
    private let clock = SystemClock()
    private let state = Mutex(State())

    /// The address at which it listens, for people.
    var location: String { listener.location }

    private init(
        _ listener: StreamListener, rules: Rules, answer: @escaping @Sendable (Int, [UInt8]) async -> Answer,
        streamEnded: @escaping @Sendable (Int) -> Void
    ) throws(SystemCallError) {
        self.listener = listener
        self.rules = rules
        self.answer = answer
        self.streamEnded = streamEnded
        changeSignal = try EventCounter()
    }

    /// Begins to serve.
    ///
    /// - Parameter answer: Returns the answer to a request.
    static func start(
        _ name: String, at listener: StreamListener, rules: Rules,
        answer: @escaping @Sendable ([UInt8]) async -> [UInt8]
    ) throws(SystemCallError) -> RequestServer {
        try start(name, at: listener, rules: rules, answer: { _, request in Answer(await answer(request)) })
    }

    /// Begins to serve, with answers that may be streams.
    ///
    /// - Parameters:
    ///   - answer: Returns the answer to the request of a peer. The number of a peer is not used again.
    ///   - streamEnded: Called when a peer with a stream has disconnected, or has not read for too long.
    package static func start(
        _ name: String, at listener: StreamListener, rules: Rules,
        answer: @escaping @Sendable (_ peer: Int, [UInt8]) async -> Answer,
        streamEnded: @escaping @Sendable (_ peer: Int) -> Void = { _ in }
    ) throws(SystemCallError) -> RequestServer {
        let server = try RequestServer(listener, rules: rules, answer: answer, streamEnded: streamEnded)
        try OwnedThread.start(name) { server.serve() }
        return server
    }

    /// Continues the stream of a peer. The bytes are dropped if the peer has gone.
    package func send(_ bytes: [UInt8], to peer: Int) {
        state.withLock { $0.answers.append((peer, Answer(bytes, isStream: true))) }
        changeSignal.raise()
    }

    /// Ends the stream of a peer after all bytes that were sent to it.
    package func endStream(of peer: Int) {
        state.withLock { $0.answers.append((peer, Answer([]))) }
        changeSignal.raise()
    }

    /// Ends it. Requests that are being answered get no answer any more.
    package func stop() {
        state.withLock { $0.isStopped = true }
        changeSignal.raise()
    }

    private func serve() {
        var table = PeerTable(rules: rules)
        var isFull = false
        while !state.withLock({ $0.isStopped }) {
            let interests = table.interests
            var timeout = table.nextDeadline.map { clock.now().duration(to: $0) }
            // Without a free descriptor a waiting client cannot be accepted. Pause, because `poll` would return at once
            // each time.
            if isFull { timeout = min(timeout ?? Self.pause, Self.pause) }
            let own = [changeSignal.descriptor, isFull ? changeSignal.descriptor : listener.descriptor].map {
                ($0, Poll.readable)
            }
            // An error is treated as an interruption by a signal: all descriptors are tried again.
            let waited = try? Poll.events(
                of: own + interests.map { ($0.descriptor, $0.events) }, timeout: timeout)
            let ready = (waited ?? nil) ?? [Int16](repeating: 0, count: own.count + interests.count)
            if ready[0] != 0 { changeSignal.clear() }
            deliver(to: &table)
            for (peer, events) in zip(interests, ready.dropFirst(2)) where events != 0 {
                begin(table.serve(peer.key, events, until: clock.now().advanced(by: rules.timeout)))
            }
            if isFull || ready[1] != 0 { isFull = !accept(into: &table) }
            table.dropLate(at: clock.now())
            for peer in table.takeEndedStreams() { streamEnded(peer) }
        }
    }

    /// Accepts the connections that wait, up to a maximum number.
    ///
    /// - Returns: True if the system had a descriptor for each.
    private func accept(into table: inout PeerTable) -> Bool {
        do throws(SystemCallError) {
            for _ in 0..<Self.admissionCount {
                guard let connection = try listener.accept() else { return true }
                if let user = rules.user, connection.peerUser != user { continue }
                let (hasPlace, requests) = table.add(connection, until: clock.now().advanced(by: rules.timeout))
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
        for (peer, answer) in answers {
            begin(table.answer(peer, answer, next: clock.now().advanced(by: rules.timeout)))
        }
    }

    /// Passes a request to the handler.
    private func begin(_ request: PeerTable.Request?) {
        guard let request else { return }
        Task {
            let answer = await answer(request.peer, request.bytes)
            state.withLock { $0.answers.append((request.peer, answer)) }
            changeSignal.raise()
        }
    }
}
