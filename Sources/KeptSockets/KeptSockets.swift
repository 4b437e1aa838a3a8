public import CoreAPI
internal import Platform
internal import Synchronization

/// The link of a Main to its keeper: its kept sockets, its sleep, its wakes (contract P6, P7).
///
/// The keeper holds a duplicate of each registered socket, so that the peer sees no close when Main sleeps, ends by
/// mistake or is killed. While Main is away the keeper watches the duplicates and wakes Main, which has slept or is
/// started anew by then, and which reads the data.
///
/// When the keeper itself is killed, this finds the next one by itself and registers everything with it.
public final class KeptSockets: Sendable {
    /// The events of the keeper, for one reader. The oldest is dropped by a reader that leaves 64 unread.
    public let events: AsyncStream<KeeperEvent>

    let path: String
    let state = Mutex(KeeperLink())
    let stopped: EventCounter
    let teller: AsyncStream<KeeperEvent>.Continuation

    /// Whether the parent process wants this one to run without a user interface (contract P8).
    public static var isInBackground: Bool {
        OwnProcess.text(KeeperPlace.backgroundVariable) == "1"
    }

    private init(path: String) throws(SystemCallError) {
        self.path = path
        stopped = try EventCounter()
        (events, teller) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(64))
    }

    /// Connects to the keeper of this process.
    ///
    /// - Parameter path: The keeper's socket; nil for the one that the environment names.
    /// - Throws: ``SharedCoreError/Code/unavailable`` when no keeper answers there, or another process is connected as
    ///   Main; ``SharedCoreError/Code/forbidden`` when that keeper has no Main that runs.
    public static func connect(to path: String? = nil) async throws(SharedCoreError) -> KeptSockets {
        guard let path = path ?? OwnProcess.text(KeeperPlace.socketVariable) else {
            throw SharedCoreError(
                .unavailable, "No keeper has started this process: \(KeeperPlace.socketVariable) is not set.",
                at: KeeperPlace.socketVariable)
        }
        let sockets: KeptSockets
        let connection: MessageSocket
        do throws(SystemCallError) {
            sockets = try KeptSockets(path: path)
            connection = try MessageSocket(connectingTo: path)
        } catch {
            throw SharedCoreError(.unavailable, "No keeper answers.", at: path, cause: "\(error)")
        }
        sockets.state.withLock { $0.connection = connection }
        try sockets.listen(to: connection)
        do throws(SharedCoreError) {
            try await sockets.ask(.hello)
        } catch {
            sockets.close()
            throw error
        }
        return sockets
    }

    deinit {
        close()
    }

    /// Has the keeper keep a socket from now on. The caller's descriptor stays the caller's.
    ///
    /// To close the socket for good, call ``release(_:)`` too: until then the peer sees no close.
    ///
    /// - Parameters:
    ///   - descriptor: A socket of any kind.
    ///   - name: 1 to 64 letters, digits and `.`, `_`, `-`, `:`. A socket that was kept by the name is let go.
    /// - Throws: ``SharedCoreError/Code/invalidArgument`` for a file that is no socket or a text that is no name,
    ///   ``SharedCoreError/Code/limitExceeded`` when 64 sockets are kept, ``SharedCoreError/Code/unavailable`` when
    ///   there is no keeper now.
    public func keep(_ descriptor: Int32, as name: String) async throws(SharedCoreError) {
        guard KeeperLimits.isName(name) else {
            throw SharedCoreError(
                .invalidArgument, "A name is 1 to 64 letters, digits and “.”, “_”, “-”, “:”.", at: "“\(name)”")
        }
        let file = try SharedCoreError.wrapping { () throws(SystemCallError) in try OpenFile(duplicating: descriptor) }
        try await ask(.keep(name: name), with: file)
        state.withLock { $0.kept[name] = file }
    }

    /// Has the keeper let a socket go.
    ///
    /// - Throws: ``SharedCoreError/Code/invalidArgument`` when none of the name is kept.
    public func release(_ name: String) async throws(SharedCoreError) {
        state.withLock { $0.kept[name] = nil }
        try await ask(.release(name: name))
    }

    /// Returns the sockets that the keeper has of this Main, or of the one before it, with their data unread. They stay
    /// kept.
    public func recover() async throws(SharedCoreError) -> [KeptSocket] {
        let found = try await ask(.take)
        state.withLock { state in
            for socket in found { state.kept[socket.name] = socket.file }
        }
        return found
    }

    /// Says that this process sleeps: it waits for nothing but a wake. Data that is there unread wakes it at once.
    public func enterBackground() async throws(SharedCoreError) {
        state.withLock { $0.isAsleep = true }
        try await ask(.asleep)
    }

    /// Says that this process is in use, so that no budget holds.
    public func enterForeground() async throws(SharedCoreError) {
        state.withLock { $0.isAsleep = false }
        try await ask(.awake)
    }

    /// Says that this process lives, to a keeper with a watchdog.
    public func sendHeartbeat() async throws(SharedCoreError) {
        try await ask(.alive)
    }

    /// Says how many calls are active: neither a budget nor the watchdog cuts one.
    public func setActiveCalls(_ count: Int) async throws(SharedCoreError) {
        let count = min(max(count, 0), Int(UInt16.max))
        state.withLock { $0.calls = count }
        try await ask(.calls(count))
    }

    /// Says that this process will end because its user closes it. Exit status 0 says so too, unless the keeper is one
    /// that took this process over from another and so cannot see the status.
    public func announceExit() async throws(SharedCoreError) {
        try await ask(.leaving)
    }

    /// Ends the connection. The kept sockets stay with the keeper.
    public func close() {
        let waiting = state.withLock { state in
            state.isClosed = true
            state.connection = nil
            defer { state.waiting = [] }
            return state.waiting
        }
        for request in waiting { request.fail(Self.lost(path)) }
        stopped.raise()
        teller.finish()
    }

    static func lost(_ path: String) -> SharedCoreError {
        SharedCoreError(.unavailable, "There is no keeper now.", at: path)
    }
}

/// A socket that the keeper has kept.
public struct KeptSocket: Sendable {
    /// The name that it was registered with.
    public let name: String
    let file: OpenFile

    /// Returns a descriptor of the socket, which is the caller's to close, and closed in programs that are started.
    public func descriptor() throws(SharedCoreError) -> Int32 {
        try SharedCoreError.wrapping { () throws(SystemCallError) in try file.duplicate() }
    }
}

/// An event that a keeper sends its Main.
public enum KeeperEvent: Hashable, Sendable {
    /// Data has come on a kept socket while Main slept, or Main was started for it: it has so much time (contract P6).
    case wake(budget: Duration)
    /// The time is over soon; at its end Main is killed, unless it sleeps, is in use or has an active call.
    case budgetEnds(left: Duration)
    /// The keeper is gone; this process has its sockets as well.
    case keeperLost
    /// The next keeper is there and has everything again.
    case keeperFound
}
