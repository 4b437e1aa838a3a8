internal import CoreAPI
internal import Platform
internal import Replica
internal import StoreEngine

/// A hub's service: takes requests one after another, records them in the order of the backend behind it, and sends all
/// subscribers every recorded change, of any process.
actor HubService {
    nonisolated let thread: SocketThread
    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    let order: any LocalOrder
    let options: HubOptions
    let runningClock = SystemClock()
    let domain = "sharedcore-" + String(UInt64.random(in: 0...UInt64.max), radix: 36)
    /// A random number by which clients distinguish two hubs that keep the group only in memory, so that it ends with
    /// each of them.
    let incarnation: UInt64

    var hubListeners: [HubEndpointListener] = []
    /// The names and run numbers under which this hub is registered in ``NamedHubs``.
    private var namedRuns: [(name: String, run: UInt64)] = []
    var pollSource = SocketThread.PollSource()
    var isStopped = false

    /// Messages that were received and not processed yet.
    var intake = Intake()
    var isServing = false
    /// The bytes of transactions that wait for room in the order.
    var delayedByteCount = 0
    /// The number of the listener at which the next round of receiving begins, so that no listener starves the others.
    var firstDoor = 0

    var clients: [SessionID: HubClient] = [:]
    var addresses: [HubAddress: HubClient] = [:]
    var refusalReports = RefusalReports()
    /// Watches for the ends of clients' processes.
    let ends: ReadinessSet

    /// The last revision that was sent to all subscribers.
    var published: Revision
    var follower: Follower?
    /// The pace of updates, when one was last sent, and when a waiting one is sent.
    var pace = UpdatePace()
    var lastNews = BootInstant(nanoseconds: 0)
    var nextUpdates: BootInstant?
    /// When the current revision is sent, so that clients notice a loss.
    var nextBeacon: BootInstant?

    var leaseTime: LeaseTime
    /// The baton that an owner has given; empty without one.
    var baton = HubBaton()
    var heap = HeapReturn()
    /// The time from a beacon to the next one, when nothing happens: doubled each time, between these bounds. An idle
    /// group wakes its clients twelve times a minute.
    static let beaconInterval = Duration.seconds(1)
    static let longestBeaconInterval = Duration.seconds(5)
    var beaconPause = HubService.beaconInterval
    /// The time from an update to the beacon that follows it: when a burst is over.
    static let beaconDelay = Duration.milliseconds(20)

    /// When new clients are welcomed; nil for at once. Until then, clients of former hubs with sessions that this hub
    /// does not know have time to stop their cores. They learn only from this hub that their sessions are unknown, so
    /// the time counts from its first answer.
    private(set) var welcomesFrom: BootInstant?

    /// Makes the service of a hub that has no listener yet.
    ///
    /// - Parameter followsClients: Whether clients of former hubs, with sessions that this hub does not know, may still
    ///   run cores.
    init(
        order: any LocalOrder, options: HubOptions, followsClients: Bool = false
    ) throws(SharedCoreError) {
        (thread, ends) = try SharedCoreError.wrapping { () throws(SystemCallError) in
            (try SocketThread(name: "sc-hub"), try ReadinessSet())
        }
        self.order = order
        self.options = options
        self.incarnation = order.incarnation
        leaseTime = LeaseTime(from: runningClock.now())
        welcomesFrom = followsClients ? BootInstant(nanoseconds: .max) : nil
        published = order.replica.read { $0.revision }
    }

    /// Begins to listen.
    func start() async throws(SharedCoreError) -> [HubEndpoint] {
        try await order.refresh()
        published = order.replica.read { $0.revision }
        takeOverSessions()
        if let keys = options.keys { _ = try Authenticator.shared().replace(keys.clients, in: domain) }
        do throws(MessagingError) {
            for endpoint in options.endpoints { hubListeners.append(try hubListener(at: endpoint)) }
        } catch {
            close()
            throw SharedCoreError(error)
        }
        try listenToDoors()
        // A released actor that was not stopped leaves a poll source, which has ended.
        pollSource.turn = { [weak self, unowned pollSource] in
            guard let self else { return pollSource.isOver = true }
            self.assumeIsolated { $0.turn() }
        }
        pollSource.deadline = { [weak self] in self?.assumeIsolated { $0.nextTurn } ?? nil }
        thread.take(pollSource)
        beginNames()
        let onFailure: @Sendable (SharedCoreError) -> Void = { [report = options.onFailure] error in
            if Self.isLoss(error) { report?(error) }
        }
        follower = order.replica.follow(after: published, onFailure: onFailure) { [weak self] in
            guard let self else { return }
            thread.act {
                self.assumeIsolated {
                    $0.endBaton()
                    // This is called for records of this hub too, between the requests of a batch.
                    $0.publishNewsSoon()
                }
            }
        }
        do throws(MessagingError) {
            for hubListener in hubListeners { try hubListener.begin() }
        } catch {
            close()
            throw SharedCoreError(error)
        }
        if welcomesFrom != nil { welcomesFrom = runningClock.now().advanced(by: FormerClients.timeout) }
        order.setServing(true)
        return hubListeners.map(\.endpoint)
    }

    /// Returns whether a hello is answered. A client repeats a hello that is not.
    func hears(_ hello: Request.Hello) -> Bool {
        guard let welcomesFrom, hello.resumed == nil, !FailPoint.fails("hub.formerClients") else { return true }
        return runningClock.now() >= welcomesFrom
    }

    /// Replaces the allowed keys and their rights: each connection over a network must prove a key again.
    func allow(_ clients: [String: ClientRights]) throws(SharedCoreError) {
        guard !isStopped else { return }
        guard options.keys != nil else {
            throw SharedCoreError(.invalidArgument, "The hub has no keys of its own.", at: "clients")
        }
        guard try Authenticator.shared().replace(clients, in: domain) else { return }
        for hubListener in hubListeners { hubListener.network?.cut(for: Set(clients.keys)) }
    }

    private func hubListener(at endpoint: HubEndpoint) throws(MessagingError) -> HubEndpointListener {
        guard case .tcp(let host, let port) = endpoint.bindable, let keys = options.keys else {
            return try HubEndpointListener(at: endpoint)
        }
        let network = try NetworkEntrance(
            host: host, port: port, keys: keys, domain: domain, times: options.times,
            memory: ClientMemory(byteCount: options.clientMemory),
            act: { [weak self] body in
                guard let self else { return }
                thread.act { self.assumeIsolated { body($0) } }
            }, at: hubListeners.count)
        return HubEndpointListener(at: endpoint, through: network)
    }

    /// Stops listening. Received requests are dropped: clients repeat them.
    ///
    /// - Returns: Whether the hub had sessions of clients, whether it has served for as long as clients of former
    ///   hubs take to end, and whether its group's files are gone.
    @discardableResult
    func stop() -> (hadClients: Bool, hasOutlasted: Bool, hasFailed: Bool) {
        guard !isStopped else { return (false, false, false) }
        close()
        let hasOutlasted = welcomesFrom.map { runningClock.now() >= $0 } ?? true
        return (!clients.isEmpty, hasOutlasted, order.replica.failure.map(Self.isLoss) ?? false)
    }

    /// Returns true if the group's files are gone. If the files are only damaged, the hub continues for clients that
    /// need no damaged part.
    private static func isLoss(_ error: SharedCoreError) -> Bool { error.code == .unavailable }

    /// Reports the hub to clients of this process: the library reports no connections there.
    private func beginNames() {
        for hubListener in hubListeners {
            if case .inproc(let name) = hubListener.endpoint { namedRuns.append((name, NamedHubs.shared.begin(name))) }
        }
    }

    private func endNames() {
        for (name, run) in namedRuns { NamedHubs.shared.end(run, of: name) }
        namedRuns = []
    }

    private func close() {
        isStopped = true
        follower = nil
        baton = HubBaton()
        order.setServing(false)
        pollSource.isOver = true
        // Remove the names before the listener is closed, because the next hub can take a name from then on.
        endNames()
        for socket in pollSource.sockets { thread.forget(socket.descriptor) }
        pollSource.sockets = []
        for hubListener in hubListeners { hubListener.close() }
        intake.removeAll()
        if options.keys != nil { try? Authenticator.shared().forget(domain) }
    }

    // MARK: - The thread

    private func turn() {
        attend()
        if !intake.isEmpty, !isServing {
            isServing = true
            Task { await self.serve() }
        }
        if intake.isEmpty, !isServing, heap.isDue(at: runningClock.now()) { OwnProcess.returnHeap() }
        // While the intake is full, unread requests must not wake the thread, or it would never sleep.
        for hubListener in hubListeners { hubListener.want(!intake.isFull) }
    }

    /// Takes in messages, and does what is due beside the answers.
    private func attend() {
        takeIn()
        for hubListener in hubListeners {
            var taken = 0
            while taken < Intake.limit, let message = hubListener.stream.next(upTo: 1) {
                taken += 1
                answerSubscription(message, at: hubListener)
            }
        }
        while case let keys = ends.take(), !keys.isEmpty {
            for key in keys { clientEnded(SessionID(rawValue: key)) }
        }
        countLeases()
        publishDueNews()
        sendBeacon()
    }

    private func listenToDoors() throws(SharedCoreError) {
        pollSource.sockets = hubListeners.flatMap(\.sockets)
        do throws(SystemCallError) {
            try thread.watch(ends.descriptor)
            for socket in pollSource.sockets { try thread.watch(socket.descriptor) }
        } catch {
            close()
            throw SharedCoreError(error)
        }
    }

    /// Takes in messages, as many as there is room for.
    private func takeIn() {
        firstDoor = (firstDoor + 1) % max(hubListeners.count, 1)
        for number in hubListeners.indices {
            let index = (firstDoor + number) % hubListeners.count
            while !intake.isFull, let message = hubListeners[index].next() { takeIn(message, at: index) }
        }
    }

    private func takeIn(_ message: IncomingMessage, at hubListener: Int) {
        // The library's name for the connection is the first frame.
        guard let connection = message.frames.first else { return }
        let address = HubAddress(hubListener: hubListener, connection: connection)
        heap.use(message.byteCount, at: runningClock.now())
        // A message proves that the client is there, however long its answer takes.
        if let client = addresses[address], client.leaseLeft != nil, !client.mustEnd {
            client.renewLease()
            if confirm(message, of: client, at: address) {
                hubListeners[hubListener].network?.release(message.byteCount, of: connection)
                return
            }
        }
        intake.append(message, from: address)
    }

    /// Answers a keep-alive before all other messages: a delay of theirs, as by a slow disk, must not look like a lost
    /// connection to the client. A keep-alive that comes too soon waits for its turn, so that no client gains by
    /// sending many.
    private func confirm(_ message: IncomingMessage, of client: HubClient, at address: HubAddress) -> Bool {
        let now = runningClock.now()
        guard now >= client.nextConfirmation, message.frames.count == 2, !message.isTooLong,
            let request = try? Request(message.frames[1]), case .keepAlive = request.body,
            client.nonce.isSame(as: request.nonce)
        else { return false }
        client.nextConfirmation = now.advanced(by: client.lease / 12)
        send(Reply(number: request.number, body: .done), to: address)
        return true
    }

    /// How long requests are answered before further ones are taken in: a message behind many expensive ones of another
    /// connection gets its turn before them.
    private static let intakeInterval = Duration.milliseconds(1)

    /// Answers the received requests, each connection in its turn.
    private func serve() async {
        var (began, taken) = (runningClock.now(), runningClock.now())
        while !isStopped, let (address, message) = intake.next() {
            await answer(message, from: address)
            hubListeners[address.hubListener].network?.release(message.byteCount, of: address.connection)
            let now = runningClock.now()
            intake.charge(began.duration(to: now))
            began = now
            if taken.duration(to: now) >= Self.intakeInterval, !isStopped {
                // During a flood of requests this loop does not end, so it also reads the events of descriptors.
                thread.hear()
                attend()
                taken = now
                // Other jobs of the hub must run as well, such as answers to commits that wait for the disk, or a
                // change of the keys. Their time counts for no client.
                if thread.hasWaitingWork {
                    await thread.yield()
                    (began, taken) = (runningClock.now(), runningClock.now())
                }
            }
            // Publish here as well, because the last request of a batch may have recorded nothing.
            if intake.isEmpty { publishUpdates() }
        }
        isServing = false
    }

    /// The time of the next deadline.
    private var nextTurn: BootInstant? {
        var next = nextUpdates
        if let nextBeacon { next = min(next ?? nextBeacon, nextBeacon) }
        if let due = heap.due, intake.isEmpty, !isServing { next = min(next ?? due, due) }
        if !baton.isEmpty || clients.values.contains(where: { $0.leaseLeft != nil }) {
            let count = runningClock.now().advanced(by: LeaseTime.interval)
            next = min(next ?? count, count)
        }
        return next
    }
}
