internal import CoreAPI
internal import Platform
internal import Synchronization

/// Accepts connections over a network and passes their bytes on, each to a library socket of its own; on a thread of
/// its own.
///
/// The library's sockets for many peers trust a peer's claims about itself, and count messages, not bytes. Here each
/// connection has limits of its own, and no connection can end another.
///
/// Source: decision 31.
final class Relay: Sendable {
    /// The relay's calls to the hub, from the relay's thread.
    struct Handlers: Sendable {
        /// Prepares the library for a connection; returns the local address at which it waits for it.
        let open: @Sendable (RelayedConnection) throws -> String
        /// The other end has received much of the data because of which the hub did not read further requests.
        let drained: @Sendable (RelayedConnection) -> Void
        let closed: @Sendable (RelayedConnection) -> Void
        /// How many connections have a place, or have ended and still have a socket at the hub.
        let lineCount: LineCount
    }

    final class LineCount: Sendable {
        private let count = Atomic(0)
        var value: Int { count.load(ordering: .acquiring) }

        func add(_ number: Int) { count.add(number, ordering: .acquiringAndReleasing) }
    }

    private let requests: StreamListener
    private let stream: StreamListener
    let requestPort: UInt16
    let streamPort: UInt16
    private let times: ConnectionTimes
    private let handlers: Handlers
    private let wakeUp: EventCounter
    private let timer: IntervalTimer
    private let readiness: ReadinessSet
    private let orders = Mutex(Orders())

    /// Orders of other threads to the relay.
    private struct Orders {
        var resumed: [UInt64] = []
        var proved: [(key: String, connection: UInt64)] = []
        /// The keys that are allowed from now on; nil if unchanged.
        var keys: Set<String>?
        var isOver = false
    }

    /// Begins to listen; connections are accepted after ``start()``.
    ///
    /// - Parameter port: The port of the requests; the stream's is the next. For 0 the system chooses both.
    init(host: String, port: UInt16, times: ConnectionTimes, handlers: Handlers) throws(SystemCallError) {
        requests = try StreamListener(host: host, port: port)
        requestPort = requests.port ?? port
        stream = try StreamListener(host: host, port: port == 0 ? 0 : port + 1)
        streamPort = stream.port ?? (port + 1)
        self.times = times
        self.handlers = handlers
        wakeUp = try EventCounter()
        timer = try IntervalTimer(countsSuspension: false)
        readiness = try ReadinessSet()
        try readiness.addEdges(of: requests.descriptor, key: RelayThread.requestsKey)
        try readiness.addEdges(of: stream.descriptor, key: RelayThread.streamKey)
        try readiness.addEdges(of: wakeUp.descriptor, key: RelayThread.wakeUpKey)
        try readiness.addEdges(of: timer.descriptor, key: RelayThread.timerKey)
    }

    func start() throws(SystemCallError) {
        try OwnedThread.start("sc-relay") { [self] in
            var thread = RelayThread(
                requests: requests, stream: stream, readiness: readiness, times: times, handlers: handlers)
            var isTimed = false
            while let keys = readiness.wait() {
                if keys.contains(RelayThread.wakeUpKey) { wakeUp.clear() }
                if keys.contains(RelayThread.timerKey) {
                    timer.clear()
                    isTimed = false
                }
                let order = orders.withLock { orders in
                    defer { (orders.resumed, orders.proved, orders.keys) = ([], [], nil) }
                    return orders
                }
                if order.isOver { break }
                for (key, connection) in order.proved { thread.remember(key, of: connection) }
                if let keys = order.keys { thread.closeAll(keeping: keys) }
                thread.serve(keys, order.resumed)
                if thread.isUnfinished { wakeUp.raise() }
                if thread.hasDeadlines, !isTimed {
                    timer.set(first: RelayThread.lookInterval, interval: .zero)
                    isTimed = true
                }
            }
            thread.closeAll()
        }
    }

    /// Resumes a connection for which the hub has made room, or which has become a client's.
    func resume(_ connection: RelayedConnection) {
        orders.withLock { $0.resumed.append(connection.number) }
        wakeUp.raise()
    }

    /// Remembers that an allowed key was proved over a connection.
    func remember(_ key: String, of connection: RelayedConnection) {
        orders.withLock { $0.proved.append((key, connection.number)) }
        wakeUp.raise()
    }

    /// Closes all present connections soon, since only these keys are allowed from now on.
    func cut(for keys: Set<String>) {
        orders.withLock { $0.keys = keys }
        wakeUp.raise()
    }

    /// Closes all connections soon, and accepts no more.
    func stop() {
        requests.stop()
        stream.stop()
        orders.withLock { $0.isOver = true }
        wakeUp.raise()
    }
}
