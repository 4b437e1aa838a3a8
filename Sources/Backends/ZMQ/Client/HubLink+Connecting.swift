internal import CoreAPI
internal import Platform

/// The link's sockets: made, and made anew where the library does not connect again by itself.
extension HubLink {
    /// Connects the socket of the requests.
    func connect() throws(MessagingError) {
        if FailPoint.fails("link.connect") {
            throw MessagingError("zmq_connect", number: SystemCallError.Number.tooManyFiles, at: "\(endpoint)")
        }
        if case .inproc(let name) = endpoint { namedRun = NamedHubs.shared.run(of: name) }
        let socket = try Socket(.dealer, for: endpoint.description)
        try configure(socket)
        // A message waits for a connection here, not in the library, which would lose it with the connection.
        try socket.set(.onlyWhenConnected, 1)
        try socket.set(.sendLimit, 4 * Wire.windowCount)
        try socket.set(.messageByteLimit, options.answerByteLimit)
        if case .tcp = endpoint { try options.times.allowLongMessages(on: socket) }
        let events = try ConnectionEvents(of: socket)
        requests = socket
        self.events = events
        try socket.connect()
        try watch(socket)
        try watch(events.socket)
        // An actor that was let go without its end leaves a duty that is over.
        duty.turn = { [weak self, unowned duty] in
            guard let self else { return duty.isOver = true }
            self.assumeIsolated { $0.turn() }
        }
        duty.deadline = { [weak self] in self?.assumeIsolated { $0.nextDeadline } ?? nil }
        thread.take(duty)
        // Within a process there is no connection to report on; a hub that comes is heard of.
        if namedRun != nil { greet() }
    }

    /// Connects the socket of the news.
    func listen(at port: UInt16?) throws(MessagingError) {
        guard stream == nil else { return }
        let socket = try Socket(.subscriber, for: endpoint.stream(port: port).description)
        try configure(socket)
        try socket.set(.messageByteLimit, Wire.newsFrameByteLimit)
        try socket.set(.subscribe, [StreamMessage.newsTopic])
        try socket.set(.subscribe, [StreamMessage.armedTopic] + mark)
        let events = try ConnectionEvents(of: socket)
        stream = socket
        streamEvents = events
        isListening = true
        try socket.connect()
        try watch(socket)
        try watch(events.socket)
        if FailPoint.fails("link.armed") { isArmed = true }
    }

    private func watch(_ socket: Socket) throws(MessagingError) {
        do throws(SystemCallError) {
            try thread.watch(socket.descriptor)
        } catch {
            throw MessagingError(error.call, number: error.number, at: "\(endpoint)")
        }
        duty.sockets.append(socket)
    }

    private func configure(_ socket: Socket) throws(MessagingError) {
        // Whoever is only there to leave is in no hurry.
        try socket.set(.reconnectInterval, isParted ? 250 : 20)
        try socket.set(.reconnectMaximum, isParted ? 2_000 : 500)
        if case .tcp = endpoint {
            try socket.set(.bothAddressFamilies, 1)
            try options.times.set(on: socket)
        }
        guard let keys = options.keys else { return }
        try socket.set(.curveServerKey, keys.hub.utf8)
        try socket.set(.curvePublicKey, keys.own.publicKey.utf8)
        try socket.set(.curveSecretKey, keys.own.secretKey.utf8)
    }

    /// How soon sockets are made again that could not be made.
    private static let connectionPause = Duration.milliseconds(250)
    /// How long the library has to connect again by itself, which it tries every half a second at least.
    static let lossPatience = Duration.seconds(2)

    /// Connects anew. What was asked and not answered is asked again behind the next welcome.
    func connectAgain() {
        if case .ended = phase { return }
        closeSockets()
        do throws(MessagingError) {
            try connect()
            if isListening, !isParted { try listen(at: welcome?.streamPort) }
        } catch {
            // As when the process has no descriptor left for now: the session goes on, and what is asked waits.
            closeSockets()
            lastTrouble = SharedCoreError(error).message
            nextConnection = clock.now().advanced(by: Self.connectionPause)
        }
    }

    func closeSockets() {
        if case .ended = phase {} else { phase = .connecting }
        nextConnection = nil
        nextGreeting = nil
        sendTimes = [:]
        isArmed = false
        for socket in duty.sockets { thread.forget(socket.descriptor) }
        duty.sockets = []
        events?.close()
        streamEvents?.close()
        requests?.close()
        stream?.close()
        (events, streamEvents, requests, stream) = (nil, nil, nil, nil)
        isLost = (false, false)
    }

    // MARK: - A hub that was killed

    /// The hub is lost: if it was killed, another takes its place.
    func beginReplacing() {
        guard replacing == nil, let launcher = options.launcher else { return }
        replacing = Task { [endpoint, weak self] in
            await launcher.replaceKilledHub(at: endpoint) { error in await self?.noteTrouble(error.message) }
        }
    }

    private func noteTrouble(_ message: String) {
        lastTrouble = message
    }

    func stopReplacing() {
        replacing?.cancel()
        replacing = nil
    }

    // MARK: - Hubs of this process

    func listenToName() {
        guard case .inproc(let name) = endpoint else { return }
        nameTicket = NamedHubs.shared.listen(to: name) { [weak self] in
            Task { await self?.followName() }
        }
    }

    func forgetName() {
        guard case .inproc(let name) = endpoint, let ticket = nameTicket else { return }
        NamedHubs.shared.forget(ticket, of: name)
        nameTicket = nil
    }

    /// The hub of this process has ended, or there is another one.
    func followName() {
        if case .ended = phase { return }
        guard case .inproc(let name) = endpoint else { return }
        let run = NamedHubs.shared.run(of: name)
        guard run != namedRun, !FailPoint.fails("link.follow") else { return }
        if run != nil { return connectAgain() }
        namedRun = nil
        phase = .connecting
        nextGreeting = nil
        lastTrouble = "the connection was lost"
    }
}
