internal import CoreAPI
internal import Mailboxes

/// The core of a baton that is kept, and the baton's keeper until its time is over.
struct KeptBaton {
    let core: any Core
    let keeper: any BatonKeeping
    let closing: Task<Void, any Error>
}

/// The baton that the core here has given.
///
/// Source: contract C25.
extension Participant {
    /// Keeps the baton that the core has given, here and at the host or the hub, so that the release offers it. If that
    /// fails, the core is told ``BatonEnd/refused``.
    func keep(_ given: CoreBaton, of epoch: Revision) async {
        guard canGive(given.baton, of: epoch) else {
            let takes = takenKinds(of: epoch)
            if !takes.isEmpty, !takes.contains(given.baton.kind) {
                tellOfBaton(
                    "the core gave a baton of the kind “\(given.baton.kind)”, which was not asked for", of: epoch)
            }
            return end(given.core, .refused)
        }
        environment.system.place("baton.given")
        do throws(SharedCoreError) {
            // Computed before the keepers start their own timers, so that they keep the baton until after the deadline.
            let lifetime = min(max(options.batonLifetime, Baton.lifetimes.lowerBound), Baton.lifetimes.upperBound)
            let deadline = clock.now().advanced(by: lifetime)
            let isForHub = machine.core?.request?.batonReach == .bytes
            if isForHub, !given.baton.files.isEmpty {
                throw SharedCoreError(.unsupported, "Descriptors do not go through a hub.", at: "baton")
            }
            let keeper = try environment.system.batons.keep(given.baton, of: epoch)
            var record = BatonRecord(
                given.baton, of: epoch, bootID: clock.bootID, until: deadline, keeper: keeper.path)
            if isForHub {
                do throws(SharedCoreError) {
                    try await keepAtHub(given.baton, of: epoch, for: lifetime)
                } catch {
                    // The hub does not keep the baton, so a process of another machine cannot get it.
                    keeper.close()
                    throw error
                }
                record.keepers.append(BatonRecord.hub)
            } else if let host = machine.view.batonHost?.record.path, await keeper.deposit(at: host, until: deadline) {
                record.keepers.append(host)
            }
            environment.system.place("baton.kept")
            // The ownership may have been lost during the wait. The host and the hub check by themselves whether they
            // still need the baton.
            guard canGive(given.baton, of: epoch) else {
                keeper.close()
                return end(given.core, .refused)
            }
            machine.give(GivenBaton(record, lifetime: lifetime))
            if !givenKinds.contains(record.kind) { givenKinds.append(record.kind) }
            // A separate task, so that it also runs while the participant's loop waits for a store that does not
            // answer.
            let closing = Task(executorPreference: executor) { [clock] in
                try await clock.sleep(until: deadline)
                keeper.close()
            }
            givenBaton = KeptBaton(core: given.core, keeper: keeper, closing: closing)
        } catch {
            tellOfBaton("the baton of the core cannot be kept: \(error.message)", of: epoch)
            end(given.core, .refused)
        }
    }

    private func keepAtHub(_ baton: Baton, of epoch: Revision, for lifetime: Duration) async throws(SharedCoreError) {
        guard let hub = store as? any BatonDepositing else {
            throw SharedCoreError(.unsupported, "No hub keeps it.", at: "baton")
        }
        // A separate task: the present one, which reports the end of a core, is cancelled, and that would cancel the
        // request.
        let kept = await Task(executorPreference: executor) { () -> Result<Void, SharedCoreError> in
            do throws(SharedCoreError) {
                return .success(try await hub.keepBaton(baton.bytes, of: epoch, for: lifetime))
            } catch {
                return .failure(error)
            }
        }.value
        try kept.get()
    }

    /// Returns true if a baton can be offered with the release of an ownership.
    private func canGive(_ baton: Baton, of epoch: Revision) -> Bool {
        end == nil && machine.holding?.epoch == epoch && machine.holding?.isReleasing == false && machine.given == nil
            && takenKinds(of: epoch).contains(baton.kind)
    }

    private func takenKinds(of epoch: Revision) -> [String] {
        machine.core?.epoch == epoch ? machine.core?.request?.takes ?? [] : []
    }

    private func tellOfBaton(_ problem: String, of epoch: Revision) {
        Task(executorPreference: executor) {
            await self.tell(OwnershipEvent(kind: .problem, epoch: epoch, reason: problem))
        }
    }

    /// Tells the core the outcome of its baton, once that is known. The participant does not end before the core has
    /// handled it.
    func endBaton() {
        guard case .over(let end) = machine.given?.phase, let given = givenBaton else { return }
        givenBaton = nil
        given.keeper.close()
        given.closing.cancel()
        Task(executorPreference: executor) { [environment, stopTimeout = options.stopTimeout, clock] in
            let ended = Task(executorPreference: environment.coreExecutor) { await given.core.batonEnded(end) }
            let bound = Task(executorPreference: self.executor) {
                try await clock.sleep(until: clock.now().advanced(by: stopTimeout))
                await self.forgetBaton()
            }
            await ended.value
            bound.cancel()
            await self.forgetBaton()
        }
    }

    private func end(_ core: any Core, _ end: BatonEnd) {
        Task(executorPreference: environment.coreExecutor) { await core.batonEnded(end) }
    }

    private func forgetBaton() {
        guard givenBaton == nil, case .over = machine.given?.phase else { return }
        machine.given = nil
        publish()
        wakeUp.signal()
    }

    /// Returns the function that writes a core's use of a former owner's baton to the timeline.
    nonisolated func batonTeller(under epoch: Revision) -> BatonTeller {
        { [timeline, clock, session = store.session] kind, from, reason, transaction throws(SharedCoreError) in
            let entry = TimelineEntry(
                kind, by: session, epoch: epoch, other: from, reason: reason, at: clock.now(), bootID: clock.bootID)
            try timeline.append(entry, to: &transaction)
        }
    }
}
