package import CoreAPI
internal import Platform
internal import Replica
internal import StoreEngine
internal import Synchronization

/// Handles new boots of the machine, and the ends of participants.
extension LogOrder {
    /// Brings the replica up to date, and records a new boot of the machine if the log has another one, or none.
    ///
    /// - Throws: `incompatible` when a participant with another boot id lives.
    func begin() async throws(SharedCoreError) {
        let bootID = options.clock.bootID
        var refusals = Refusals()
        while true {
            try await catchUp()
            let (effect, place) = progress.withLock { progress in
                (replica.read { $0.restarting(in: bootID, at: self.options.clock.now()) }, progress.place)
            }
            if let former = place.bootID {
                guard former != bootID else { return }
                guard try await !hasLivingSession() else { throw .otherRun(former, own: bootID) }
            }
            switch try await append(effect, at: place) {
            case .appended: return
            case .overtaken: refusals = Refusals()
            case .refused: try await refusals.pause(at: options.backend)
            }
        }
    }

    /// Reads the present state, without ended sessions and expired entries, and its revision. Appends nothing.
    ///
    /// - Throws: `unavailable` for an empty log; `incompatible` when a participant with another boot id lives.
    func presentState() async throws(SharedCoreError) -> (StoreState, Revision) {
        try await catchUp()
        let (found, former) = progress.withLock { progress in (replica.read { $0 }, progress.place.bootID) }
        var state = found
        let bootID = options.clock.bootID
        guard let former else { throw .unopened(options.backend) }
        guard former == bootID else {
            guard try await !hasLivingSession() else { throw .otherRun(former, own: bootID) }
            state.apply(state.restarting(in: bootID, at: options.clock.now()))
            return (state, found.revision)
        }
        state.removeOver(try await ended(among: Array(state.sessions.values)), at: options.clock.now())
        return (state, found.revision)
    }

    /// Returns the sessions of dead processes, as far as they can be seen here, and those that the log knows to have ended.
    ///
    /// - Parameter looksAtProcesses: Whether the processes are checked.
    private func ended(
        among states: [SessionState], lookingAtProcesses looksAtProcesses: Bool = true
    ) async throws(SharedCoreError) -> [SessionID] {
        guard !states.isEmpty else { return [] }
        let told = try await log.ended(among: states.map(\.session)) ?? []
        guard looksAtProcesses else { return told }
        // A dead process's connection or lease may still exist, so check the processes as well.
        return told
            + states.filter { !told.contains($0.session.id) && $0.visibleProcess?.liveness == .dead }.map(\.session.id)
    }

    /// Returns whether a session is proved to live.
    private func hasLivingSession() async throws(SharedCoreError) -> Bool {
        let states = replica.read { Array($0.sessions.values) }
        guard let ended = try await log.ended(among: states.map(\.session)) else {
            return states.contains { $0.visibleProcess?.liveness == .alive }
        }
        return states.contains { !ended.contains($0.session.id) && $0.visibleProcess?.liveness != .dead }
    }

    /// Records a participant.
    func join(_ description: SessionDescription) async throws(SharedCoreError) -> Session {
        let present = ProcessIdentity.current
        // Bind the socket before other participants can read the token, from which its name is made.
        let token = ProcessMark.Token.random()
        let socket = SessionSocket(named: token.socketName)
        let opening = SessionOpening(
            process: ProcessIdentity(
                bootID: options.clock.bootID, pid: present.pid, startTime: present.startTime),
            description: description, backendData: ProcessMark.current(socket == nil ? nil : token).bytes)
        let id = SessionID(rawValue: try await record(.join(opening)).get().revision.rawValue)
        do throws(SharedCoreError) {
            try await log.hold(id)
            try await refresh()
            guard let session = replica.read({ $0.sessions[id]?.session }) else { throw .sessionEnded(id) }
            progress.withLock { $0.socket = socket }
            return session
        } catch {
            _ = try? await Self.uncancelled { () throws(SharedCoreError) in try await self.record(.end(id)) }
            throw error
        }
    }

    /// Records the end of every session that is known to have ended, this participant's own excepted.
    ///
    /// - Parameters:
    ///   - living: Other sessions that have not ended.
    ///   - looksAtProcesses: Whether the processes are checked as well.
    func endDead(
        except own: SessionID?, and living: Set<SessionID> = [], lookingAtProcesses looksAtProcesses: Bool = true
    ) async throws(SharedCoreError) {
        let others = replica.read { state in
            state.sessions.values.filter { $0.session.id != own && !living.contains($0.session.id) }
        }
        for session in try await ended(among: others, lookingAtProcesses: looksAtProcesses) {
            _ = try await record(.end(session))
        }
    }

