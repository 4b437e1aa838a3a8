internal import CoreAPI
internal import Platform
internal import Replica
internal import StoreEngine
internal import Synchronization

/// A client's connection to its hub: requests that are answered, and the stream of news that keeps the replica up to
/// date. It connects again by itself, takes up its session, and sends again what was not answered.
actor HubLink {
    /// How far the link is.
    enum Phase {
        /// There is no connection.
        case connecting
        /// Hello was said.
        case greeting
        /// The hub knows this connection.
        case joined
        /// Nothing more can be asked.
        case ended(SharedCoreError)
    }

    /// A group at one revision, as a reader is sent it.
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
    /// The first one.
    var welcome: Reply.Welcome?
    /// What the last one has given the connection.
    var nonce = ConnectionNonce.none
    /// The lease that the latest hub gave: the next one may see the process where the former did not, or the other way.
    var lease: Duration?
    /// Until when the session is known to stand; nil without a lease.
    nonisolated let confirmation = Mutex<SessionLease?>(nil)
    /// When what is no ``PendingRequest`` was sent over this connection and not answered, by its number.
    var sendTimes: [UInt64: BootInstant] = [:]
    var replica: Replica?
    /// Whether the link only asks for a view of the group, and does not join it.
    let isReader: Bool
    /// The view that a reader was sent.
    var view: View?
    var requests: Socket?
    var events: ConnectionEvents?
    var stream: Socket?
    var streamEvents: ConnectionEvents?
    /// Whether the connection of the requests, and that of the stream, was lost and has not come again.
    var isLost = (requests: false, stream: false)
    var duty = SocketThread.Duty()

    /// Requests that wait for an answer, or to be sent, by their numbers.
    var pending: [UInt64: PendingRequest] = [:]
    /// The numbers of those that were not sent yet, in their order.
    var unsent: [UInt64] = []
    var lastNumber: UInt64 = 0
    /// The number of the last hello.
    var greeting: UInt64 = 0
    /// When hello is said again, because something stays without an answer.
    var nextGreeting: BootInstant?
    var greetingPause = HubLink.firstGreetingPause
    var nextKeepAlive: BootInstant?

    /// What proves to the hub that the session is this client's own when it comes again.
    let token = (0..<Wire.tokenByteCount).map { _ in UInt8.random(in: 0...255) }
    /// The own bytes of the echo that tells that the stream is heard.
    let mark = (0..<StreamMessage.armedByteCount).map { _ in UInt8.random(in: 0...255) }
    var isArmed = false
    /// Who waits for a step of joining.
    var joining: CheckedContinuation<Void, Never>?
    /// When it is to give up.
    var joiningEnds: BootInstant?
    /// The number of the request for what is missing, while it is on its way.
    var catchUp: UInt64?
    /// Whether the stream was heard anew since then, so that the answer may not have all.
    var isHeardAnew = false
    /// The revision that is known to exist.
    var announced = Revision.zero
    /// What whoever asks is told when nobody is to use the link any more, which is there only to end its session.
    var parting: SharedCoreError?
    var isParted: Bool { parting != nil }
    /// Whether its holder has closed it.
    var isClosing = false
    /// Whether the stream is wanted, also over a connection that is made anew.
    var isListening = false
    /// When the sockets are made again, after that has failed, or after a loss from which the library has not connected
    /// again: it gives a connection up over which it was sent what it does not take.
    var nextConnection: BootInstant?
    /// The hub of this process that the link is connected to, and what the list of them knows the link by.
    var namedRun: UInt64?
    var nameTicket: UInt64?
    /// Starts another hub when the one of this link was killed, from a loss to the next welcome.
    var replacing: Task<Void, Never>?

    deinit {
        // A link that was let go without its end starts no more hubs.
        replacing?.cancel()
    }
    /// What was wrong with the last connection, for whoever waits in vain.
    var lastTrouble: String?

    static let firstGreetingPause = Duration.seconds(1)
    /// When the library did not take hello, as it may not right after a connection was made.
    static let unsentGreetingPause = Duration.milliseconds(20)
    static let longestGreetingPause = Duration.seconds(8)
    /// While a hub tries to record a session's end: whoever uses the session is to hear of it soon (contract C4).
    static let refusedGreetingPause = Duration.milliseconds(250)
    /// How many keep-alives are sent in a lease: its client may be in doubt of the session after two thirds of one.
    static let keepAliveCount = 6
    /// How long the answer to a request is waited for whose task was cancelled.
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

    /// Asks the hub and waits for the answer, through losses of the connection.
    ///
    /// It is not isolated: what is asked is sent from the caller's thread when the link's own waits, and the answer
    /// resumes the caller where it runs. Each change of threads takes as long as one of the library's six.
    ///
    /// - Throws: `outcomeUnknown` for a commit whose answer did not come.
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
        pending[lastNumber] = PendingRequest(
            number: lastNumber, question: question, deadline: clock.now().advanced(by: options.requestTimeout),
            finish: finish)
        unsent.append(lastNumber)
        flush()
    }

    /// The task of a request was cancelled: a commit that was sent is waited for a little, everything else is given up.
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

    /// Sends what waits, as far as the hub keeps results for it.
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
    /// - Returns: Whether the connection has taken it, or it has ended because it cannot be sent at all.
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
            }
        do throws(SharedCoreError) {
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
            request.sendCount += 1
            if nextGreeting == nil { nextGreeting = clock.now().advanced(by: greetingPause) }
        } catch {
            finish(request, with: .failure(error))
        }
        return true
    }

    /// Sends again what was not answered, in its order.
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

    /// Gives callers their answers for which the replica has come far enough.
    func release() {
        guard let revision = replica?.read({ $0.revision }) else { return }
        for request in Array(pending.values) {
            guard let held = request.held, held.revision <= revision else { continue }
            finish(request, with: .success(held.reply))
        }
    }

    // MARK: - The end

    /// Nothing more can be asked.
    func end(with error: SharedCoreError) {
        if case .ended = phase { return }
        phase = .ended(error)
        for request in Array(pending.values) { finish(request, with: request.lastAnswer(for: error)) }
        unsent = []
        duty.isOver = true
        stopReplacing()
        closeSockets()
        forgetName()
        failReplica(with: error)
        resumeJoining()
    }

    /// Ends what waits for news.
    func failReplica(with error: SharedCoreError) {
        // A handle that was closed has ended its watches already; one that was let go has not.
        let session = welcome?.session.id ?? SessionID(rawValue: 0)
        replica?.fail(with: error.code == .closed ? .sessionEnded(session) : error)
    }

    func resumeJoining() {
        joining?.resume()
        joining = nil
    }
}
