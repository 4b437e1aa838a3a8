internal import Platform
internal import Synchronization

/// Listens to wake channels that cannot be watched: a dedicated thread sleeps at a futex word of the group's page while
/// there is such a channel.
///
/// Before it sleeps, the thread reads the word, sets its bits, and reads the tail. A writer publishes first, then reads
/// the bits, then changes the word. So either the thread sees the commit, or the word differs from the one it read.
final class SignalListener: Sendable {
    private struct State {
        var bells = Bells()
        var isRunning = false
    }

    private let page: GroupPage
    private let state = Mutex(State())

    init(_ page: GroupPage) {
        self.page = page
    }

    /// Starts listening to wake channels of a group: later commits are noticed.
    ///
    /// - Throws: If the system has no thread left.
    func add(_ bells: Bells, of group: LocalGroup) throws(SystemCallError) {
        guard !bells.isEmpty else { return }
        let mustStart = state.withLock { state in
            state.bells.formUnion(bells)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        page.listenToSignals(for: bells)
        guard mustStart else { return page.signalChange() }
        do throws(SystemCallError) {
            try OwnedThread.start("sc-signal") { [self, weak group] in run { group } }
        } catch {
            state.withLock { $0 = State() }
            throw error
        }
    }

    /// Stops listening to these wake channels.
    func remove(_ bells: Bells) {
        let isLast = state.withLock { state in
            let before = state.bells
            state.bells.subtract(bells)
            return state.bells.isEmpty && !before.isEmpty
        }
        if isLast { page.signalChange() }
    }

    /// Sets the bits again: a process may have cleared them and been killed before it signalled that.
    func renew() {
        let bells = state.withLock { $0.bells }
        if !bells.isEmpty { page.listenToSignals(for: bells) }
    }

    private func run(_ group: () -> LocalGroup?) {
        while true {
            let seen = page.signalCount
            let bells = state.withLock { state in
                if state.bells.isEmpty { state.isRunning = false }
                return state.bells
            }
            guard !bells.isEmpty else { return }
            page.listenToSignals(for: bells)
            // Held only during the read: the sleeping thread must not keep the group alive.
            group()?.look()
            page.sleep(after: seen, for: bells)
        }
    }
}
