import Coordination
import CoreAPI

extension World {
    /// How many calls are known to wait for their message.
    func waitingCount() async throws -> Int {
        try await observer().list(".sharedcore/expectations").entries.count
    }
}

extension Player<ExecutorParticipant> {
    /// Waits for a message, for longer than any test lasts.
    func wait(for callID: String) -> Task<MessageAnswer, any Error> {
        Task { try await participant.message(forCallID: .of(callID), deadline: .seconds(3600)) }
    }
}
