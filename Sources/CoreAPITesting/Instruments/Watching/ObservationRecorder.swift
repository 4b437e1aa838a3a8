package import CoreAPI

/// Takes everything that an observation delivers, in a task of its own.
package final class ObservationRecorder: Sendable {
    private let observation: Observation
    private let task: Task<SharedCoreError?, Never>
    private let box = Box<[NotificationDelivery]>([])

    /// Starts to record.
    package init(_ observation: Observation) {
        let box = box
        self.observation = observation
        task = Task {
            do throws(SharedCoreError) {
                while let delivery = try await observation.next() {
                    box.update { deliveries in deliveries.append(delivery) }
                }
                return nil
            } catch {
                return error
            }
        }
    }

    deinit {
        task.cancel()
        observation.cancel()
    }

    /// The deliveries so far.
    package var deliveries: [NotificationDelivery] { box.value }

    /// The number of posts that the deliveries stand for.
    package var count: UInt64 { box.update { deliveries in deliveries.reduce(0) { $0 + $1.count } } }

    /// Waits until the deliveries stand for at least `count` posts.
    package func reaches(_ count: UInt64, timeout: Duration = TestTimeout.usual) async throws {
        try await eventually("the observation stands for \(count) posts, not only \(self.count)", timeout: timeout) {
            self.count >= count
        }
    }

    /// Ends the observation and waits until it has ended; gives the error with which it ended, nil for a plain end.
    @discardableResult
    package func stop() async throws -> SharedCoreError? {
        observation.cancel()
        let task = task
        return try await withTimeout(TestTimeout.usual, "the observation ends") { await task.value }
    }
}
