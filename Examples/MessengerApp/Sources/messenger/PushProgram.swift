import SharedCore

/// The program that a push wakes: it shows one message and ends.
enum PushProgram {
    static func run(callID: CallID, directory: String, server: MessengerServer) async throws {
        let group = try await FileGroup.open(directory: directory, as: SessionDescription(role: .executor))
        try await group.withExecutor(core: { MessengerCore(server: server) }) { executor in
            let answer = try await executor.message(forCallID: callID, timeout: .seconds(20))
            if case .message(let taken) = answer.content {  // from the process that has it, or from a core run here
                show(taken.message)
                try await executor.acknowledge(taken)  // once for all processes
            }
        }  // also when the message does not come: its core fetches what others wait for, then the group is closed
    }

    private static func show(_ message: InboxMessage) {
        // Also of a kind that this program does not know.
        print("\(message.content.sender): \(message.content.text)")
    }
}
