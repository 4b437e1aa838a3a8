package import CoreAPI

/// Takes everything that a sequence delivers, in a task of its own, and keeps a record of it.
package final class Recorder<Record: Sendable>: Sendable {
    /// The record so far.
    let box: Box<Record>
    private let task: Task<SharedCoreError?, Never>
    private let cancel: @Sendable () -> Void

    /// Starts to record.
    ///
    /// - Parameters:
    ///   - record: The record at the start.
    ///   - cancel: Ends the sequence.
    ///   - follow: Adds the elements to the record, until the sequence ends.
    init(
        _ record: Record, cancel: @escaping @Sendable () -> Void,
        follow: @escaping @Sendable (Box<Record>) async throws(SharedCoreError) -> Void
    ) {
        let box = Box(record)
        self.box = box
        self.cancel = cancel
        task = Task {
            do throws(SharedCoreError) {
                try await follow(box)
                return nil
            } catch {
                return error
            }
        }
    }

    deinit {
        task.cancel()
        cancel()
    }

    /// Ends the sequence and waits for its end. Returns the error with which it ended; nil if there was none.
    @discardableResult
    package func stop() async throws -> SharedCoreError? {
        cancel()
        return try await ended()
    }

    /// Waits until the sequence ends by itself.
    package func ended() async throws -> SharedCoreError? {
        let task = task
        return try await withTimeout(TestTimeout.usual, "the sequence ends") { await task.value }
    }
}

/// Takes everything that a watch delivers.
package typealias WatchRecorder = Recorder<WatchMirror>

extension Recorder<WatchMirror> {
    /// Opens a watch from a snapshot, waits for the snapshot, and starts to record: every commit that begins from then
    /// on is recorded as a change.
    ///
    /// - Parameters:
    ///   - prefixes: The prefixes that the watch selects.
    ///   - keepsChanges: True to keep every change, for tests that read them.
    package convenience init(
        _ store: any SharedStore, of prefixes: [KeyPrefix] = [.all], keepsChanges: Bool = true
    ) async throws {
        let watch = try await store.watch(prefixes, from: .snapshot)
        guard let first = try await watch.next() else {
            throw ConditionNotMet(expectation: "a watch begins with a snapshot", timeout: .zero)
        }
        var mirror = WatchMirror(
            of: prefixes, keepsChanges: keepsChanges,
            previousValues: store.capabilities.features.contains(.previousValues))
        mirror.apply(first)
        self.init(watch, mirror: mirror)
    }

    /// Starts to record a watch, from its first event on.
    package convenience init(
        _ watch: Watch, of prefixes: [KeyPrefix] = [.all], keepsChanges: Bool = true, previousValues: Bool = true
    ) {
        self.init(
            watch, mirror: WatchMirror(of: prefixes, keepsChanges: keepsChanges, previousValues: previousValues))
    }

    private convenience init(_ watch: Watch, mirror: WatchMirror) {
        self.init(mirror, cancel: { watch.cancel() }) { box throws(SharedCoreError) in
            while !box.update({ $0.isHopeless }), let event = try await watch.next() {
                box.update { mirror in mirror.apply(event) }
            }
        }
    }

    /// The record so far.
    package var mirror: WatchMirror { box.value }

    /// Waits until everything up to a revision that touched the selected keys was delivered.
    package func reaches(_ revision: Revision, timeout: Duration = TestTimeout.usual) async throws {
        try await eventually("the watch delivers revision \(revision), not only \(mirror.revision)", timeout: timeout) {
            box.update { mirror in mirror.revision >= revision }
        }
    }
}

/// Takes everything that an observation delivers.
package typealias ObservationRecorder = Recorder<[NotificationDelivery]>

extension Recorder<[NotificationDelivery]> {
    /// Starts to record.
    package convenience init(_ observation: Observation) {
        self.init([], cancel: { observation.cancel() }) { box throws(SharedCoreError) in
            while let delivery = try await observation.next() {
                box.update { deliveries in deliveries.append(delivery) }
            }
        }
    }

    /// The deliveries so far.
    package var deliveries: [NotificationDelivery] { box.value }

    /// The number of posts that the deliveries represent.
    package var count: UInt64 { box.update { deliveries in deliveries.reduce(0) { $0 + $1.count } } }

    /// Waits until the deliveries represent at least `count` posts.
    package func reaches(_ count: UInt64, timeout: Duration = TestTimeout.usual) async throws {
        try await eventually("the observation stands for \(count) posts, not only \(self.count)", timeout: timeout) {
            self.count >= count
        }
    }
}
