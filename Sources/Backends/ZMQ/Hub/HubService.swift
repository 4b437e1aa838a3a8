internal import CoreAPI
internal import Platform
internal import Replica
internal import StoreEngine

/// What a hub does: takes requests one after another, gets them their place in the order of the backend behind it, and
/// tells all who listen what was recorded, by whomever.
actor HubService {
    nonisolated let thread: SocketThread
    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    let order: any LocalOrder
    let options: HubOptions
    let runningClock = SystemClock()
    let domain = "sharedcore-" + String(UInt64.random(in: 0...UInt64.max), radix: 36)
    /// Tells clients the hub's runs apart where the group ends with the hub.
    let incarnation: UInt64

    var doors: [Door] = []
    /// What clients of this process know the hub by.
    private var namedRuns: [(name: String, run: UInt64)] = []
    var duty = SocketThread.Duty()
    var isStopped = false

    /// Messages that were received and not looked at yet.
    var intake = Intake()
    var isServing = false
    /// The bytes of transactions that wait for room in the order.
    var delayedByteCount = 0
    /// At which endpoint taking in begins, so that none keeps the others out.
    var firstDoor = 0

    var clients: [SessionID: HubClient] = [:]
    var addresses: [HubAddress: HubClient] = [:]
    var refusalReports = RefusalReports()
    /// The ends of clients' processes.
    let ends: ReadinessSet

    /// Everything up to here was told to all who listen.
    var published: Revision
    var follower: Follower?
    /// When something was told for the last time, and when it is the next time if something waits for that.
    var pace = NewsPace()
    private var lastNews = BootInstant(nanoseconds: 0)
    private var nextNews: BootInstant?
    /// When the place of the order is told, so that a loss is noticed.
    var nextBeacon: BootInstant?

    var leaseTime: LeaseTime
    var heap = HeapReturn()
    /// How long after a beacon the next one follows, when nothing happens: twice as long each time, between these
    /// bounds. A group that rests wakes its clients twelve times a minute.
    static let beaconInterval = Duration.seconds(1)
    static let longestBeaconInterval = Duration.seconds(5)
    var beaconPause = HubService.beaconInterval
    /// How long after news the beacon follows: when a burst is over.
    static let beaconDelay = Duration.milliseconds(20)

    /// From when on new clients are welcomed; nil for at once. Those of former hubs whose sessions this one does not know stop
    /// their cores until then: they hear at once that their sessions are unknown, and of no hub before it. So it counts from
    /// when this one answers.
    private(set) var welcomesFrom: BootInstant?

    /// - Parameter followsClients: Whether clients of former hubs, whose sessions this one does not know, may still run cores.
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
            for endpoint in options.endpoints { doors.append(try door(at: endpoint)) }
        } catch {
            close()
            throw SharedCoreError(error)
        }
        try listenToDoors()
        // An actor that was let go without its end leaves a duty that is over.
        duty.turn = { [weak self, unowned duty] in
            guard let self else { return duty.isOver = true }
            self.assumeIsolated { $0.turn() }
        }
        duty.deadline = { [weak self] in self?.assumeIsolated { $0.nextTurn } ?? nil }
        thread.take(duty)
        beginNames()
        follower = order.replica.follow(after: published) { [weak self] in
            guard let self else { return }
            thread.act { self.assumeIsolated { $0.publishNews() } }
        }
        do throws(MessagingError) {
            for door in doors { try door.begin() }
        } catch {
            close()
            throw SharedCoreError(error)
        }
        if welcomesFrom != nil { welcomesFrom = runningClock.now().advanced(by: FormerClients.timeout) }
        order.setServing(true)
        return doors.map(\.endpoint)
    }

    /// Whether a hello is answered. One that is not is said again.
    func hears(_ hello: Request.Hello) -> Bool {
        guard let welcomesFrom, hello.resumed == nil, !FailPoint.fails("hub.formerClients") else { return true }
        return runningClock.now() >= welcomesFrom
    }

    /// Lets other keys in from now on, or the same ones with other rights: each connection over a network has to prove a key
    /// again.
    func allow(_ clients: [String: ClientRights]) throws(SharedCoreError) {
        guard !isStopped else { return }
        guard options.keys != nil else {
            throw SharedCoreError(.invalidArgument, "The hub has no keys of its own.", at: "clients")
        }
        guard try Authenticator.shared().replace(clients, in: domain) else { return }
        for door in doors { door.network?.cut(for: Set(clients.keys)) }
    }

    private func door(at endpoint: HubEndpoint) throws(MessagingError) -> Door {
        guard case .tcp(let host, let port) = endpoint.bindable, let keys = options.keys else {
            return try Door(at: endpoint)
        }
        let network = try NetworkEntrance(
            host: host, port: port, keys: keys, domain: domain, times: options.times,
            memory: ClientMemory(byteCount: options.clientMemory),
            act: { [weak self] body in
                guard let self else { return }
                thread.act { self.assumeIsolated { body($0) } }
            }, at: doors.count)
        return Door(at: endpoint, through: network)
    }

    /// Stops listening. What was taken in is dropped: clients ask again.
    ///
    /// - Returns: Whether it had sessions of clients, and whether it has served for as long as those of former hubs take to end.
    @discardableResult
    func stop() -> (hadClients: Bool, hasOutlasted: Bool) {
        guard !isStopped else { return (false, false) }
        close()
        return (!clients.isEmpty, welcomesFrom.map { runningClock.now() >= $0 } ?? true)
    }

    /// Tells clients of this process, which have no connection that is reported.
    private func beginNames() {
        for door in doors {
            if case .inproc(let name) = door.endpoint { namedRuns.append((name, NamedHubs.shared.begin(name))) }
        }
    }

    private func endNames() {
        for (name, run) in namedRuns { NamedHubs.shared.end(run, of: name) }
        namedRuns = []
    }

    private func close() {
        isStopped = true
        follower = nil
        order.setServing(false)
        duty.isOver = true
        // The next hub can take a name as soon as its door is closed.
        endNames()
        for socket in duty.sockets { thread.forget(socket.descriptor) }
        duty.sockets = []
        for door in doors { door.close() }
        intake.removeAll()
        if options.keys != nil { try? Authenticator.shared().forget(domain) }
    }

    // MARK: - The thread

    private func turn() {
        takeIn()
        for door in doors {
            var taken = 0
            while taken < Intake.limit, let message = door.stream.next(upTo: 1) {
                taken += 1
                answerSubscription(message, at: door)
            }
        }
        while case let keys = ends.take(), !keys.isEmpty {
            for key in keys { clientEnded(SessionID(rawValue: key)) }
        }
        if !intake.isEmpty, !isServing {
            isServing = true
            Task { await self.serve() }
        }
        countLeases()
        publishDueNews()
        sendBeacon()
        if intake.isEmpty, !isServing, heap.isDue(at: runningClock.now()) { OwnProcess.returnHeap() }
        // Requests that nobody takes in are not waited for: they would not let the thread sleep.
        for door in doors { door.want(!intake.isFull) }
    }

    private func listenToDoors() throws(SharedCoreError) {
        duty.sockets = doors.flatMap(\.sockets)
        do throws(SystemCallError) {
            try thread.watch(ends.descriptor)
            for socket in duty.sockets { try thread.watch(socket.descriptor) }
        } catch {
            close()
            throw SharedCoreError(error)
        }
    }

    /// Takes in what has come, as far as there is room.
    private func takeIn() {
        firstDoor = (firstDoor + 1) % max(doors.count, 1)
        for number in doors.indices {
            let index = (firstDoor + number) % doors.count
            while !intake.isFull, let message = doors[index].next() { takeIn(message, at: index) }
        }
    }

    private func takeIn(_ message: IncomingMessage, at door: Int) {
        // The library puts the connection's name in front.
        guard let connection = message.frames.first else { return }
        let address = HubAddress(door: door, connection: connection)
        heap.use(message.byteCount, at: runningClock.now())
        // A client that sends is there, however long the answer takes.
        if let client = addresses[address], client.leaseLeft != nil, !client.mustEnd {
            client.renewLease()
            if confirm(message, of: client, at: address) {
                doors[door].network?.release(message.byteCount, of: connection)
                return
            }
        }
        intake.append(message, from: address)
    }

    /// Answers a keep-alive before all that was taken in: what holds up others, such as a disk, must not seem to its client to be a cut.
    /// One that comes too soon has its turn among the others, so that no client is served by sending many.
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

    /// How long answers are given before others are taken in: a message that comes behind many expensive ones of another
    /// connection has its turn before them.
    private static let intakeInterval = Duration.milliseconds(1)

    /// Answers what was taken in, each connection in its turn.
    private func serve() async {
        var (began, taken) = (runningClock.now(), runningClock.now())
        while !isStopped, let (address, message) = intake.next() {
            await answer(message, from: address)
            doors[address.door].network?.release(message.byteCount, of: address.connection)
            let now = runningClock.now()
            intake.charge(began.duration(to: now))
            began = now
            if taken.duration(to: now) >= Self.intakeInterval, !isStopped {
                thread.hear()
                takeIn()
                taken = now
            }
            // The last of those that came together may have recorded nothing.
            if intake.isEmpty { publishNews() }
        }
        isServing = false
    }

    /// When something is due at the latest.
    private var nextTurn: BootInstant? {
        var next = nextNews
        if let nextBeacon { next = min(next ?? nextBeacon, nextBeacon) }
        if let due = heap.due, intake.isEmpty, !isServing { next = min(next ?? due, due) }
        if clients.values.contains(where: { $0.leaseLeft != nil }) {
            let count = runningClock.now().advanced(by: LeaseTime.interval)
            next = min(next ?? count, count)
        }
        return next
    }

    // MARK: - News

    /// How many effects are told at once, when requests come faster than they are answered. Answers carry as many.
    static let newsLimit = 16

    /// Tells what was recorded; a little later when more comes at once.
    func publishNewsSoon() {
        if !intake.isEmpty, !FailPoint.fails("hub.batch") {
            let recorded = order.replica.read { $0.revision }
            if recorded.rawValue &- published.rawValue < UInt64(Self.newsLimit) { return }
        }
        publishNews()
    }

    /// Tells all who listen what was recorded since the last time, now or as soon as the pace allows.
    func publishNews() {
        guard !isStopped else { return }
        let earliest = lastNews.advanced(by: pace.pause(forClients: clients.count))
        if runningClock.now() >= earliest {
            tellNews()
        } else if nextNews == nil, order.replica.read({ $0.revision }) > published {
            nextNews = earliest
        }
    }

    private func publishDueNews() {
        guard let due = nextNews, due <= runningClock.now() else { return }
        tellNews()
    }

    private func tellNews() {
        nextNews = nil
        while true {
            let news: News?
            do throws(SharedCoreError) {
                news = try order.replica.read { state throws(SharedCoreError) -> News? in
                    guard state.revision > published else { return nil }
                    return try state.news(after: published, upTo: Self.streamByteLimit)
                        ?? News(after: state.revision)
                }
            } catch {
                // What cannot be read now is asked for by the clients.
                published = order.replica.read { $0.revision }
                nextBeacon = runningClock.now()
                return
            }
            guard let news else { return }
            guard let last = news.last else {
                // Too much has happened to tell it: everybody has to ask.
                published = news.after
                nextBeacon = runningClock.now()
                return
            }
            beaconPause = Self.beaconInterval
            // Of what is large, only its place is told: a listener that stands still would have it kept again and
            // again.
            let isLarge = news.effects.reduce(0) { $0 + $1.count } > Self.streamByteLimit
            if !isLarge, !FailPoint.fails("hub.publish") { publish(.news(news, incarnation: incarnation)) }
            published = last
            lastNews = runningClock.now()
            nextBeacon = lastNews.advanced(by: isLarge ? .zero : Self.beaconDelay)
        }
    }

    /// The largest news that goes out whole.
    static let streamByteLimit = 64 << 10

    private func publish(_ message: StreamMessage) {
        let bytes = message.bytes
        heap.use(bytes.count, at: runningClock.now())
        for door in doors { _ = door.stream.send([bytes]) }
    }

    private func sendBeacon() {
        guard let due = nextBeacon, due <= runningClock.now() else { return }
        if !FailPoint.fails("hub.beacon") { publish(.beacon(published, incarnation: incarnation)) }
        nextBeacon = clients.isEmpty ? nil : runningClock.now().advanced(by: beaconPause)
        beaconPause = min(beaconPause * 2, Self.longestBeaconInterval)
    }

    /// A client subscribes: its own mark is echoed, behind which everything comes through that is published.
    private func answerSubscription(_ message: IncomingMessage, at door: Door) {
        guard let frame = message.frames.first, frame.count == 2 + StreamMessage.armedByteCount, frame[0] == 1,
            frame[1] == StreamMessage.armedTopic
        else { return }
        if FailPoint.fails("hub.echo") { return }
        _ = door.stream.send([StreamMessage.armed(Array(frame.dropFirst(2))).bytes])
    }
}

/// How soon news follows news. A frame wakes every client, which takes the machine time that the clients of a burst have
/// better use for: so the more there are, the more is told at once. What comes after a rest is told without delay, and
/// whoever asks is answered without delay.
struct NewsPace {
    /// What a frame costs for each client.
    var forEach = Duration.microseconds(30)
    /// Less is not worth waiting for.
    var least = Duration.milliseconds(1)
    var most = Duration.milliseconds(5)

    /// How long after a frame the next one follows, for so many clients.
    func pause(forClients count: Int) -> Duration {
        let pause = forEach * count
        return pause < least ? .zero : min(pause, most)
    }
}
