internal import CoreAPI

/// Turns what a watch delivers into the events of a timeline, each entry once.
struct TimelineReading {
    private var events: [TimelineEvent] = []
    private var position = 0
    /// Everything up to this commit was delivered.
    private var last = Revision.zero

    mutating func next() -> TimelineEvent? {
        guard position < events.count else { return nil }
        defer { position += 1 }
        return events[position]
    }

    mutating func add(_ event: WatchEvent) {
        events.removeFirst(position)
        position = 0
        switch event {
        case .snapshot(let snapshot), .lagged(let snapshot): add(TimelineHistory(snapshot))
        case .changes(let changes):
            let written = changes.changes.compactMap { change in
                change.key == Timeline.checkpointKey ? nil : change.new
            }
            add(TimelineHistory(Snapshot(revision: changes.revision, entries: written)))
        }
        last = max(last, event.revision)
    }

    private mutating func add(_ history: TimelineHistory) {
        if let checkpoint = history.checkpoint, checkpoint.through > last { events.append(.dropped(checkpoint)) }
        events += history.damages.filter { $0.revision > last }.map(TimelineEvent.damaged)
        events += history.records.filter { $0.revision > last }.map(TimelineEvent.record)
    }
}
