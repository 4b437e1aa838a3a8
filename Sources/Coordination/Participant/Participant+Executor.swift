internal import CoreAPI
internal import Mailboxes

/// The requests of an Executor to its participant, besides waiting.
extension Participant {
    func acknowledge(_ message: TakenMessage) async throws(CoordinationError) -> Bool {
        try guardOpen()
        do throws(SharedCoreError) {
            return try await inbox.acknowledge(message) != .superseded
        } catch {
            throw failure(error)
        }
    }

    /// Acknowledges a message that this participant has not taken.
    func acknowledge(_ id: MessageID) async throws(CoordinationError) -> Bool {
        try guardOpen()
        do throws(SharedCoreError) {
            switch try await inbox.acknowledge(id) {
            case .changed, .changedInHand: return true
            case .over, .absent: return false
            }
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

    /// Runs the core here for as long as it owns, whether or not any call waits.
    func startCore(
        waitingItsTurn: Bool = false, reporting: (@Sendable (OwnershipWaitReason) -> Void)?
    ) async throws(CoordinationError) {
        try guardOpen()
        do throws(SharedCoreError) {
            try await begin()
        } catch {
            throw failure(error)
        }
        let number = newNumber()
        report(to: number, by: reporting)
        defer { stopReporting(to: number) }
        do throws(CoordinationError) {
            try await own(as: number, waitingItsTurn: waitingItsTurn, before: nil)
        } catch {
            forgetNeed(number)
            throw error
        }
        // The need must end together with this ownership: otherwise the participant would seek the ownership again.
        guard let epoch = machine.holding?.epoch else { return forgetNeed(number) }
        demandPolicy.needs[number]?.epoch = epoch
    }

    private func forgetNeed(_ number: Int) {
        demandPolicy.needs[number] = nil
        reconsider()
    }

    func finishWork() async {
        await untilState { $0.isOver || $0.isIdle || $0.isStuck }
    }
}
