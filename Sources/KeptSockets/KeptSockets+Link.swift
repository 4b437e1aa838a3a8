internal import CoreAPI
internal import Platform
internal import Synchronization

extension KeptSockets {
    /// Sends a request to the keeper, and waits for its answer.
    @discardableResult
    func ask(_ request: KeeperRequest, with file: OpenFile? = nil) async throws(SharedCoreError) -> [KeptSocket] {
        let result = await withCheckedContinuation { continuation in
            let refusal = state.withLock { state -> SharedCoreError? in
                guard let connection = state.connection else { return Self.lost(path) }
                return Self.send(request, with: file, over: connection, in: &state) { result in
                    continuation.resume(returning: result)
                }
            }
            if let refusal { continuation.resume(returning: .failure(refusal)) }
        }
        return try result.get()
    }

    /// Sends a request that has an answer. Called under the lock, so that the requests are sent in the order in which
    /// they wait for answers.
    ///
    /// - Returns: The error if it was not sent.
    private static func send(
        _ request: KeeperRequest, with file: OpenFile?, over connection: MessageSocket, in state: inout KeeperLink,
        answer: @escaping @Sendable (Result<[KeptSocket], SharedCoreError>) -> Void
    ) -> SharedCoreError? {
        do throws(SystemCallError) {
            try connection.send(Array(request.text.utf8), with: file.map { [$0] } ?? [])
            state.waiting.append(KeeperLink.Request(answer: answer))
            return nil
        } catch {
            return SharedCoreError(.unavailable, "The keeper takes no message.", at: error.location, cause: "\(error)")
        }
    }

    /// Reads the keeper's messages on a thread that runs until ``close()``, and searches for the next keeper after a
    /// loss.
    func listen(to connection: MessageSocket) throws(SharedCoreError) {
        let path = path
        let stopped = stopped
        try SharedCoreError.wrapping { () throws(SystemCallError) in
            try OwnedThread.start("keeper") { [weak self] in
                var connection = connection
                while !Poll.wait(for: [connection.descriptor, stopped.descriptor], timeout: nil)[1] {
                    if self?.take(from: connection) == true { continue }
                    self?.lose()
                    guard let next = Self.find(path, stopped) else { return }
                    connection = next
                    self?.introduce(to: next)
                }
            }
        }
    }

    /// Processes the keeper's messages.
    ///
    /// - Returns: Whether the connection is still open.
    private func take(from connection: MessageSocket) -> Bool {
        while true {
            switch connection.receive(upTo: KeeperLimits.messageByteCount) {
            case .message(let bytes, let files):
                if let message = KeeperMessage(bytes) { heard(message, with: files.first) }
            case .tooLong: continue
            case .nothing: return true
            case .end: return false
            }
        }
    }

    private func heard(_ message: KeeperMessage, with file: OpenFile?) {
        switch message {
        case .kept(let name):
            guard let file else { return }
            state.withLock { state in
                if !state.waiting.isEmpty { state.waiting[0].found.append(KeptSocket(name: name, file: file)) }
            }
        case .done:
            if let request = next() { request.answer(.success(request.found)) }
        case .refused(let problem): next()?.fail(SharedCoreError(problem, at: path))
        case .wake(let budget):
            state.withLock { $0.isAsleep = false }
            teller.yield(.wake(budget: budget))
        case .woken(let budget):
            state.withLock { $0.isAsleep = false }
            teller.yield(.woken(budget: budget))
        case .ending(let left): teller.yield(.budgetEnds(left: left))
        case .status: return
        }
    }

    private func next() -> KeeperLink.Request? {
        state.withLock { $0.waiting.isEmpty ? nil : $0.waiting.removeFirst() }
    }

    private func lose() {
        let waiting = state.withLock { state in
            state.connection = nil
            defer { state.waiting = [] }
            return state.waiting
        }
        for request in waiting { request.fail(Self.lost(path)) }
        teller.yield(.keeperLost)
    }

    /// The interval between two searches for a keeper.
    private static let interval = Duration.milliseconds(250)
    /// The timeout for a keeper's answer.
    private static let timeout = Duration.seconds(5)

    /// Waits for a keeper that accepts this process as its Main; returns nil after ``close()``.
    private static func find(_ path: String, _ stopped: EventCounter) -> MessageSocket? {
        while !Poll.wait(for: [stopped.descriptor], timeout: interval)[0] {
            guard let connection = try? MessageSocket(connectingTo: path),
                (try? connection.send(Array(KeeperRequest.hello.text.utf8))) != nil,
                Poll.wait(for: [connection.descriptor, stopped.descriptor], timeout: timeout)[0],
                case .message(let bytes, _) = connection.receive(upTo: KeeperLimits.messageByteCount),
                KeeperMessage(bytes) == .done
            else { continue }
            return connection
        }
        return nil
    }

    /// Sends the whole state to a new keeper. No caller waits for the answers, so a refusal is not reported.
    private func introduce(to connection: MessageSocket) {
        state.withLock { state in
            guard !state.isClosed else { return }
            state.connection = connection
            for (name, file) in state.kept.sorted(by: { $0.key < $1.key }) {
                _ = Self.send(.keep(name: name), with: file, over: connection, in: &state) { _ in }
            }
            _ = Self.send(.calls(state.calls), with: nil, over: connection, in: &state) { _ in }
            let last = state.isAsleep ? KeeperRequest.asleep : .alive
            _ = Self.send(last, with: nil, over: connection, in: &state) { [teller] result in
                if case .success = result { teller.yield(.keeperFound) }
            }
        }
    }
}

/// The state of a process's link to its keeper, and everything that it has sent.
struct KeeperLink {
    /// A request that waits for its answer.
    struct Request {
        /// The sockets received for it so far.
        var found: [KeptSocket] = []
        let answer: @Sendable (Result<[KeptSocket], SharedCoreError>) -> Void

        func fail(_ error: SharedCoreError) { answer(.failure(error)) }
    }

    var connection: MessageSocket?
    /// The requests without an answer, in the order in which they were sent. Answers come in the same order.
    var waiting: [Request] = []
    var isClosed = false

    // The following state is sent again to the next keeper.

    var kept: [String: OpenFile] = [:]
    var isAsleep = false
    var calls = 0
}

extension SharedCoreError {
    /// Converts a keeper's refusal to the error for its Main (contract E1).
    init(_ problem: KeeperProblem, at location: String) {
        let code: Code =
            switch problem.code {
            case .malformed, .noSocket, .unknown: .invalidArgument
            case .tooLong, .tooMany: .limitExceeded
            case .notMain: .forbidden
            case .busy: .unavailable
            case .system: .system
            }
        self.init(code, "The keeper refuses: \(problem.message).", at: location)
    }
}
