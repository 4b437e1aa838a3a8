// An application's code is compiled without the kit.
import Coordination
import CoreAPI

/// The Executor that a push starts: it shows one message and ends.
struct PushProgram {
    let group: any SharedGroup
    var environment = CoordinationEnvironment()
    let core: @Sendable () -> any Core

    func show(_ callID: CallID) async throws -> String? {
        try await group.withExecutor(environment: environment, core: core) { executor in
            let answer = try await executor.message(forCallID: callID, timeout: .seconds(20))
            guard case .message(let taken) = answer.content else { return nil }
            try await executor.acknowledge(taken)
            return taken.message.content.text
        }
    }
}
