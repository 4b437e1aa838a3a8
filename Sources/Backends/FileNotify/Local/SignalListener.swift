internal import Platform
internal import Synchronization

/// Listens to wake channels that cannot be watched: a dedicated thread sleeps at futex words of the group's page while
/// there is such a channel.
///
/// Before it sleeps, the thread reads the words, sets its bits, and reads the tail. A writer publishes first, then reads
/// the bits, then changes the words. So either the thread sees the commit, or a word differs from the one it read.
final class SignalListener: Sendable {
    private struct State {
        var wakeChannels = WakeChannels()
        var isRunning = false
        /// The words at which the thread sleeps, or is about to sleep.
        var sleepers = GroupPage.Sleepers.atGroup
        /// True if the system lets the thread sleep at several words; nil before there is a thread.
        var canSleepAtSeveral: Bool?

        /// The futex words at which the thread sleeps from now on.
        var wanted: GroupPage.Sleepers {
            canSleepAtSeveral == true && wakeChannels.count <= OwnWord.mostOthers ? .atChannels : .atGroup
        }
    }

    private let page: GroupPage
    private let state = Mutex(State())
    /// A futex word of this process. It changes when the thread must sleep for other channels than it does now.
    private let change = OwnWord()

    init(_ page: GroupPage) {
        self.page = page
    }

    /// Starts listening to wake channels of a group: later commits are noticed.
    ///
    /// - Throws: If the system has no thread left.
    func add(_ wakeChannels: WakeChannels, of group: LocalGroup) throws(SystemCallError) {
        guard !wakeChannels.isEmpty else { return }
        let (mustStart, sleepers) = state.withLock { state in
            if state.canSleepAtSeveral == nil {
                state.canSleepAtSeveral = OwnWord.canSleepAtSeveral && !FailPoint.fails("sleep.several")
            }
            state.wakeChannels.formUnion(wakeChannels)
            if !state.isRunning { state.sleepers = state.wanted }
            defer { state.isRunning = true }
            return (!state.isRunning, state.sleepers)
        }
        page.listenToSignals(for: wakeChannels, by: sleepers)
        guard mustStart else { return wakeThread(asleep: sleepers) }
        do throws(SystemCallError) {
            try OwnedThread.start("sc-signal") { [self, weak group] in run { group } }
        } catch {
            state.withLock { $0 = State() }
            throw error
        }
    }

    /// Stops listening to these wake channels.
    func remove(_ wakeChannels: WakeChannels) {
        let (isLast, sleepers) = state.withLock { state in
            let before = state.wakeChannels
            state.wakeChannels.subtract(wakeChannels)
            return (state.wakeChannels.isEmpty && !before.isEmpty, state.sleepers)
        }
        // Only the removal of the last channel wakes the thread. After another removal it waits for one unneeded
        // channel until it wakes for another reason.
        if isLast { wakeThread(asleep: sleepers) }
    }

    /// Sets the bits again, because a process may have cleared them and been killed before it told this thread.
    func renew() {
        let (wakeChannels, sleepers) = state.withLock { ($0.wakeChannels, $0.sleepers) }
        if !wakeChannels.isEmpty { page.listenToSignals(for: wakeChannels, by: sleepers) }
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
            let (own, atGroup) = (change.value, page.seen(by: .atGroup, for: WakeChannels()))
            let (wakeChannels, sleepers) = state.withLock { state in
                if state.wakeChannels.isEmpty { state.isRunning = false }
                state.sleepers = hasFailed ? .atGroup : state.wanted
                return (state.wakeChannels, state.sleepers)
            }
            guard !wakeChannels.isEmpty else { return }
            let seen = sleepers == .atGroup ? atGroup : page.seen(by: sleepers, for: wakeChannels)
            page.listenToSignals(for: wakeChannels, by: sleepers)
            // Keep the strong reference only during the read: the sleeping thread must not keep the group alive.
            group()?.look()
            let end = page.sleep(after: seen, for: wakeChannels, or: (change, own))
            if end == .unsupported { state.withLock { $0.canSleepAtSeveral = false } }
            hasFailed = end == .failed
        }
    }
}
