package import CoreAPI
internal import Platform

/// Ends a hub that runs in another process of this machine.
package enum HubEnding {
    /// How long a hub may take to begin to answer, or to end, before the wait for it fails.
    private static let timeout = Duration.seconds(10)
    private static let pause = Duration.milliseconds(10)
    /// How long a port is tried that belongs to no hub of this group's files.
    private static let portTimeout = Duration.seconds(2)

    /// Asks the hub to end, and returns when it has ended. Signals only the process that holds the lock, and only if no
    /// other user can have put the lock there.
    ///
    /// - Parameters:
    ///   - endpoint: Where the hub listens.
    ///   - directory: The directory of its group, for an endpoint that is no path.
    /// - Returns: The process that was ended; nil when there is none.
    /// - Throws: ``SharedCoreError/Code/unavailable`` when the hub does not end, or cannot be reached from here; also
    ///   when something else listens at the port, such as a hub with files elsewhere.
    ///   ``SharedCoreError/Code/forbidden`` when the lock or its directory is another user's or open to others.
    package static func stop(
        at endpoint: HubEndpoint, ofGroup directory: String
    ) async throws(SharedCoreError) -> ProcessIdentity? {
        let given =
            if case .ipc(let path) = endpoint { HubLock.path(ofSocket: path) } else { HubLock.path(ofGroup: directory) }
        let lock = try HubLock.trusted(given)
        let look = { () throws(SharedCoreError) in try HubEndpointState.ofLock(lock) }
        try await wait("A hub is there that does not answer yet.", at: endpoint) { () throws(SharedCoreError) in
            try look() != .taken
        }
        guard case .serving(let identity) = try look() else {
            guard case .tcp(let host, let port) = endpoint, await isTaken(host, port) else { return nil }
            throw SharedCoreError(
                .unavailable,
                "Something listens there that has no lock in the group's directory here: a hub on memory, or one of "
                    + "another group or machine. End it where it was started, with Ctrl-C or “kill” and its pid.",
                at: "\(endpoint)")
        }
        guard let process = try handle(of: identity, at: endpoint) else {
            // The hub has ended on its own just now. If it still has its lock, its process is in another container.
            guard try look() == .serving(identity) else { return identity }
            throw SharedCoreError(
                .unavailable, "The hub cannot be reached from here: it runs in another container.", at: "\(endpoint)")
        }
        try requireHolder(process, of: lock)
        _ = try SharedCoreError.wrapping { () throws(SystemCallError) in try process.signal(.terminate) }
        let advice = "If it is stopped, “kill -CONT \(identity.pid)” lets it continue and end."
        try await wait("The hub, process \(identity.pid), does not end. \(advice)", at: endpoint) {
            () throws(SharedCoreError) in
            process.hasEnded
        }
        return identity
    }

    /// Throws unless the process holds the lock that names it, or has ended. The handle keeps the process's number from
    /// being reused meanwhile.
    private static func requireHolder(_ process: ProcessHandle, of lock: String) throws(SharedCoreError) {
        do throws(SharedCoreError) {
            if try HubLock.isHeld(at: lock, by: process.identity.pid) { return }
        } catch {
            guard process.hasEnded else { throw error }
        }
        guard !process.hasEnded else { return }
        throw SharedCoreError(
            .unavailable,
            "The lock names process \(process.identity.pid), which does not hold it. Nothing was signalled; end the hub "
                + "where it was started.", at: lock)
    }

    private static func isTaken(_ host: String, _ port: UInt16) async -> Bool {
        await SerialThread(name: "sc-hub-port").run { ListeningPort.answers(host, port, timeout: portTimeout) }
    }

    /// Opens the process; nil if it has ended, as seen from here.
    private static func handle(
        of identity: ProcessIdentity, at endpoint: HubEndpoint
    ) throws(SharedCoreError) -> ProcessHandle? {
        do throws(ProcessUnreachable) {
            return try ProcessHandle(identity)
        } catch {
            guard case .unknown(let reason) = error else { return nil }
            throw SharedCoreError(
                .unavailable, "The hub's process \(identity.pid) cannot be seen from here.", at: "\(endpoint)",
                cause: reason.text)
        }
    }

    private static func wait(
        _ trouble: String, at endpoint: HubEndpoint, until isOver: () throws(SharedCoreError) -> Bool
    ) async throws(SharedCoreError) {
        let clock = SystemClock()
        let limit = clock.now().advanced(by: timeout)
        while try !isOver() {
            guard clock.now() < limit else { throw SharedCoreError(.unavailable, trouble, at: "\(endpoint)") }
            guard (try? await Task.sleep(for: pause)) != nil else { throw .cancelled("hub") }
        }
    }
}
