internal import Platform
internal import Synchronization

/// Listens to a group's bells where they cannot be watched: a thread of our own sleeps at a word of the group's page,
/// as long as there is a bell to listen to.
///
/// Before it sleeps, the thread reads the word, sets its bits, and looks. A writer publishes first, then reads the bits,
/// then changes the word. So either the look sees the commit, or the word is not what was read any more.
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

    /// Begins to listen to bells of a group: what is published later is heard.
    ///
    /// - Throws: When the system has no thread left.
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

    /// Listens to these bells no longer.
    func remove(_ bells: Bells) {
        let isLast = state.withLock { state in
            let before = state.bells
            state.bells.subtract(bells)
            return state.bells.isEmpty && !before.isEmpty
        }
        if isLast { page.signalChange() }
    }

    /// Sets the bits again, which somebody may have cleared and then been killed before saying so.
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
            // Held for the look only: the group must be able to end while this thread sleeps.
            group()?.look()
            page.sleep(after: seen, for: bells)
        }
    }
}
