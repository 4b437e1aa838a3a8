internal import Coordination
internal import CoreAPI
internal import CoreAPITesting
internal import ProgramOutput

/// Follows a timeline and lets callers wait for expected entries.
final class TimelineRecorder: Sendable {
    private let records = Box<[TimelineRecord]>([])
    /// The error that ended ``follow(_:_:)``, after which no entry comes.
    private let failure = Box<(any Error)?>(nil)

    /// The last commit that was seen.
    var revision: Revision { records.value.last?.revision ?? .zero }

    /// Takes the entries of the timeline and passes each on, until cancelled. An error also ends all waits.
    func follow(_ follower: TimelineFollower, _ pass: (TimelineRecord) async throws -> Void) async throws {
        do {
            for try await event in follower {
                guard case .record(let record) = event else { continue }
                // Pass the entry on before a waiter can act on it, so that the entries are printed in order.
                try await pass(record)
                records.update { $0.append(record) }
            }
        } catch {
            failure.update { $0 = error }
            throw error
        }
    }

    /// Waits for the first entry after a commit that satisfies a condition, and returns it.
    func first(
        after revision: Revision = .zero, _ expectation: String, where condition: (TimelineRecord) -> Bool
    ) async throws -> TimelineRecord {
        try await awaited(expectation) {
            let found = records.value.first { $0.revision > revision && condition($0) }
            if found == nil, let failure = failure.value { throw failure }
            return found
        }
    }
}

/// Waits until a value that the demo expects is there, and returns it.
///
/// - Parameter expectation: The name of the expected value, for the error at the time limit.
func awaited<Value>(_ expectation: String, _ look: () async throws -> Value?) async throws -> Value {
    var found: Value?
    do {
        try await eventually(expectation, timeout: scenarioTimeout) {
            found = try await look()
            return found != nil
        }
    } catch is ConditionNotMet {}
    guard let found else { throw CommandFailure(.no, "the demo timed out waiting for: \(expectation)") }
    return found
}
