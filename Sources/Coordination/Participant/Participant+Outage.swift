internal import CoreAPI
internal import Mailboxes

/// How a wait continues while the group cannot be reached.
extension Participant {
    /// Repeats an idempotent request until the store answers, the deadline of a call passes, or the call has another end.
    func patiently<Value>(
        _ call: MessageCall, under held: Revision?, _ alarm: inout Alarm,
        _ body: () async throws(SharedCoreError) -> Value
    ) async throws(SharedCoreError) -> Value {
        while true {
            do throws(SharedCoreError) {
                return try await body()
            } catch {
                let now = clock.now()
                guard isOutage(error), now < call.deadline, !call.isOver,
                    held == nil || demandPolicy.lastLoss?.epoch != held
                else { throw error }
                alarm.set(to: min(call.deadline, now.advanced(by: machine.rules.lookInterval)))
                await call.serverEvent.wait()
            }
        }
    }

    /// Returns true if the store may answer later. Returns false after the group's files were removed, because this
    /// participant has ended then.
    func isOutage(_ error: SharedCoreError) -> Bool {
        [.unavailable, .outcomeUnknown].contains(error.code) && end == nil && fault == nil
    }
}
