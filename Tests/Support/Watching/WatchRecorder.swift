package import CoreAPI

/// Takes everything that a watch delivers, in a task of its own.
package final class WatchRecorder: Sendable {
    private let watch: Watch
    private let task: Task<SharedCoreError?, Never>
    private let box: Box<WatchMirror>

    /// Starts to record.
    ///
    /// - Parameters:
    ///   - prefixes: What the watch selects.
    ///   - keepsChanges: Whether every change is kept, for tests that look at them.
    package init(_ watch: Watch, of prefixes: [KeyPrefix] = [.all], keepsChanges: Bool = true) {
        let box = Box(WatchMirror(of: prefixes, keepsChanges: keepsChanges))
        self.watch = watch
        self.box = box
        task = Task {
            do throws(SharedCoreError) {
                while let event = try await watch.next() { box.update { mirror in mirror.apply(event) } }
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

    /// What was recorded so far.
    package var mirror: WatchMirror { box.value }

    /// Waits until everything up to a revision that touched the selected keys was delivered.
    package func reaches(_ revision: Revision, within limit: Duration = Patience.usual) async throws {
        try await eventually("the watch delivers revision \(revision), not only \(mirror.revision)", within: limit) {
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
        return try await within(Patience.usual, "the watch ends") { await task.value }
    }
}