    /// Applies the records of others, and records the ends of their processes, until the task is cancelled or the
    /// handle cannot go on.
    func follow(as own: SessionID) async {
        let (ended, ends) = AsyncStream.makeStream(of: SessionID.self)
        await withDiscardingTaskGroup { group in
            group.addTask {
                await self.follow(as: own, telling: ends)
                ends.finish()
            }
            for await session in ended { await self.recordEnd(of: session) }
        }
    }

    private func goesOn(as own: SessionID) -> Bool {
        !Task.isCancelled && progress.withLock { $0.failure == nil } && replica.read { $0.hasSession(own) }
    }

    private func follow(as own: SessionID, telling ends: AsyncStream<SessionID>.Continuation) async {
        var waits: [SessionID: ProcessEnds.Wait] = [:]
        var seenSessionChanges: Int?
        var delay = RetryDelay()
        var wasForNothing = false
        while goesOn(as: own) {
            let (position, sessionChanges) = progress.withLock { ($0.place.position, $0.sessionChanges) }
            if seenSessionChanges != sessionChanges, awaitEnds(with: &waits, telling: ends) {
                seenSessionChanges = sessionChanges
            }
            do throws(SharedCoreError) {
                try await wait(after: position)
                progress.withLock(\.socket)?.drain()
                var hasNews = progress.withLock { $0.place.position > position }
                if !hasNews { hasNews = try await takeReceived(from: position) }
                if !hasNews { hasNews = try await catchUp() }
                // The wait may have ended because a session has ended, even if there are new records too. Without
                // leases, the log need not be asked about sessions of processes that are watched here. With many
                // participants, such questions after each record would be most of the work.
                let living = log.lease == nil ? Set(waits.keys) : []
                try await endDead(except: own, and: living, lookingAtProcesses: false)
                guard !hasNews else {
                    (delay, wasForNothing) = (RetryDelay(), false)
                    continue
                }
                // Pause, because the waits of some logs return without a new record, and a loop without a pause would
                // keep a processor busy.
                if wasForNothing { try await Self.pause(delay.next()) }
                wasForNothing = true
            } catch {
                // The log cannot be reached or waited for.
                do throws(SharedCoreError) { try await Self.pause(delay.next()) } catch { return }
                _ = try? await catchUp()
            }
        }
    }

    /// Registers for the ends of the processes of all sessions except those of this process, and reports the sessions
    /// whose processes have ended already.
    ///
    /// - Returns: True if all processes are watched; false if one cannot be, for example because the system has no
    ///   descriptor left. The caller then tries again.
    private func awaitEnds(
        with waits: inout [SessionID: ProcessEnds.Wait], telling ends: AsyncStream<SessionID>.Continuation
    ) -> Bool {
        let present = ProcessIdentity.current
        let processes = replica.read { $0.sessions.compactMapValues(\.visibleProcess).filter { $0.value != present } }
        waits = waits.filter { processes[$0.key] != nil }
        var areAll = true
        for (id, identity) in processes where waits[id] == nil {
            do throws(ProcessUnreachable) {
                let process = try ProcessHandle(identity)
                waits[id] = try? ProcessEnds.shared().wait(for: process) { ends.yield(id) }
                if waits[id] == nil { areAll = false }
            } catch {
                if case .dead = error { ends.yield(id) } else { areAll = false }
            }
        }
        return areAll
    }

    /// Records an end as soon as the log accepts it.
    private func recordEnd(of id: SessionID) async {
        var delay = RetryDelay()
        while goesOn(as: id) {
            do throws(SharedCoreError) {
                _ = try await record(.end(id))
            } catch {
                do throws(SharedCoreError) { try await Self.pause(delay.next()) } catch { return }
            }
        }
    }
}

extension ReplicatedGroup: SessionProver {
    package func doubt(that process: ProcessIdentity, has session: SessionID) async -> String? {
        guard order.replica.read({ $0.hasSession(session) }) else { return "its session is over" }
        guard let mark = mark(of: session), mark.isVisible else {
            return "its process number is of another machine or namespace"
        }
        guard let token = mark.token else { return "it has no socket that proves its session" }
        return SessionSocket.doubt(that: process.pid, hasSessionNamed: token.socketName)
    }

    /// Returns the group's record of a session's process; nil for an unknown session, or one without such a record.
    func mark(of session: SessionID) -> ProcessMark? {
        order.replica.read { $0.sessions[session] }.flatMap { ProcessMark($0.backendData) }
    }
}
