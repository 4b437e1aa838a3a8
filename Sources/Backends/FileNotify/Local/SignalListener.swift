internal import Platform
internal import Synchronization

/// Listens to wake channels that cannot be watched: a dedicated thread sleeps at futex words of the group's page while
/// there is such a channel.
///
/// Before it sleeps, the thread reads the words, sets its bits, and reads the tail. A writer publishes first, then reads
/// the bits, then changes the words. So either the thread sees the commit, or a word differs from the one it read.
final class SignalListener: Sendable {
    private struct State {
        var bells = Bells()
        var isRunning = false
        /// At which words the thread sleeps, or is about to.
        var sleepers = GroupPage.Sleepers.atGroup
        /// True if the system lets the thread sleep at several words; nil before there is a thread.
        var canSleepAtSeveral: Bool?

        /// The futex words at which the thread sleeps from now on.
        var wanted: GroupPage.Sleepers {
            canSleepAtSeveral == true && bells.count <= OwnWord.mostOthers ? .atChannels : .atGroup
        }
    }

    private let page: GroupPage
    private let state = Mutex(State())
    /// Changes when the thread is to sleep for other channels than it does.
    private let change = OwnWord()

    init(_ page: GroupPage) {
        self.page = page
    }

    /// Starts listening to wake channels of a group: later commits are noticed.
    ///
    /// - Throws: If the system has no thread left.
    func add(_ bells: Bells, of group: LocalGroup) throws(SystemCallError) {
        guard !bells.isEmpty else { return }
        let (mustStart, sleepers) = state.withLock { state in
            if state.canSleepAtSeveral == nil {
                state.canSleepAtSeveral = OwnWord.canSleepAtSeveral && !FailPoint.fails("sleep.several")
            }
            state.bells.formUnion(bells)
            if !state.isRunning { state.sleepers = state.wanted }
            defer { state.isRunning = true }
            return (!state.isRunning, state.sleepers)
        }
        page.listenToSignals(for: bells, by: sleepers)
        guard mustStart else { return wakeThread(asleep: sleepers) }
        do throws(SystemCallError) {
            try OwnedThread.start("sc-signal") { [self, weak group] in run { group } }
        } catch {
            state.withLock { $0 = State() }
            throw error
        }
    }

    /// Stops listening to these wake channels.
    func remove(_ bells: Bells) {
        let (isLast, sleepers) = state.withLock { state in
            let before = state.bells
            state.bells.subtract(bells)
            return (state.bells.isEmpty && !before.isEmpty, state.sleepers)
        }
        // Otherwise it sleeps for too many channels until its next wake.
        if isLast { wakeThread(asleep: sleepers) }
    }

    /// Sets the bits again: a process may have cleared them and been killed before it signalled that.
    func renew() {
        let (bells, sleepers) = state.withLock { ($0.bells, $0.sleepers) }
        if !bells.isEmpty { page.listenToSignals(for: bells, by: sleepers) }
    }

    private func wakeThread(asleep sleepers: GroupPage.Sleepers) {
        switch sleepers {
        case .atChannels where Defect.unchangedSleep.isPresent: break
        case .atChannels: change.wake()
        case .atGroup: page.signalChange()
        }
    }

    private func run(_ group: () -> LocalGroup?) {
        var hasFailed = false
        while true {
            // Read first: a later change of a word wakes the thread.
            let (own, atGroup) = (change.value, page.seen(by: .atGroup, for: Bells()))
            let (bells, sleepers) = state.withLock { state in
                if state.bells.isEmpty { state.isRunning = false }
                state.sleepers = hasFailed ? .atGroup : state.wanted
                return (state.bells, state.sleepers)
            }
            guard !bells.isEmpty else { return }
            let seen = sleepers == .atGroup ? atGroup : page.seen(by: sleepers, for: bells)
            page.listenToSignals(for: bells, by: sleepers)
            // Held only during the read: the sleeping thread must not keep the group alive.
            group()?.look()
            let end = page.sleep(after: seen, for: bells, or: (change, own))
            if end == .unsupported { state.withLock { $0.canSleepAtSeveral = false } }
            hasFailed = end == .failed
        }
    }
}
