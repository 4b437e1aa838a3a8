internal import CoreAPI
internal import Platform
internal import Replica
internal import StoreEngine
internal import Synchronization

/// Joining, leaving, and detecting ended processes.
extension LocalGroup {
    /// Joins the group: first a byte is locked for the life of the session, then the session is recorded. So the order
    /// never holds a session whose end could not be detected.
    ///
    /// - Returns: The session, the byte, and the end of its record.
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

    /// Leaves the group, even when the calling task is cancelled. The byte is given back in any case: if the end cannot
    /// be recorded now, the next process that checks the byte records it.
    func leave(_ session: SessionID, _ byte: Int) async {
        FailPoint.hit("session.beforeEnd")
        _ = try? await writeThoughCancelled(.end(session))
        FailPoint.hit("session.afterEnd")
        sessionLocks.release(byte)
    }

    /// As ``leave(_:_:)``, for a handle that was let go.
    func abandon(_ session: SessionID, _ byte: Int) {
        writeInBackground(.end(session))
        sessionLocks.release(byte)
    }

    /// Records the end of every session whose process is dead.
    func endDead() async throws(SharedCoreError) {
        try catchUp()
        if isReadOnly { return }
        let header = position.journal.header
        guard header.bootID == clock.bootID || Defect.ignoredBoot.isPresent else {
            throw .otherRun(header.bootID, own: clock.bootID, at: directory.directory.path)
        }
        let present = replica.read { state in Array(state.sessions.values) }
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

    /// Returns whether a session's process is gone: its byte is free, or the kernel says so. A byte that is held proves
    /// nothing alone, because a child made by a bare fork holds it as well.
    func isDead(_ state: SessionState) -> Bool {
        if let isGone = isGone(state) { return isGone }
        guard SessionMark(state.backendData)?.namesProcess == true, !Defect.believedLock.isPresent else { return false }
        return systemIdentity(of: state.session).liveness == .dead
    }

    /// Returns whether a session's process is gone, as far as its byte tells; nil where the kernel has to be asked for
    /// the process.
    func isGone(_ state: SessionState) -> Bool? {
        let mark = SessionMark(state.backendData)
        // Only the hub can tell for a process of another machine.
        if mark?.isLeased == true { return false }
        guard state.session.process.bootID == clock.bootID else { return true }
        guard let mark else { return false }
        guard let byte = mark.lockedByte else { return nil }
        if sessionLocks.isHeldHere(byte) { return false }
        return (try? sessionLocks.isHeld(byte)) == false ? true : nil
    }

    /// Returns whether a session is in the state whose byte is free.
    func isGone(_ session: SessionID) -> Bool {
        replica.read { $0.sessions[session] }.flatMap(isGone) ?? false
    }

    /// Opens the process of a session to wait for its end; nil when it is dead already, which is noted, or cannot be
    /// seen.
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
        // The process answers where the byte did not.
        ended.append(session.id)
        return nil
    }

    /// Returns the reason why a process may not be the one of a session; nil when it holds the session's byte, which no
    /// other process of any namespace does but one that it has forked.
    func doubt(that process: ProcessIdentity, has session: SessionID) -> String? {
        guard let state = replica.read({ $0.sessions[session] }) else { return "its session is over" }
        guard let mark = SessionMark(state.backendData), mark.namesProcess else {
            return "its process number is of another namespace"
        }
        // A hub's client has no byte. Which process it is, the kernel has told the hub.
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

    /// Returns the process as the system knows it: a test may play another run of the machine.
    private func systemIdentity(of session: Session) -> ProcessIdentity {
        ProcessIdentity(
            bootID: ProcessIdentity.current.bootID, pid: session.process.pid, startTime: session.process.startTime)
    }
}
