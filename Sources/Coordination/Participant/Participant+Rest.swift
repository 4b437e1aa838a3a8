internal import CoreAPI
internal import Mailboxes

/// The rest of a Main.
///
/// Source: contract C26.
extension Participant {
    func rest() async throws(CoordinationError) {
        try guardOpen()
        if machine.isAtRest { return }
        guard store.lease == nil else {
            throw CoordinationError(
                .unsupported, "The session has a lease, which a process that sleeps cannot renew.")
        }
        try guardRest()
        guard let coreRun, let core = machine.core, !machine.wantsRest, !core.isQuiet, !isResumingCore,
            becomingQuiet !== coreRun
        else {
            throw CoordinationError(.refused, "The Main is about to rest or to resume already.")
        }
        try await makeQuiet(coreRun)
        guard machine.core?.epoch == coreRun.epoch, machine.core?.phase == .running else {
            throw CoordinationError(.fenced, "The core has stopped while it was made quiet.")
        }
        // From now on the machine resumes the core, or stops it.
        machine.core?.isQuiet = true
        defer { wakeUp.signal() }
        if isResumedEarly {
            throw CoordinationError(.refused, "The Main was resumed before its core was quiet.", owner: owner)
        }
        machine.wokenFor = .user
        try guardRest()
        guard !Task.isCancelled else { throw Self.cancelledRest }
        machine.wantsRest = true
        machine.wakeReason = .user
        wakeUp.signal()
        await untilState { $0.isOver || $0.isAtRest || !$0.wantsRest }
        try guardOpen()
        if state.isAtRest { return }
        guard Task.isCancelled else {
            await untilState { $0.isOver || !$0.isQuiet }
            try guardOpen()
            // The holder may have ended while the core was becoming quiet.
            guard machine.view.holder != nil else {
                throw CoordinationError(
                    .unavailable,
                    "The Main does not rest: the group has no holder. Start “sharedcore serve” or sharedcore-holder.")
            }
            throw CoordinationError(.refused, "The holder has not taken the ownership, or has given it back at once.")
        }
        machine.wantsRest = false
        throw Self.cancelledRest
    }

    private static let cancelledRest = CoordinationError(.cancelled, "The task that let the Main rest was cancelled.")

    private func guardRest() throws(CoordinationError) {
        guard let reason = machine.reasonNotToRest else { return }
        let isAlone = machine.view.holder == nil
        throw CoordinationError(
            isAlone && machine.core?.phase == .running ? .unavailable : .refused, "The Main does not rest: \(reason).",
            owner: owner)
    }

    /// Makes the core quiet, within the stop timeout. A core that does not become quiet in time is resumed.
    private func makeQuiet(_ run: CoreRun) async throws(CoordinationError) {
        guard let core = run.present.core else { throw CoordinationError(.refused, "The core does not run.") }
        becomingQuiet = run
        isResumedEarly = false
        let outcome = Promise<(any Error)?>()
        let isDone = OneWayFlag()
        let ended = AsyncEvent()
        let context = run.context
        let task = Task.detached(executorPreference: environment.coreExecutor) {
            var failure: (any Error)?
            do { try await core.rest(in: context) } catch { failure = error }
            outcome.fulfil(failure)
            isDone.raise()
            ended.signal()
        }
        let limit = clock.now().advanced(by: options.stopTimeout)
        var alarm = Alarm(signalling: ended, by: clock, on: executor)
        alarm.set(to: limit)
        while !isDone.isRaised, clock.now() < limit, !Task.isCancelled { await ended.wait() }
        alarm.stop()
        guard isDone.isRaised else {
            task.cancel()
            Task(executorPreference: executor) { await self.endLateRest(of: run, isQuiet: outcome.value() == nil) }
            if Task.isCancelled { throw Self.cancelledRest }
            throw CoordinationError(.coreFailed, "The core has not become quiet within \(options.stopTimeout).")
        }
        let failure = await outcome.value()
        becomingQuiet = nil
        publish()
        guard let failure else { return }
        if let error = failure as? SharedCoreError, error.code == .unsupported {
            throw CoordinationError(.unsupported, error.message, cause: error)
        }
        throw CoordinationError(.coreFailed, "The core has not become quiet: \(failure)")
    }

