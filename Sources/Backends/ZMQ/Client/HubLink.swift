internal import CoreAPI
internal import Platform
internal import Replica
internal import StoreEngine
internal import Synchronization

/// A client's connection to its hub: requests with their answers, and the stream of updates that keeps the replica
/// current. It reconnects by itself, resumes its session, and sends unanswered requests again.
actor HubLink {
    /// The phase of the connection.
    enum Phase {
        /// There is no connection.
        case connecting
        /// A hello was sent.
        case greeting
        /// The hub knows this connection.
        case joined
        /// The link has ended: requests fail.
        case ended(SharedCoreError)
    }

    /// A group's state at one revision, as sent to a reader.
    struct View {
        let state: StoreState
        let capabilities: Capabilities
    }

    nonisolated let thread: SocketThread
    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    let endpoint: HubEndpoint
    let group: String
    let description: SessionDescription
    let options: ZMQGroupOptions
    let clock = SystemClock()

    var phase = Phase.connecting
    /// The first welcome.
    var welcome: Reply.Welcome?
    /// The nonce of the latest welcome.
    var nonce = ConnectionNonce.none
    /// The features in the latest welcome. Hubs may differ: the next one may be an older program.
    var promises: Set<Capability> = []
    /// The lease of the latest welcome. Hubs may differ: one sees the client's process, another one does not.
    var lease: Duration?
    /// The session's latest confirmation by the hub; nil without a lease.
    nonisolated let confirmation = Mutex<SessionLease?>(nil)
    /// The send times of unanswered messages that are no ``PendingRequest``, by number.
    var sendTimes: [UInt64: BootInstant] = [:]
    var replica: Replica?
    /// True if the link only requests a view of the group and does not join it.
    let isReader: Bool
    /// The view sent to a reader.
    var view: View?
    var requests: Socket?
    var events: ConnectionEvents?
    var stream: Socket?
    var streamEvents: ConnectionEvents?
    /// True for the connection of the requests, and for that of the stream, if it is lost.
    var isLost = (requests: false, stream: false)
    var pollSource = SocketThread.PollSource()

    /// Requests that are unanswered or unsent, by number.
    var pending: [UInt64: PendingRequest] = [:]
    /// The numbers of unsent requests, in order.
    var unsent: [UInt64] = []
    /// When the first request was sent after the last answer of the hub; nil if none was sent since then.
    var unansweredSince: BootInstant?
    var lastNumber: UInt64 = 0
    /// The number of the last hello.
    var greeting: UInt64 = 0
    /// When the hello is repeated because a request is unanswered.
    var nextGreeting: BootInstant?
    var greetingPause = HubLink.firstGreetingPause
    var nextKeepAlive: BootInstant?

    /// The secret by which the client proves, after a reconnection, that the session is its own.
    let token = (0..<Wire.tokenByteCount).map { _ in UInt8.random(in: 0...255) }
    /// The client's bytes in the echo that shows that the subscription is active.
    let mark = (0..<StreamMessage.armedByteCount).map { _ in UInt8.random(in: 0...255) }
    var isArmed = false
    /// The caller that waits for a step of joining.
    var joining: CheckedContinuation<Void, Never>?
    /// When it gives up.
    var joiningEnds: BootInstant?
    /// The number of the unanswered request for missing changes.
    var catchUp: UInt64?
    /// True if the subscription was renewed after that request, so that its answer may be incomplete.
    var isHeardAnew = false
    /// The highest revision known to exist.
    var announced = Revision.zero
    /// The error for requests made while the link stays only to end its session; nil before that.
    var parting: SharedCoreError?
    var isParted: Bool { parting != nil }
    /// True after the link's holder has closed it.
    var isClosing = false
    /// True while the stream is wanted, also over new connections.
    var isListening = false
    /// The number of watches and observations of the handle, and how many of them need no timer.
    private var watchCount = (all: 0, quiet: 0)
    /// True if the handle needs no beacons, because its participant reads at an interval of its own, which also shows
    /// lost updates.
    var isQuiet: Bool { watchCount.all > 0 && watchCount.all == watchCount.quiet }
    /// When the link creates new sockets: after an attempt to create them failed, or after a loss from which the
    /// library has not reconnected by itself. The library does not reconnect after it has rejected received data.
    var nextConnection: BootInstant?
    /// The run of the hub of this process that the link is connected to, and the link's number as a listener in
    /// ``NamedHubs``.
    var namedRun: UInt64?
    var nameTicket: UInt64?
    /// The task that replaces a killed hub, from a loss to the next welcome.
    var replacing: Task<Void, Never>?

    deinit {
        // A link that was released without being closed starts no more hubs.
        replacing?.cancel()
    }
    /// The last failure of the connection, as the cause in the error of a caller that times out.
    var lastTrouble: String?

    static let firstGreetingPause = Duration.seconds(1)
    /// The pause when the library did not accept the hello, as may happen right after a connection is made.
    static let unsentGreetingPause = Duration.milliseconds(20)
    static let longestGreetingPause = Duration.seconds(8)
    /// The pause while a hub tries to record a session's end: the session's user must learn of it soon (contract C4).
    static let refusedGreetingPause = Duration.milliseconds(250)
    /// Keep-alives sent per lease: the client may doubt its session after two thirds of a lease.
    static let keepAliveCount = 6
    /// How long the answer to a commit is awaited after its task was cancelled.
    static let cancellationGrace = Duration.milliseconds(250)

    init(
        to endpoint: HubEndpoint, group: String, as description: SessionDescription, options: ZMQGroupOptions,
        isReader: Bool = false
    ) throws(SharedCoreError) {
        thread = try SharedCoreError.wrapping { () throws(SystemCallError) in try SocketThread(name: "sc-hub-link") }
        self.endpoint = endpoint
        self.group = group
        self.description = description
        self.options = options
        self.isReader = isReader
    }

    // MARK: - Requests

    /// Sends a request to the hub and waits for the answer, across losses of the connection.
    ///
    /// It is not isolated: if the link's thread waits, the caller's thread sends the request, and the answer resumes
    /// the caller where it runs. Each change of threads would cost as much as one of the six that the library makes for
    /// a request.
    ///
    /// - Throws: `outcomeUnknown` for a commit without an answer.
    nonisolated func ask(_ question: PendingRequest.Question) async throws(SharedCoreError) -> Reply.Body {
        let ticket = RequestTicket()
        let isCancelled = Task.isCancelled
        let answer: PendingRequest.Answer = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                thread.act {
                    self.assumeIsolated { link in
                        if isCancelled { ticket.isWithdrawn.store(true, ordering: .relaxed) }
                        link.begin(question, ticket) { continuation.resume(returning: $0) }
                    }
                }
            }
        } onCancel: {
            Task { await self.withdraw(ticket) }
        }
        return try answer.get()
    }

    private func begin(
        _ question: PendingRequest.Question, _ ticket: RequestTicket,
        finish: @escaping (PendingRequest.Answer) -> Void
    ) {
        if case .ended(let error) = phase { return finish(.failure(error)) }
        if let parting { return finish(.failure(parting)) }
        if ticket.isWithdrawn.load(ordering: .relaxed) { return finish(.failure(.cancelled("request"))) }
        lastNumber += 1
        ticket.number.store(lastNumber, ordering: .relaxed)
        let timeout = min(options.requestTimeout, question.bound ?? options.requestTimeout)
        pending[lastNumber] = PendingRequest(
            number: lastNumber, question: question, deadline: clock.now().advanced(by: timeout), finish: finish)
        unsent.append(lastNumber)
        flush()
    }

    /// Handles the cancellation of a request's task: waits briefly for a commit that was sent, and ends any other
    /// request.
    private func withdraw(_ ticket: RequestTicket) {
        ticket.isWithdrawn.store(true, ordering: .relaxed)
        guard let request = pending[ticket.number.load(ordering: .relaxed)] else { return }
        if request.isSent, case .commit = request.question {
            request.isWithdrawn = true
            request.deadline = min(request.deadline, clock.now().advanced(by: Self.cancellationGrace))
        } else {
            finish(request, with: .failure(.cancelled("request")))
        }
    }

    /// Sends waiting requests, as many as the hub keeps results for.
    func flush() {
        guard case .joined = phase else { return }
        while let number = unsent.first {
            guard let request = pending[number] else {
                unsent.removeFirst()
                continue
            }
            let oldest = pending.values.lazy.filter(\.isSent).map(\.number).min() ?? number
            guard number < oldest + UInt64(Wire.windowCount), send(request) else { return }
            unsent.removeFirst()
        }
    }

    /// Sends a request.
    ///
    /// - Returns: Whether the connection has taken the request, or the request has failed because it cannot be sent at
    ///   all.
    @discardableResult
    private func send(_ request: PendingRequest) -> Bool {
        let known = replica?.read { $0.revision } ?? .zero
        let body: Request.Body =
            switch request.question {
            case .commit(let transaction): .commit(transaction, known: known)
            case .read: .read(known: known)
            case .probe: .probe(known: known)
            case .close: .close
            case .history(let revision): .history(after: revision)
            case .keepBaton(let bytes, let epoch, let lifetime): .keepBaton(bytes, of: epoch, for: lifetime)
            case .fetchBaton(let epoch, let own): .fetchBaton(of: epoch, under: own)
            }
        do throws(SharedCoreError) {
            if request.question.isOfBaton, !promises.contains(.batonBytes) {
                throw SharedCoreError(.unsupported, "The hub keeps no batons.", at: "\(endpoint)")
            }
            let bytes = try Request(number: request.number, nonce: nonce, body: body).bytes()
            guard bytes.count <= Wire.requestByteLimit else {
                throw SharedCoreError(
                    .limitExceeded,
                    "A request takes at most \(Wire.requestByteLimit) bytes on its way to the hub, this one takes "
                        + "\(bytes.count).", at: "transaction")
            }
            FailPoint.hit("link.beforeSend")
            let now = clock.now()
            guard requests?.send([bytes]) == true else { return false }
            request.sentAt = request.sentAt ?? now
            unansweredSince = unansweredSince ?? now
            request.sendCount += 1
            if nextGreeting == nil { nextGreeting = clock.now().advanced(by: greetingPause) }
        } catch {
            finish(request, with: .failure(error))
        }
        return true
    }

    /// Sends unanswered requests again, in order.
    func sendAgain() {
        for number in pending.keys.sorted() {
            guard let request = pending[number], request.isSent, request.held == nil else { continue }
            send(request)
        }
        flush()
    }

    func finish(_ request: PendingRequest, with answer: PendingRequest.Answer) {
        guard pending.removeValue(forKey: request.number) != nil else { return }
        request.end(with: answer)
    }

    /// Delivers held answers that the replica now reflects.
    func release() {
        guard let revision = replica?.read({ $0.revision }) else { return }
        for request in Array(pending.values) {
            guard let held = request.held, held.revision <= revision else { continue }
            finish(request, with: .success(held.reply))
        }
    }

    // MARK: - Beacons

    /// Counts a watch or observation that begins, or one that ends.
    nonisolated func countWatch(_ change: Int, isQuiet: Bool) {
        thread.act {
            self.assumeIsolated { link in
                let wasQuiet = link.isQuiet
                link.watchCount.all += change
                if isQuiet { link.watchCount.quiet += change }
                guard link.isQuiet != wasQuiet else { return }
                do throws(MessagingError) {
                    try link.stream?.set(link.isQuiet ? .unsubscribe : .subscribe, StreamMessage.beaconTopic)
                } catch {
                    link.connectAgain()
                }
            }
        }
    }

    // MARK: - The end

    /// Ends the link: pending and later requests fail.
    func end(with error: SharedCoreError) {
        if case .ended = phase { return }
        phase = .ended(error)
        for request in Array(pending.values) { finish(request, with: request.lastAnswer(for: error)) }
        unsent = []
        pollSource.isOver = true
        stopReplacing()
        closeSockets()
        forgetName()
        failReplica(with: error)
        resumeJoining()
    }

    /// Ends the watches on the replica.
    func failReplica(with error: SharedCoreError) {
        // A handle that was closed has ended its watches already; one that was released has not.
        let session = welcome?.session.id ?? SessionID(rawValue: 0)
        replica?.fail(with: error.code == .closed ? .sessionEnded(session) : error)
    }

    func resumeJoining() {
        joining?.resume()
        joining = nil
    }
}
