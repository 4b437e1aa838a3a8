// An application's code is compiled without the kit.
import Coordination
import CoreAPI

/// What a push wakes: it shows one message and ends.
struct PushProgram {
    let group: any SharedGroup
    var environment = CoordinationEnvironment()
    let core: @Sendable () -> any Core

    func show(_ callID: CallID) async throws -> String? {
        let executor = try ExecutorParticipant(of: group, environment: environment, core: core)
        let answer = try await executor.message(forCallID: callID, deadline: .seconds(20))
        var shown: String?
        if case .message(let taken) = answer.content {
            if case .text(_, _, let text) = taken.message.content { shown = text }
            try await executor.acknowledge(taken)
        }
        await executor.finish()
        return shown
    }
}
