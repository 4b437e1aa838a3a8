public import CoreAPI
internal import Platform
internal import Synchronization

/// The link of a Main to its keeper: its kept sockets, its sleep, its wakes (contract P6, P7).
///
/// The keeper holds a duplicate of each registered socket, so that the peer sees no close when Main sleeps, crashes or
/// is killed. While Main sleeps or does not run, the keeper watches the duplicates. When data arrives, the keeper wakes
/// Main or starts it again, and Main reads the data.
///
/// If the keeper itself is killed, the link finds the next one and registers everything with it.
public final class KeptSockets: Sendable {
    /// The events of the keeper, for one reader. The oldest is dropped if the reader leaves 64 unread.
    public let events: AsyncStream<KeeperEvent>

    let path: String
    let state = Mutex(KeeperLink())
    let stopped: EventCounter
    let teller: AsyncStream<KeeperEvent>.Continuation

    /// True if the parent process wants this one to run without a user interface (contract P8).
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
    ///   Main; ``SharedCoreError/Code/forbidden`` when that keeper has no running Main.
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

    /// Makes the keeper keep a socket. The caller still owns its descriptor.
    ///
    /// To close the socket for good, call ``release(_:)`` too: until then the peer sees no close.
    ///
    /// - Parameters:
    ///   - descriptor: A socket of any kind.
    ///   - name: 1 to 64 letters, digits and `.`, `_`, `-`, `:`. A socket that was kept under the name is released.
    /// - Throws: ``SharedCoreError/Code/invalidArgument`` for a file that is no socket or a text that is no name,
    ///   ``SharedCoreError/Code/limitExceeded`` when 64 sockets are kept, ``SharedCoreError/Code/unavailable`` when
    ///   there is no keeper, ``SharedCoreError/Code/system`` for a descriptor that is not open.
    public func keep(_ descriptor: Int32, as name: String) async throws(SharedCoreError) {
        guard KeeperLimits.isName(name) else {
            throw SharedCoreError(
                .invalidArgument, "A name is 1 to 64 letters, digits and “.”, “_”, “-”, “:”.", at: "“\(name)”")
        }
        let file = try SharedCoreError.wrapping { () throws(SystemCallError) in try OpenFile(duplicating: descriptor) }
        try await ask(.keep(name: name), with: file)
        state.withLock { $0.kept[name] = file }
    }

    /// Makes the keeper release a socket.
    ///
    /// - Throws: ``SharedCoreError/Code/invalidArgument`` when no socket of the name is kept,
    ///   ``SharedCoreError/Code/unavailable`` when there is no keeper.
    public func release(_ name: String) async throws(SharedCoreError) {
        state.withLock { $0.kept[name] = nil }
        try await ask(.release(name: name))
    }

    /// Returns the sockets that the keeper has kept for this Main, or for the one before it, with their data unread.
    /// They stay kept.
    ///
    /// - Throws: ``SharedCoreError/Code/unavailable`` when there is no keeper.
    public func recover() async throws(SharedCoreError) -> [KeptSocket] {
        let found = try await ask(.take)
        state.withLock { state in
            for socket in found { state.kept[socket.name] = socket.file }
        }
        return found
    }

    /// Reports that this process sleeps: it only waits for a wake. Unread data wakes it at once.
    ///
    /// - Throws: ``SharedCoreError/Code/unavailable`` when there is no keeper.
    public func enterBackground() async throws(SharedCoreError) {
        state.withLock { $0.isAsleep = true }
        try await ask(.asleep)
    }

    /// Reports that this process is in use, so that no budget applies.
    ///
    /// - Throws: ``SharedCoreError/Code/unavailable`` when there is no keeper.
    public func enterForeground() async throws(SharedCoreError) {
        state.withLock { $0.isAsleep = false }
        try await ask(.awake)
    }

    /// Reports that this process is alive, to a keeper with a watchdog.
    ///
    /// - Throws: ``SharedCoreError/Code/unavailable`` when there is no keeper.
    public func sendHeartbeat() async throws(SharedCoreError) {
        try await ask(.alive)
    }

    /// Reports the number of active calls: neither a budget nor the watchdog ends a process with an active call.
    ///
    /// - Parameter count: A number below 0 counts as 0, and one above 65,535 as 65,535.
    /// - Throws: ``SharedCoreError/Code/unavailable`` when there is no keeper.
    public func setActiveCalls(_ count: Int) async throws(SharedCoreError) {
        let count = min(max(count, 0), Int(UInt16.max))
        state.withLock { $0.calls = count }
        try await ask(.calls(count))
    }

    /// Reports that this process will end because its user closes it. Exit status 0 has the same meaning, unless the
    /// keeper took this process over from another keeper and cannot see the status.
    ///
    /// - Throws: ``SharedCoreError/Code/unavailable`` when there is no keeper.
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

    /// Returns a descriptor of the socket, which the caller must close. It is closed on exec.
    public func descriptor() throws(SharedCoreError) -> Int32 {
        try SharedCoreError.wrapping { () throws(SystemCallError) in try file.duplicate() }
    }
}

/// An event that a keeper sends its Main.
public enum KeeperEvent: Hashable, Sendable {
    /// Data has arrived on a kept socket while Main slept, or Main was started for it: Main has this time (contract
    /// P6).
    case wake(budget: Duration)
    /// The holder of Main's ownership has woken Main while it slept, and Main has this time. It may arrive before the
    /// wake itself, and no data need be there.
    case woken(budget: Duration)
    /// The time is nearly over; at its end Main is killed, unless it sleeps, is in use or has an active call.
    case budgetEnds(left: Duration)
    /// The keeper is gone; this process has its sockets as well.
    case keeperLost
    /// The next keeper is connected and has the whole state again.
    case keeperFound
}
