internal import Coordination
internal import CoreAPI
internal import ProgramOutput

/// Follows a timeline and lets others wait for expected entries.
actor TimelineRecorder {
    private struct Waiter {
        let condition: @Sendable (TimelineRecord) -> Bool
        let continuation: CheckedContinuation<TimelineRecord, any Error>
    }

    private var records: [TimelineRecord] = []
    private var waiters: [Int: Waiter] = [:]
    private var lastNumber = 0
    /// The error that ended ``follow(_:_:)``.
    private var failure: (any Error)?

    /// The last commit that was seen.
    var revision: Revision { records.last?.revision ?? .zero }

    /// Takes the entries of the timeline, and passes each on, until cancelled. An error ends all that wait as well: no
    /// entry comes any more.
    func follow(_ follower: TimelineFollower, _ pass: (TimelineRecord) async throws -> Void) async throws {
        do {
            try await takeIn(follower, pass)
        } catch {
            failure = error
            for number in waiters.keys { fail(number, with: error) }
            throw error
        }
    }

    private func takeIn(_ follower: TimelineFollower, _ pass: (TimelineRecord) async throws -> Void) async throws {
        for try await event in follower {
            guard case .record(let record) = event else { continue }
            // Passed on before a waiter acts on it, so that the timeline is told in order.
            try await pass(record)
            records.append(record)
            for (number, waiter) in waiters where waiter.condition(record) {
                waiters[number] = nil
                waiter.continuation.resume(returning: record)
            }
        }
    }

    /// Returns the first entry after a commit that fulfils a condition.
    ///
    /// - Parameter expectation: The expected entry in words, for the failure at the limit.
    func first(
        after revision: Revision = .zero, _ expectation: String, timeout: Duration = scenarioTimeout,
        where condition: @escaping @Sendable (TimelineRecord) -> Bool
    ) async throws -> TimelineRecord {
        if let record = records.first(where: { $0.revision > revision && condition($0) }) { return record }
        if let failure { throw failure }
        lastNumber += 1
        let number = lastNumber
        let timer = Task {
            try await Task.sleep(for: timeout)
            fail(number, with: CommandFailure(.no, "the demo waited in vain: \(expectation)"))
        }
        defer { timer.cancel() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                if Task.isCancelled {
                    continuation.resume(throwing: CancellationError())
                } else {
                    waiters[number] = Waiter(
                        condition: { $0.revision > revision && condition($0) }, continuation: continuation)
                }
            }
        } onCancel: {
            Task { await fail(number, with: CancellationError()) }
        }
    }

    private func fail(_ number: Int, with error: any Error) {
        waiters.removeValue(forKey: number)?.continuation.resume(throwing: error)
    }
}
