internal import CoreAPI
internal import Mailboxes

/// The loop of a participant, and the watch that feeds its machine.
extension Participant {
    /// Asks the machine what to do, does it, and sleeps when there is nothing to do.
    func run() async {
        while end == nil {
            if let fault {
                if coreRun == nil || isStuck { return finish(with: .storeEnded(fault)) }
                if let stuckAt { alarm.set(to: stuckAt) }
                await wakeUp.wait()
                continue
            }
            if machine.holding == nil, machine.core == nil, !intentions.isClosing { stoppingSince = nil }
            await adaptWatch()
            decideWish(at: clock.now())
            machine.lease = store.lease
            let directive = machine.step(at: clock.now())
            endBaton()
            if let directive {
                // A caller that waits for this state must see it now: the directive may end it.
                publish()
                await carryOut(directive)
                restIfInVain(directive)
                await noticeLoss()
                publish()
                continue
            }
            await noticeLoss()
            publish()
            if intentions.isClosing, machine.core == nil, machine.given == nil,
                machine.holding == nil || machine.isStuck(at: clock.now())
            {
                return finish(with: .closed)
            }
            alarm.set(to: min(machine.nextStep, intentions.policyIsDue ?? machine.nextStep))
            await wakeUp.wait()
        }
    }

    /// Pauses when the same commit is wanted again and again: a store that says yes and does nothing must not keep the
    /// participants' thread from all others.
    private func restIfInVain(_ directive: Directive) {
        guard case .commit(let transition) = directive else { return }
        let (guards, stories) = (transition.transaction.guards, transition.stories)
        let isSame = repetition.map { $0.guards == guards && $0.stories == stories } ?? false
        let count = isSame ? (repetition?.count ?? 0) + 1 : 1
        repetition = (guards, stories, count)
        if count >= 3 { machine.failed(at: clock.now()) }
    }

    /// Feeds the machine with what the watch delivers.
    func follow(_ watch: Watch) async {
        do throws(SharedCoreError) {
            while let event = try await watch.next() {
                // One that was replaced meanwhile shows less than the look that followed.
                guard watch === self.watch else { return }
                machine.view.apply(event, at: clock.now())
                noticeRefusal()
                wakeUp.signal()
            }
            // The watch ends with its handle; a look shows it.
            if watch === self.watch { await lookSoon() }
        } catch {
            guard watch === self.watch else { return }
            switch error.code {
            case .corrupt, .incompatible, .forbidden: stop(because: error)
            // A lost group is unavailable for good: its handle receives nothing any more. A lack of system resources
            // makes it unavailable for a while.
            case .unavailable where await store.isLost(): stop(because: error)
            default: note(error)
            }
            wakeUp.signal()
        }
    }

    /// Ends the participation because the store cannot be followed any more.
    ///
    /// The session is still there, and so is the ownership, until the application hears of the end and closes the
    /// handle: so the core stops first. A damaged record that a call finds is no such fault.
    private func stop(because error: SharedCoreError) {
        guard end == nil, fault == nil else { return }
        fault = error
        stoppingSince = stoppingSince ?? clock.now()
        troubleSince = troubleSince ?? clock.now()
        let request = StopRequest(.failed)
        coreRun?.stop(request, within: stopTimeout(for: request))
    }
}
