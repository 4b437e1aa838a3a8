package import CoreAPI

/// Takes everything that a watch delivers, in a task of its own.
package final class WatchRecorder: Sendable {
    private let watch: Watch
    private let task: Task<SharedCoreError?, Never>
    private let box: Box<WatchMirror>

    /// Opens a watch from a snapshot, waits for the snapshot, and starts to record: every commit that begins from then
    /// on is recorded as a change.
    ///
    /// - Parameters:
    ///   - prefixes: The prefixes that the watch selects.
    ///   - keepsChanges: Whether every change is kept, for tests that read them.
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

    private init(_ watch: Watch, mirror: WatchMirror) {
        let box = Box(mirror)
        self.watch = watch
        self.box = box
        task = Task {
            do throws(SharedCoreError) {
                while !box.update({ $0.isHopeless }), let event = try await watch.next() {
                    box.update { mirror in mirror.apply(event) }
                }
                return nil
            } catch {
                return error
            }
        }
    }

    deinit {
        task.cancel()
        watch.cancel()
    }

    /// The record so far.
    package var mirror: WatchMirror { box.value }

    /// Waits until everything up to a revision that touched the selected keys was delivered.
    package func reaches(_ revision: Revision, timeout: Duration = TestTimeout.usual) async throws {
        try await eventually("the watch delivers revision \(revision), not only \(mirror.revision)", timeout: timeout) {
            box.update { mirror in mirror.revision >= revision }
        }
    }

    /// Ends the watch and waits until it has ended; gives the error with which it ended, nil for a plain end.
    @discardableResult
    package func stop() async throws -> SharedCoreError? {
        watch.cancel()
        return try await ended()
    }

    /// Waits until the watch ends by itself.
    package func ended() async throws -> SharedCoreError? {
        let task = task
        return try await withTimeout(TestTimeout.usual, "the watch ends") { await task.value }
    }
}
