internal import CoreAPI
internal import Mailboxes

/// What an Executor asks of its participant, besides waiting.
extension Participant {
    func acknowledge(_ message: TakenMessage) async throws(CoordinationError) -> Bool {
        try guardOpen()
        do throws(SharedCoreError) {
            return try await inbox.acknowledge(message) != .superseded
        } catch {
            throw failure(error)
        }
    }

    func giveBack(_ message: TakenMessage) async throws(CoordinationError) {
        try guardOpen()
        do throws(SharedCoreError) {
            try await inbox.giveBack(message)
        } catch {
            throw failure(error)
        }
    }

    func finishWork() async {
        await untilState { $0.isOver || $0.isIdle || $0.isStuck }
    }
}
