internal import CoreAPI
internal import Mailboxes

/// The loop of a participant, and the watch that feeds its machine.
extension Participant {
    /// Asks the machine for the next directive, carries it out, and sleeps when there is none.
    func run() async {
        while end == nil {
            if let fault {
                if coreRun == nil || isStuck { return finish(with: .storeEnded(fault)) }
                if let stuckAt { alarm.set(to: stuckAt) }
                await wakeUp.wait()
                continue
            }
            if machine.holding == nil, machine.core == nil, !demandPolicy.isClosing { stoppingSince = nil }
            await adaptWatch()
            decideGoal(at: clock.now())
            machine.lease = store.lease
            let directive = machine.step(at: clock.now())
            endBaton()
            if let directive {
                // Callers that wait for the present state must see it before the directive changes it.
                publish()
                await carryOut(directive)
                restIfInVain(directive)
                await noticeLoss()
                publish()
                continue
            }
            await noticeLoss()
            publish()
            if demandPolicy.isClosing, machine.core == nil, machine.given == nil,
                machine.holding == nil || machine.isStuck(at: clock.now())
            {
                return finish(with: .closed)
            }
            alarm.set(to: min(machine.nextStep, demandPolicy.policyIsDue ?? machine.nextStep))
            await wakeUp.wait()
        }
    }

    /// Pauses if the machine repeats the same commit: a faulty store that confirms commits without applying them must
    /// not keep the participants' thread busy.
    private func restIfInVain(_ directive: Directive) {
        guard case .commit(let transition) = directive else { return }
        let (guards, timelineEvents) = (transition.transaction.guards, transition.timelineEvents)
        let isSame = repetition.map { $0.guards == guards && $0.timelineEvents == timelineEvents } ?? false
        let count = isSame ? (repetition?.count ?? 0) + 1 : 1
        repetition = (guards, timelineEvents, count)
        if count >= 3 { machine.failed(at: clock.now()) }
    }

    /// Feeds the machine with the events of the watch.
    func follow(_ watch: Watch) async {
        do throws(SharedCoreError) {
            while let event = try await watch.next() {
                // A watch that was replaced meanwhile is older than the read that followed.
                guard watch === self.watch else { return }
                machine.view.apply(event, at: clock.now())
                noticeRefusal()
                wakeUp.signal()
            }
            // The watch ends with its handle; a read shows why.
            if watch === self.watch { await lookSoon() }
        } catch {
            guard watch === self.watch else { return }
            switch error.code {
            case .corrupt, .incompatible, .forbidden: stop(because: error)
            // A group stays unavailable if its files were removed. A lack of system resources makes a group unavailable
            // only temporarily.
            case .unavailable where await store.isLost(): stop(because: error)
            default: note(error)
            }
            wakeUp.signal()
        }
    }

    /// Ends the participation because the store cannot be followed any more.
    ///
    /// The session and its ownership last until the application learns of the end and closes the handle, so the core
    /// must stop first. A damaged record that a call finds does not end the participation.
    private func stop(because error: SharedCoreError) {
        guard end == nil, fault == nil else { return }
        fault = error
        stoppingSince = stoppingSince ?? clock.now()
        troubleSince = troubleSince ?? clock.now()
        let request = StopRequest(.failed)
        coreRun?.stop(request, within: stopTimeout(for: request))
    }
}
