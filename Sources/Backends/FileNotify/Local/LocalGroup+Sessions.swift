internal import CoreAPI
internal import Platform
internal import Replica
internal import StoreEngine
internal import Synchronization

/// Joining, leaving, and detecting ended processes.
extension LocalGroup {
    /// Joins the group: first a byte is locked for the life of the session, then the session is recorded. So the order
    /// never contains a session with an undetectable end.
    ///
    /// - Returns: The session, its byte, and the position of its record.
    func join(
        _ description: SessionDescription
    ) async throws(SharedCoreError) -> (session: Session, byte: Int, written: Written) {
        await makeRoomBehindPassedOver()
        try await endDead()
        let byte: Int
        do throws(SystemCallError) {
            byte = try sessionLocks.acquire()
        } catch {
            throw SharedCoreError(error)
        }
        FailPoint.hit("session.afterLock")
        let present = ProcessIdentity.current
        let opening = SessionOpening(
            process: ProcessIdentity(bootID: clock.bootID, pid: present.pid, startTime: present.startTime),
            description: description,
            backendData: SessionMark(lockedByte: byte, processNamespace: ProcessIdentity.currentNamespace).bytes)
        do throws(SharedCoreError) {
            let written = try await write(.join(opening))
            FailPoint.hit("session.afterRecord")
            await restoreSpareSpace()
            let id = SessionID(rawValue: try written.outcome.get().revision.rawValue)
            guard let session = replica.read({ $0.sessions[id]?.session }) else { throw .sessionEnded(id) }
            return (session, byte, written)
        } catch {
            sessionLocks.release(byte)
            throw error
        }
    }

    /// Leaves the group, even when the calling task is cancelled. The byte is released in any case: if the end cannot
    /// be recorded now, the next process that checks the byte records it.
    func leave(_ session: SessionID, _ byte: Int) async {
        FailPoint.hit("session.beforeEnd")
        _ = try? await writeThoughCancelled(.end(session))
        FailPoint.hit("session.afterEnd")
        sessionLocks.release(byte)
    }

    /// Leaves the group as ``leave(_:_:)`` does, for a released handle.
    func abandon(_ session: SessionID, _ byte: Int) {
        writeInBackground(.end(session))
        sessionLocks.release(byte)
    }

    /// Reaps the sessions of ended processes: of all, or among some.
    func endDead(among ids: Set<SessionID>? = nil) async throws(SharedCoreError) {
        try catchUp()
        if isReadOnly { return }
        let header = position.journal.header
        guard header.bootID == clock.bootID || Defect.ignoredBoot.isPresent else {
            throw .otherRun(header.bootID, own: clock.bootID, at: directory.directory.path)
        }
        let present = replica.read { state in state.sessions(among: ids) }
        for session in present where isDead(session) { _ = try await write(.end(session.session.id)) }
    }

    /// Records the end of sessions without waiting for it.
    func end(_ sessions: [SessionID]) {
        for session in sessions { writeInBackground(.end(session)) }
    }

    /// Returns whether a session belongs to a participant of this process.
    func isHere(_ session: Session) -> Bool {
        let present = ProcessIdentity.current
        return session.process.pid == present.pid && session.process.startTime == present.startTime
    }

    /// Returns whether a session is a hub's client: only a participant over files has a byte.
    func isClient(_ state: SessionState) -> Bool {
        SessionMark(state.backendData)?.lockedByte == nil
    }

    /// Returns whether a session's process has ended: it ran before the last start of the machine, its byte is no longer
    /// locked, or the kernel reports the end. A locked byte alone proves nothing, because a child created by a bare fork holds it as well.
    func isDead(_ state: SessionState) -> Bool {
        if let isGone = isGone(state) { return isGone }
        guard SessionMark(state.backendData)?.namesProcess == true, !Defect.believedLock.isPresent else { return false }
        return systemIdentity(of: state.session).liveness == .dead
    }

    /// Returns whether a session's process has ended, as far as its locked byte shows; nil if the process itself must
    /// be checked.
    func isGone(_ state: SessionState) -> Bool? {
        let mark = SessionMark(state.backendData)
        // The process is on another machine, so only the hub can detect its end.
        if mark?.isLeased == true { return false }
        guard state.session.process.bootID == clock.bootID else { return true }
        guard let mark else { return false }
        guard let byte = mark.lockedByte else { return nil }
        if sessionLocks.isHeldHere(byte) { return false }
        return (try? sessionLocks.isHeld(byte)) == false ? true : nil
    }

    /// Returns whether a session is in the state and its byte is free.
    func isGone(_ session: SessionID) -> Bool {
        replica.read { $0.sessions[session] }.flatMap(isGone) ?? false
    }

    /// Opens the process of a session to wait for its end; nil if it has ended already, which is added to `ended`, or
    /// cannot be seen.
    func processHandle(of session: Session, ended: inout [SessionID]) -> ProcessHandle? {
        guard let state = replica.read({ $0.sessions[session.id] }), !Defect.unawaitedEnds.isPresent else { return nil }
        let isGone = isGone(state)
        if isGone == true {
            ended.append(session.id)
            return nil
        }
        guard let mark = SessionMark(state.backendData), mark.namesProcess else { return nil }
        let isBelieved = isGone != nil || Defect.believedLock.isPresent
        do throws(ProcessUnreachable) {
            let process = try ProcessHandle(systemIdentity(of: session))
            if isBelieved || !process.hasEnded { return process }
        } catch {
            guard !isBelieved, case .dead = error else { return nil }
        }
        // The process has ended according to its pidfd, although its byte is still locked.
        ended.append(session.id)
        return nil
    }

    /// Returns the reason why a process may not be that of a session; nil if it holds the session's byte, which only it
    /// or a process forked from it can do, in any namespace.
    func doubt(that process: ProcessIdentity, has session: SessionID) -> String? {
        guard let state = replica.read({ $0.sessions[session] }) else { return "its session is over" }
        guard let mark = SessionMark(state.backendData), mark.namesProcess else {
            return "its process number is of another namespace"
        }
        // A hub's client has no byte. The hub has got the client's process from the kernel.
        guard let byte = mark.lockedByte else {
            return state.session.process == process ? nil : "the hub has seen another process in its session"
        }
        do throws(SystemCallError) {
            return try sessionLocks.isHeld(byte, byProcess: process.pid)
                ? nil : "process \(process.pid) does not hold the lock of its session"
        } catch {
            return "the locks of process \(process.pid) cannot be seen (\(error.reason))"
        }
    }

    /// Returns the process as the kernel knows it: a test may use another boot id.
    private func systemIdentity(of session: Session) -> ProcessIdentity {
        ProcessIdentity(
            bootID: ProcessIdentity.current.bootID, pid: session.process.pid, startTime: session.process.startTime)
    }
}
