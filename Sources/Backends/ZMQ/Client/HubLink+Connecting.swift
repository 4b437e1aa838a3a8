internal import CoreAPI
internal import Platform

/// Creates the link's sockets, and creates them again where the library does not reconnect by itself.
extension HubLink {
    /// Connects the socket of the requests.
    func connect() throws(MessagingError) {
        if FailPoint.fails("link.connect") {
            throw MessagingError("zmq_connect", number: SystemCallError.Number.tooManyFiles, at: "\(endpoint)")
        }
        if case .inproc(let name) = endpoint { namedRun = NamedHubs.shared.run(of: name) }
        let socket = try Socket(.dealer, for: endpoint.description)
        try configure(socket)
        // Keep messages in the link until there is a connection. Messages in the library's queue are lost with a
        // connection.
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
        // The poll source may outlive an actor that was released without being closed. It then ends.
        pollSource.turn = { [weak self, unowned pollSource] in
            guard let self else { return pollSource.isOver = true }
            self.assumeIsolated { $0.turn() }
        }
        pollSource.deadline = { [weak self] in self?.assumeIsolated { $0.nextDeadline } ?? nil }
        thread.take(pollSource)
        // The library reports no connections within a process, so ``NamedHubs`` reports when the hub comes.
        if namedRun != nil { greet() }
    }

    /// Connects the socket of the stream.
    func listen(at port: UInt16?) throws(MessagingError) {
        guard stream == nil else { return }
        let socket = try Socket(.subscriber, for: endpoint.stream(port: port).description)
        try configure(socket)
        try socket.set(.messageByteLimit, Wire.updatesFrameByteLimit)
        try socket.set(.subscribe, StreamMessage.updatesTopic)
        if !isQuiet { try socket.set(.subscribe, StreamMessage.beaconTopic) }
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
        pollSource.sockets.append(socket)
    }

    private func configure(_ socket: Socket) throws(MessagingError) {
        // A link that only waits to end its session need not reconnect fast.
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

    /// The time between two attempts to create sockets that could not be created.
    private static let connectionPause = Duration.milliseconds(250)
    /// How long the library has to reconnect by itself. It tries at least every half second.
    static let lossTimeout = Duration.seconds(2)

    /// Reconnects with new sockets. Unanswered requests are sent again after the next welcome.
    func connectAgain() {
        if case .ended = phase { return }
        closeSockets()
        do throws(MessagingError) {
            try connect()
            if isListening, !isParted { try listen(at: welcome?.streamPort) }
        } catch {
            // The process may have no free descriptor. The session lives on, and requests wait for the next attempt.
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
        for socket in pollSource.sockets { thread.forget(socket.descriptor) }
        pollSource.sockets = []
        events?.close()
        streamEvents?.close()
        requests?.close()
        stream?.close()
        (events, streamEvents, requests, stream) = (nil, nil, nil, nil)
        isLost = (false, false)
    }

    // MARK: - A hub that was killed

    /// Starts the replacement of a lost hub, if it was killed.
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

    /// Follows a hub of this process that has ended or was replaced.
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
