internal import CoreAPI
internal import Platform
internal import Synchronization

/// The loop of a thread that waits for its process's groups.
extension NotificationService {
    func run() {
        while let ready = readiness.wait() {
            executor.runJobs { serve(ready) }
        }
    }

    /// Serves ready descriptors and due groups.
    private func serve(_ ready: [UInt64]) {
        var due: Set<ObjectIdentifier> = []
        var closed: Set<ObjectIdentifier> = []
        var displaced: Set<ObjectIdentifier> = []
        for key in ready where key <= Key.last {
            switch key {
            case Key.counter: counter.clear()
            case Key.timer: timerRang(&due)
            default:
                if let events = state.withLock({ $0.events }) { collect(events.take(), &due, &closed, &displaced) }
            }
        }
        report(ends(ready.filter { $0 > Key.last }, closed))
        for (number, group) in groups(due).enumerated() {
            // Serving a group may take long: jobs of the preceding groups need not wait if another thread can run them.
            if number > 0 { executor.offerJobs() }
            if displaced.contains(ObjectIdentifier(group)) { group.place.tick.store(0, ordering: .relaxed) }
            group.look()
        }
    }

    /// Polls the groups that cannot be woken; all groups when the idle interval is over.
    private func timerRang(_ due: inout Set<ObjectIdentifier>) {
        timer.clear()
        let isIdleLook = state.withLock { state in
            due.formUnion(state.lookers)
            let now = SystemClock().now()
            // If no group is polled, the timer fires only for the idle interval, however late this thread runs.
            guard state.lookers.isEmpty || now >= state.nextLook else { return false }
            state.nextLook = now.advanced(by: Self.idleInterval)
            return true
        }
        guard isIdleLook, !FailPoint.isActive("look.idle") else { return }
        takeStock(&due)
        for group in groups(due) {
            group.lookAtJournal()
            // Disk space or the spare file, which another process may have had before, may be free now.
            group.keepSpareSpace()
        }
    }

    /// Returns the awaited sessions of ended processes: by the keys of their processes, or because a wake channel of
    /// their group was closed. The kernel closes the channels and locks of an ending process some 15 ms before it
    /// reports the end.
    private func ends(
        _ keys: [UInt64], _ closed: Set<ObjectIdentifier>
    ) -> [ObjectIdentifier: [SessionID]] {
        guard !keys.isEmpty || !closed.isEmpty else { return [:] }
        let holders = state.withLock { $0.holders }
        let left = groupsByID(closed)
        var ended: [ObjectIdentifier: [SessionID]] = [:]
        for (id, holder) in holders.flatMap({ id, holders in holders.values.map { (id, $0) } }) {
            let isSeen = keys.contains(holder.key) && !FailPoint.isActive("look.ends")
            if isSeen || left[id]?.isGone(holder.session.id) == true {
                ended[id, default: []].append(holder.session.id)
            }
        }
        return ended
    }

    /// Collects the groups with signalled wake channels.
    ///
    /// - Parameters:
    ///   - closed: The groups with a closed channel, as by an ended process.
    ///   - displaced: The groups with a removed, moved or replaced file in their directory.
    private func collect(
        _ events: [FileEvents.Event], _ due: inout Set<ObjectIdentifier>, _ closed: inout Set<ObjectIdentifier>,
        _ displaced: inout Set<ObjectIdentifier>
    ) {
        state.withLock { state in
            for event in events {
                switch event {
                case .changed(let watch):
                    let listeners = state.listeners[watch] ?? []
                    due.formUnion(listeners)
                    displaced.formUnion(listeners.filter { state.places[$0] == watch })
                case .closed(let watch):
                    due.formUnion(state.listeners[watch] ?? [])
                    closed.formUnion(state.listeners[watch] ?? [])
                case .overflow where Defect.overlookedOverflow.isPresent: break
                case .overflow: due.formUnion(state.groups.keys)
                case .ended: break
                }
            }
        }
    }

    /// Polls every group, and retries watches that the system refused before.
    private func takeStock(_ due: inout Set<ObjectIdentifier>) {
        let deaf = state.withLock { state in
            state.reported = [:]
            due.formUnion(state.groups.keys)
            if state.events == nil, !state.deaf.isEmpty, let events = try? FileEvents(),
                (try? readiness.addEdges(of: events.descriptor, key: Key.events)) != nil
            {
                state.events = events
            }
            return state.deaf
        }
        // The references are held here, so that no group is released under the lock, which its deinitializer takes.
        for group in groups(deaf) {
            let id = ObjectIdentifier(group)
            state.withLock { state in
                var regained = WakeChannels()
                for (index, known) in state.wakeChannels[id] ?? [:] where known == nil {
                    let watch = self.begin(index, of: group, &state)
                    state.wakeChannels[id]?[index] = .some(watch)
                    if watch != nil { regained.formUnion(WakeChannels(index: index)) }
                }
                // Switch before the group is polled, so that no change is missed between the two ways of listening.
                group.listenToWakeChannels(regained)
            }
        }
        state.withLock { setTimer(&$0) }
    }

    private func report(_ ended: [ObjectIdentifier: [SessionID]]) {
        guard !ended.isEmpty else { return }
        state.withLock { state in
            for (id, sessions) in ended {
                state.reported[id, default: []].formUnion(sessions)
                for session in sessions { state.holders[id]?[session] = nil }
            }
            setTimer(&state)
        }
        for (id, sessions) in ended {
            for group in groups([id]) { group.end(sessions) }
        }
    }

    private func groupsByID(_ ids: Set<ObjectIdentifier>) -> [ObjectIdentifier: LocalGroup] {
        ids.isEmpty ? [:] : Dictionary(uniqueKeysWithValues: groups(ids).map { (ObjectIdentifier($0), $0) })
    }

    private func groups(_ ids: Set<ObjectIdentifier>) -> [LocalGroup] {
        state.withLock { state in ids.compactMap { state.groups[$0]?.group } }
    }
}
