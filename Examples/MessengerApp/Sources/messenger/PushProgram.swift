import Coordination
import CoreAPI
import FileNotifyBackend
import Foundation

/// What a push wakes: it shows one message and ends.
enum PushProgram {
    static func run(callID: CallID, directory: String, server: MessengerServer) async throws {
        let group = try await FileGroup.open(directory: directory, as: SessionDescription(role: .executor))
        let executor = try ExecutorParticipant(of: group) { MessengerCore(server: server) }
        let answer = try await executor.message(forCallID: callID, deadline: .seconds(20))
        if case .message(let taken) = answer.content {  // from whoever has it, or from a core run here
            show(taken.message)
            try await executor.acknowledge(taken)  // once for everybody
        }
        await executor.finish()  // its core may still fetch what others wait for
        await group.close()
    }

    private static func show(_ message: InboxMessage) {
        if case .text(let sender, _, let text) = message.content { print("\(sender): \(text)") }
    }
}