    func resume(for wake: Wake) async throws(CoordinationError) {
        try guardOpen()
        guard let epoch = machine.holding?.epoch else {
            throw CoordinationError(.fenced, "The Main does not own any more.", owner: owner)
        }
        // A keeper may report a wake before this participant's watch does. Read the ownership, so that the core gets
        // the reason of that wake.
        if machine.isAtRest { await lookSoon() }
        if becomingQuiet != nil { try await resumeEarly(for: wake) }
        machine.wakeReason = wake
        machine.wantsRest = false
        wakeUp.signal()
        await untilState { $0.isOver || $0.holding != epoch || (!$0.isAtRest && !$0.isQuiet) }
        try guardOpen()
        if Task.isCancelled, state.isAtRest || state.isQuiet {
            throw CoordinationError(.cancelled, "The task that resumed the Main was cancelled.")
        }
        guard machine.holding?.epoch == epoch else {
            throw CoordinationError(.fenced, "The rest was over, and so is the epoch \(epoch).", owner: owner)
        }
    }

    /// Withdraws a rest while the core is becoming quiet. The core is resumed as soon as it is quiet.
    private func resumeEarly(for wake: Wake) async throws(CoordinationError) {
        isResumedEarly = true
        machine.wokenFor = wake
        await untilState(before: clock.now().advanced(by: options.stopTimeout)) { $0.isOver || !$0.isBecomingQuiet }
        try guardOpen()
        if Task.isCancelled {
            throw CoordinationError(.cancelled, "The task that resumed the Main was cancelled.")
        }
        guard becomingQuiet == nil else {
            throw CoordinationError(.coreFailed, "The core has not become quiet within \(options.stopTimeout).")
        }
    }

    /// Resumes a core that has become quiet too late. No other rest may begin before that, because this resume would
    /// end it.
    private func endLateRest(of run: CoreRun, isQuiet: Bool) {
        guard becomingQuiet === run else { return }
        becomingQuiet = nil
        publish()
        if isQuiet { resumeCore(of: run.epoch, for: isResumedEarly ? machine.wokenFor : .user) }
    }

    /// True while the running core is being resumed.
    var isResumingCore: Bool { coreRun.map { resuming === $0 } ?? false }

    /// Resumes a core.
    func resumeCore(of epoch: Revision, for wake: Wake) {
        guard let coreRun, coreRun.epoch == epoch, let core = coreRun.present.core else { return }
        let context = coreRun.context
        resuming = coreRun
        Task.detached(executorPreference: environment.coreExecutor) { [weak self] in
            var failure: (any Error)?
            do { try await core.resume(in: context, for: wake) } catch { failure = error }
            await self?.coreResumed(coreRun, failure: failure)
        }
    }

    private func coreResumed(_ run: CoreRun, failure: (any Error)?) {
        if resuming === run { resuming = nil }
        guard let failure, let coreRun, coreRun === run else {
            publish()
            return wakeUp.signal()
        }
        hear(.failed(problem: CoreRun.Problem(text: "its core did not resume: \(failure)")), of: run.epoch)
        let request = StopRequest(.failed)
        coreRun.stop(request, within: stopTimeout(for: request))
    }

    /// Begins the watch of a Main that rests. The Main reads its rest once a minute, so the store need not poll for it.
    private func watchOfSleep() async throws(SharedCoreError) -> Watch {
        guard let store = store as? any QuietWatching else {
            return try await store.watch(OwnershipKey.ofSleep, from: .snapshot)
        }
        return try await store.watchQuietly(OwnershipKey.ofSleep, from: .snapshot)
    }

    /// Replaces the watch: while this Main rests it covers only the keys that a resting Main must see, so that other
    /// changes do not wake the process.
    ///
    /// Source: contract C26.
    func adaptWatch() async {
        guard watch != nil, machine.isAtRest != isWatchOfSleep else { return }
        do throws(SharedCoreError) {
            // Open the watch before the read, so that no commit in between is missed.
            let isOfSleep = !isWatchOfSleep
            let next = try await isOfSleep ? watchOfSleep() : store.watch([OwnershipKey.path], from: .snapshot)
            guard let first = try await next.next(), end == nil else { return next.cancel() }
            let former = watch
            watch = next
            isWatchOfSleep = isOfSleep
            former?.cancel()
            machine.view.apply(first, at: clock.now())
            Task(executorPreference: executor) { await self.follow(next) }
            // The former watch covered only some of the keys. It may have shown a part of a commit that is newer than
            // the first snapshot of this watch, and the view would ignore the rest of that commit as known.
            if !isOfSleep { try await look() }
        } catch {
            note(error)
        }
    }
}
