public import CoreAPI
internal import Platform
internal import Synchronization

/// A socket that passes the bytes of each connection on to a server's socket, and back, and can cut and delay them.
///
/// A harness lays one between each handle and the server:
///
/// ```swift
/// let connection = try FaultyConnection(at: directory + "/socket", to: socketOfServer)
/// let group = try await MyGroup.open(at: directory + "/socket", as: description)
/// connections.add([connection], of: group)
/// ```
public final class FaultyConnection: Sendable {
    private struct Fault {
        var isCut = false
        /// How much later the bytes of the server are passed on.
        var delay = Duration.zero
        var isOver = false
    }

    private let fault = Mutex(Fault())
    private let changed: EventCounter
    /// The port at which it listens, if it has one.
    public let port: UInt16?

    /// Listens at a path, which only this user can connect to.
    ///
    /// - Parameters:
    ///   - path: Where it listens.
    ///   - server: The path of the server's socket.
    /// - Throws: ``SharedCoreError/Code/system`` if the path is taken, or if the system has no descriptor left.
    public convenience init(at path: String, to server: String) throws(SharedCoreError) {
        try self.init(
            listener: { () throws(SystemCallError) in try StreamListener(path: path) },
            connect: { () throws(SystemCallError) in try StreamConnection(to: server) })
    }

    /// Listens at a free port of the loopback interface.
    ///
    /// - Parameter server: The server's port there.
    /// - Throws: ``SharedCoreError/Code/system`` if the system has no port or descriptor left.
    public convenience init(toLoopbackPort server: UInt16) throws(SharedCoreError) {
        try self.init(
            listener: { () throws(SystemCallError) in try StreamListener(loopbackPort: 0) },
            connect: { () throws(SystemCallError) in try StreamConnection(toLoopbackPort: server) })
    }

    private init(
        listener: () throws(SystemCallError) -> StreamListener,
        connect: @escaping @Sendable () throws(SystemCallError) -> StreamConnection
    ) throws(SharedCoreError) {
        do throws(SystemCallError) {
            let listener = try listener()
            let changed = try EventCounter()
            (port, self.changed) = (listener.port, changed)
            try OwnedThread.start("faulty connection") { [weak self] in
                var passage = Passage(listener: listener, connect: connect, changed: changed)
                while let fault = self?.fault.withLock({ $0 }), !fault.isOver {
                    passage.wait(isCut: fault.isCut)
                    // Under the lock: when `cut` has returned, nothing passes.
                    self?.fault.withLock { if !$0.isCut { passage.pass(delay: $0.delay) } }
                }
            }
        } catch {
            throw SharedCoreError(
                .system, "A connection that can fail cannot be opened.", at: "test", cause: "\(error)")
        }
    }

    deinit {
        changed.raise()
    }

    /// Holds back all bytes in both directions, without notice to either end, or passes them on again.
    public func cut(_ isCut: Bool) { change { $0.isCut = isCut } }

    /// Delays the bytes of the server from now on by a time; zero ends the delay.
    public func delay(by time: Duration) { change { $0.delay = time } }

    /// Ends the connections and stops listening.
    public func end() { change { $0.isOver = true } }

    private func change(_ change: (inout Fault) -> Void) {
        fault.withLock { change(&$0) }
        changed.raise()
    }
}

/// The connections of the handles of a group, by the handles' sessions. Its functions are those that a
/// ``ConformanceGroup`` with connections that fail needs.
public final class FaultyConnections: Sendable {
    private let content = Mutex<[SessionID: [FaultyConnection]]>([:])

    public init() {}

    /// Records the connections that a handle uses.
    public func add(_ connections: [FaultyConnection], of handle: any SharedGroup) {
        content.withLock { $0[handle.session.id] = connections }
    }

    /// Holds back all bytes of a handle, as ``ConformanceGroup/cut(_:)`` does.
    public func cut(_ handle: any SharedGroup) throws { try change(handle) { $0.cut(true) } }
    /// Passes on the bytes of a handle again.
    public func mend(_ handle: any SharedGroup) throws { try change(handle) { $0.cut(false) } }

