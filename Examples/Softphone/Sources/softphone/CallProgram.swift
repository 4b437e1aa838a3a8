internal import Coordination
internal import CoreAPI

/// The commands for calls, which any process of the group can send.
enum CallProgram {
    static func command(_ word: String) -> CallCommand? {
        CallCommand.allCases.first { $0.description.lowercased() == word }
    }

    static func list(in directory: String) async throws {
        let group = try await Softphone.open(directory, as: .tool)
        for call in try await Calls(group).list() {
            let other = call.direction == .outgoing ? "to \(call.to)" : "from \(call.from)"
            let state = if case .ended(let reason) = call.state { "ended: \(reason)" } else { "\(call.state)" }
            Softphone.say("\(call.id) \(state) \(other)")
        }
        await group.close()
    }

    static func send(_ command: CallCommand, to id: CallID, in directory: String) async throws {
        let group = try await Softphone.open(directory, as: .tool)
        try await Calls(group).send(command, to: id, within: .seconds(5))
        await group.close()
    }
}
