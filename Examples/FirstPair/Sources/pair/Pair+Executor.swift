import Coordination
import CoreAPI
import FileNotifyBackend

extension Pair {
    /// Runs the Executor that a push starts: waits for one message, shows it and ends.
    static func runExecutor(_ directory: String, _ box: LetterBox, _ callID: CallID) async throws {
        let group = try await FileGroup.open(
            directory: directory, as: SessionDescription(role: .executor, name: "push \(callID)"))
        try await group.withExecutor(core: { LetterCore(box: box) }) { executor in
            let answer = try await executor.message(forCallID: callID, timeout: .seconds(20))
            if case .message(let taken) = answer.content {
                say("\(callID): \(taken.message.content.text) (\(answer.source))")
                try await executor.acknowledge(taken)
            }
        }
    }
}