    /// Delays the bytes to a handle, as ``ConformanceGroup/delay(_:by:)`` does.
    public func delay(_ handle: any SharedGroup, by time: Duration) throws {
        try change(handle) { $0.delay(by: time) }
    }

    /// Ends all of them, so that a handle that connects again is refused.
    public func end() {
        let all = content.withLock { content in
            defer { content = [:] }
            return content.values
        }
        for connections in all { for each in connections { each.end() } }
    }

    private func change(_ handle: any SharedGroup, _ change: (FaultyConnection) -> Void) throws {
        guard let connections = content.withLock({ $0[handle.session.id] }) else {
            throw SharedCoreError(.invalidArgument, "No connection of this handle was added.", at: "test")
        }
        for connection in connections { change(connection) }
    }
}

/// The connections through a listener, as its thread has them.
private struct Passage {
    /// The bytes that one end has sent and the other does not have yet.
    private struct Way {
        let source: StreamConnection
        let target: StreamConnection
        let isDelayed: Bool
        var pieces: [(due: ContinuousClock.Instant, bytes: [UInt8])] = []
        /// True if the source has closed.
        var isAtEnd = false

        /// Receives and sends as many bytes as possible.
        ///
        /// - Returns: False when the connection has ended.
        mutating func pass(delay: Duration) -> Bool {
            while !isAtEnd {
                switch source.receive(upTo: 64 << 10) {
                case .bytes(let bytes): pieces.append((.now.advanced(by: isDelayed ? delay : .zero), bytes))
                case .nothing: return give()
                case .end: isAtEnd = true
                }
            }
            return give()
        }

        private mutating func give() -> Bool {
            while let (due, bytes) = pieces.first, due <= .now {
                guard let sent = bytes.withUnsafeBytes({ target.sendSome($0) }) else { return false }
                pieces[0].bytes.removeFirst(sent)
                guard pieces[0].bytes.isEmpty else { return true }
                pieces.removeFirst()
            }
            return !(isAtEnd && pieces.isEmpty)
        }
    }

    let listener: StreamListener
    /// Connects to the server.
    let connect: @Sendable () throws(SystemCallError) -> StreamConnection
    let changed: EventCounter
    private var ways: [(forth: Way, back: Way)] = []

    init(
        listener: StreamListener, connect: @escaping @Sendable () throws(SystemCallError) -> StreamConnection,
        changed: EventCounter
    ) {
        self.listener = listener
        self.connect = connect
        self.changed = changed
    }

    /// Waits for something to do.
    func wait(isCut: Bool) {
        var descriptors = [(descriptor: changed.descriptor, events: Poll.readable)]
        var timeout: Duration?
        if !isCut {
            descriptors.append((listener.descriptor, Poll.readable))
            for (forth, back) in ways {
                for way in [forth, back] {
                    if !way.isAtEnd { descriptors.append((way.source.descriptor, Poll.readable)) }
                    guard let due = way.pieces.first?.due else { continue }
                    let left = ContinuousClock.now.duration(to: due)
                    if left > .zero {
                        timeout = min(timeout ?? left, left)
                    } else {
                        descriptors.append((way.target.descriptor, Poll.writable))
                    }
                }
            }
        }
        // A return without events is harmless.
        _ = try? Poll.events(of: descriptors, timeout: timeout)
        changed.clear()
    }

    /// Passes on all bytes that are available now. Does not block.
    mutating func pass(delay: Duration) {
        while let connection = try? listener.accept() {
            // If the server does not exist, the connection ends.
            guard let end = try? connect() else { continue }
            ways.append(
                (
                    forth: Way(source: connection, target: end, isDelayed: false),
                    back: Way(source: end, target: connection, isDelayed: true)
                ))
        }
        for index in ways.indices.reversed() {
            let isOpen = ways[index].forth.pass(delay: delay)
            if !ways[index].back.pass(delay: delay) || !isOpen { ways.remove(at: index) }
        }
    }
}
