internal import Coordination
internal import Synchronization

/// Counts what the Executors of the demo printed.
final class DemoTally: Sendable {
    private struct State {
        var pushes = 0
        /// The messages that were printed, by call-id.
        var printed: [String: [String]] = [:]
        /// What should be printed, by call-id.
        var expected: [String: String] = [:]
    }

    private let state = Mutex(State())

    /// Takes note of a push.
    func add(_ mail: DemoMail) {
        state.withLock { state in
            state.pushes += 1
            state.expected[mail.callID.text] = mail.text
        }
    }

    /// Takes note of a line.
    func add(_ line: ExecutorLine) {
        guard line.event == "message" else { return }
        state.withLock { $0.printed[line.callID, default: []].append(line.text ?? "") }
    }

    var pushes: Int { state.withLock { $0.pushes } }

    /// How many call-ids got their own text.
    var delivered: Int {
        state.withLock { state in
            state.expected.count { state.printed[$0.key]?.contains($0.value) == true }
        }
    }

    /// How many messages were printed beyond the first of a call-id.
    var duplicates: Int {
        state.withLock { state in state.printed.values.reduce(0) { $0 + $1.count - 1 } }
    }
}
