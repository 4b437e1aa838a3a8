public import CoreAPI

/// A timeline as it grows: an asynchronous sequence of its entries in their order, each once.
///
/// One consumer at a time. It ends as a ``Watch`` does.
public final class TimelineFollower: AsyncSequence, Sendable {
    public typealias Element = TimelineEvent
    public typealias Failure = SharedCoreError

    private let watch: Watch

    init(_ watch: Watch) {
        self.watch = watch
    }

    /// Ends the sequence. Idempotent.
    public func cancel() {
        watch.cancel()
    }

    public func makeAsyncIterator() -> Iterator {
        Iterator(watch)
    }

    /// Takes entries one by one.
    public struct Iterator: AsyncIteratorProtocol {
        private let watch: Watch
        private var reading = TimelineReading()

        init(_ watch: Watch) {
            self.watch = watch
        }

        public mutating func next() async throws(SharedCoreError) -> TimelineEvent? {
            try await take()
        }

        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(SharedCoreError) -> TimelineEvent? {
            try await take()
        }

        private nonisolated(nonsending) mutating func take() async throws(SharedCoreError) -> TimelineEvent? {
            while true {
                if let event = reading.next() { return event }
                guard let event = try await watch.next() else { return nil }
                reading.add(event)
            }
        }
    }
}

/// Turns the deliveries of a watch into events of a timeline, each entry once.
struct TimelineReading {
    private var events: [TimelineEvent] = []
    private var position = 0
    /// The last commit of which the entries were delivered.
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

/// One delivery of a timeline that is followed.
public enum TimelineEvent: Hashable, Sendable {
    /// An entry.
    case record(TimelineRecord)
    /// Entries were dropped before they could be delivered; the checkpoint summarizes them.
    case dropped(TimelineCheckpoint)
    /// An entry that cannot be read.
    case damaged(Violation)
}
