internal import CoreAPI
internal import StoreEngine

/// How a participant joins.
enum StoreOpening {
    static func effect(
        of process: ProcessIdentity, _ role: SessionRole, _ name: String, in state: StoreState, at now: BootInstant
    ) -> Effect {
        let description = SessionDescription(role: role, name: name)
        return state.opening(SessionOpening(process: process, description: description), at: now)
    }
}
