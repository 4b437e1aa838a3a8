internal import CoreAPI
internal import Platform
internal import Replica
internal import StoreEngine
internal import Synchronization

/// Delivers updates to the watches and observations of this process.
extension LocalGroup {
    /// Starts listening; when it returns, no later commit can be missed.
    ///
    /// First it watches the channels' files, then it sets the bits in the present journal, then it reads the tail. A
    /// writer publishes first and then reads the bits: either it sees them, or its commit precedes the read.
    ///
    /// - Parameter isQuiet: Whether the listener needs no timer, because its participant reads at an interval of its
    ///   own.
    func listen(
        to prefixes: [KeyPrefix], _ wakeChannels: WakeChannels, isQuiet: Bool = false
    ) async throws(SharedCoreError) -> Listening.ID {
        try lookAtPlace()
        let service = try SharedCoreError.wrapping { () throws(SystemCallError) in
            try NotificationService.shared()
        }
        let id = try listening.withLock { listening throws(SharedCoreError) in
            let (id, new) = listening.add(prefixes, wakeChannels, isQuiet: isQuiet)
            let unwatched = service.watch(new, of: self)
            self.follower.listening.withLock { $0.formUnion(new.subtracting(unwatched)) }
            do throws(SystemCallError) {
                try self.signals.add(unwatched, of: self)
            } catch {
                self.end(id, &listening)
                throw SharedCoreError(error)
            }
            service.setQuiet(listening.isQuiet, self)
            return id
        }
        do throws(SharedCoreError) {
            // If the journal is sealed and has no successor in which the bits could be set, an empty request creates
            // the successor.
            while try !isHeard(wakeChannels) { try await expire() }
        } catch {
            stopListening(id)
            throw error
        }
        signalUpdates()
        return id
    }

    /// Sets the bits in the present journal and reads its tail; false when the journal is sealed and has no successor
    /// yet, which a reader leaves to writers.
    ///
    /// Kept out of its caller: otherwise the optimizer of Swift 6.3 gives the caller a context of 3,776 bytes and uses
    /// 3,792.
    @inline(never)
    private func isHeard(_ wakeChannels: WakeChannels) throws(SharedCoreError) -> Bool {
        let standing = try replica.update { state throws(SharedCoreError) in
            let watched = self.follower.listening.withLock { $0 }
            self.follower.position(in: &state).journal.listen(to: wakeChannels.intersection(watched))
            return try self.follower.catchUp(&state)
        }
        if case .current = standing { return true }
        return isReadOnly
    }

    func stopListening(_ id: Listening.ID) {
        let isChanged = listening.withLock { listening in
            let wasQuiet = listening.isQuiet
            self.end(id, &listening)
            NotificationService.current?.setQuiet(listening.isQuiet, self)
            return listening.isEmpty || listening.isQuiet != wasQuiet
        }
        if isChanged { signalUpdates() }
    }

    private func end(_ id: Listening.ID, _ listening: inout Listening) {
        let silent = listening.remove(id)
        guard !silent.isEmpty else { return }
        follower.listening.withLock { $0.subtract(silent) }
        signals.remove(silent)
        NotificationService.current?.unwatch(silent, of: self)
        if listening.isEmpty { NotificationService.current?.stopLooking(at: self) }
    }

    /// Switches wake channels with files that can be watched now from futex signals to their files.
    func listenToWakeChannels(_ wakeChannels: WakeChannels) {
        guard !wakeChannels.isEmpty else { return }
        follower.listening.withLock { $0.formUnion(wakeChannels) }
        position.journal.listen(to: wakeChannels)
        signals.remove(wakeChannels)
    }

    /// Reads the published records after a signal, or when it is time to poll.
    func look() {
        signals.renew()
        do throws(SharedCoreError) {
            try requirePlace()
            try catchUp()
        } catch {
            // Damage is permanent; after any other error the next read may succeed.
            if error.code == .corrupt || error.code == .incompatible { replica.fail(with: error) }
        }
        // The process that saw the failed sync may have ended before it wrote the group anew, so this process does it
        // if necessary.
        rewriteInBackground()
        // Wake the listeners in any case: another thread may have applied records that it has not reported yet, or
        // could not report.
        replica.wake()
        signalUpdates()
    }

    /// Updates what the listeners of this process wait for: the ends of processes that would change what they watch,
    /// and the time at which the next entry expires.
    func signalUpdates() {
        if isReadOnly { return }
        let ended = newsOrder.withLock { _ in
            let (prefixes, isQuiet) = listening.withLock { ($0.prefixes, $0.isQuiet) }
            let isHub = isHub.load(ordering: .sequentiallyConsistent)
            let (holders, due) = replica.read { state in
                let holders = prefixes.isEmpty ? [] : state.sessionsHolding(prefixes)
                // The hub records the ends of its clients. If this process did so too, the two would delay each other.
                let others = holders.filter { holder in
                    !self.isHere(holder) && !(isHub && state.sessions[holder.id].map(self.isClient) == true)
                }
                return (others, state.nextExpiry())
            }
            scheduleExpiry(prefixes.isEmpty || isQuiet ? nil : due)
            return NotificationService.current?.watch(holders, of: self) ?? []
        }
        end(ended)
    }

    // MARK: - Expiry

    /// The time before an expiry that could not be recorded, for example because the files are damaged, is tried again.
    private static let expiryRetryInterval = Duration.milliseconds(250)

    /// Records the expiries that are due. Every request does that first, so an empty request is enough.
    @discardableResult
    func expire() async throws(SharedCoreError) -> Written {
        try await write(.expire)
    }

    private func scheduleExpiry(_ due: BootInstant?) {
        expirySchedule.withLock { schedule in
            guard schedule.due != due else { return }
            // A task that waits for an earlier time computes the next time when it wakes. So it is not replaced now: in
            // a burst the next time changes with each message.
            if let due, let waitedFor = schedule.due, waitedFor < due { return }
            schedule.task?.cancel()
            schedule.due = due
            let notBefore = schedule.notBefore
            schedule.task = due.map { due in
                Task { [weak self, clock] in
                    do { try await clock.sleep(until: max(due, notBefore ?? due)) } catch { return }
                    await self?.expiryIsDue(due)
                }
            }
        }
    }

    private func expiryIsDue(_ due: BootInstant) async {
        var notBefore: BootInstant?
        do throws(SharedCoreError) {
            try await expire()
        } catch {
            // A cancelled task has not failed: one for another deadline has replaced it.
            if error.code != .cancelled { notBefore = clock.now().advanced(by: Self.expiryRetryInterval) }
        }
        expirySchedule.withLock { schedule in
            schedule.notBefore = notBefore
            if schedule.due == due { schedule.due = nil }
        }
        signalUpdates()
    }
}
