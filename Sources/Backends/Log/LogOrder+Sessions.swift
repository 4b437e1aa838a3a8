internal import CoreAPI
internal import Platform
internal import Replica
internal import StoreEngine
internal import Synchronization

/// The run of the machine, and the participants.
extension LogOrder {
    /// Brings the replica up to date, and begins a new run of the machine where the log is in another one, or in none.
    ///
    /// - Throws: `incompatible` when a participant with another boot id lives.
    func begin() async throws(SharedCoreError) {
        while true {
            try await catchUp()
            let (effect, position, former) = progress.withLock { progress in
                let effect = replica.read { $0.restarting(in: self.options.clock.bootID, at: self.options.clock.now()) }
                return (effect, progress.position, progress.bootID)
            }
            if let former {
                guard former != options.clock.bootID else { return }
                guard try await !hasLivingSession() else { throw .otherRun(former, own: options.clock.bootID) }
            }
            if try await append(effect, at: position) { return }
        }
    }

    /// Whether a session is proved to live.
    private func hasLivingSession() async throws(SharedCoreError) -> Bool {
        let states = replica.read { Array($0.sessions.values) }
        if let ended = try await log.ended(among: states.map(\.session)) {
            return !states.allSatisfy { ended.contains($0.session.id) }
        }
        return states.contains { $0.visibleProcess?.liveness == .alive }
    }

    /// Records a participant.
    func join(_ description: SessionDescription) async throws(SharedCoreError) -> Session {
        let present = ProcessIdentity.current
        let opening = SessionOpening(
            process: ProcessIdentity(
                bootID: options.clock.bootID, pid: present.pid, startTime: present.startTime),
            description: description, backendData: ProcessMark.current.bytes)
        let id = SessionID(rawValue: try await record(.join(opening)).get().revision.rawValue)
        do throws(SharedCoreError) {
            try await log.hold(id)
            guard let session = replica.read({ $0.sessions[id]?.session }) else { throw .sessionEnded(id) }
            return session
        } catch {
            _ = try? await recordThoughCancelled(.end(id))
            throw error
        }
    }

    /// Records the end of every session that is known to have ended, this participant's own excepted.
    ///
    /// - Parameter looksAtProcesses: Whether the processes are looked at where the log can tell nothing.
    func endDead(except own: SessionID?, lookingAtProcesses looksAtProcesses: Bool = true) async throws(SharedCoreError)
    {
        let others = replica.read { $0.sessions.values.filter { $0.session.id != own } }
        guard !others.isEmpty else { return }
        if let ended = try await log.ended(among: others.map(\.session)) {
            for state in others where ended.contains(state.session.id) { _ = try await record(.end(state.session.id)) }
        } else if looksAtProcesses {
            for state in others where state.visibleProcess?.liveness == .dead {
                _ = try await record(.end(state.session.id))
            }
        }
    }

    /// Waits for the ends of the processes of all sessions, but for those of this process.
    func awaitEnds() {
        let present = ProcessIdentity.current
        var ended: [SessionID] = []
        progress.withLock { progress in
            let states = replica.read { Array($0.sessions.values) }
            let gone = Set(progress.awaited.keys).subtracting(states.map(\.session.id))
            for id in gone {
                if let key = progress.awaited.removeValue(forKey: id) { try? ProcessEnds.shared().forget(key) }
            }
            for state in states where progress.awaited[state.session.id] == nil {
                guard let identity = state.visibleProcess, identity != present else { continue }
                let id = state.session.id
                do throws(ProcessUnreachable) {
                    let process = try ProcessHandle(identity)
                    progress.awaited[id] = try? ProcessEnds.shared().wait(for: process) { [weak self] in
                        self?.endInBackground(id)
                    }
                } catch {
                    if case .dead = error { ended.append(id) }
                }
            }
        }
        for id in ended { endInBackground(id) }
    }

    /// Records an end as soon as the log takes it.
    private func endInBackground(_ id: SessionID) {
        Task {
            while progress.withLock({ $0.failure == nil }), replica.read({ $0.hasSession(id) }) {
                if (try? await record(.end(id))) == nil { try? await Task.sleep(for: .milliseconds(250)) }
            }
        }
    }

    /// Applies what others append, until the task is cancelled or the handle cannot go on.
    func follow(as own: SessionID) async {
        var pause = Duration.milliseconds(50)
        while !Task.isCancelled, progress.withLock({ $0.failure == nil }), replica.read({ $0.hasSession(own) }) {
            do throws(SharedCoreError) {
                let position = progress.withLock(\.position)
                try await waiting(after: position)
                guard !Task.isCancelled else { return }
                // For nothing: a session may have ended.
                if try await !catchUp(), progress.withLock({ $0.position == position }) {
                    try await endDead(except: own, lookingAtProcesses: false)
                }
                pause = .milliseconds(50)
            } catch {
                // The log is away.
                do { try await Task.sleep(for: pause) } catch { return }
                pause = min(pause * 2, .seconds(5))
            }
        }
    }
}
