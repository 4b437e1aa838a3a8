internal import CoreAPI
internal import Synchronization

/// The claim of a participant on its session: while it lasts, no other participant of the process acts for that session.
///
/// Ownership belongs to a session. Two participants of one session would both regard its ownership as their own and run
/// two cores under one epoch, which no guard can distinguish (contract C1).
final class SessionClaim: Sendable {
    private static let claimed = Mutex<Set<Session>>([])

    private let session: Session
    private let isReleased = Atomic(false)

    /// Claims a session for a participant.
    ///
    /// - Throws: ``SharedCoreError/Code/invalidArgument`` when another participant has the claim.
    init(on session: Session) throws(SharedCoreError) {
        self.session = session
        guard Self.claimed.withLock({ $0.insert(session).inserted }) else {
            // This claim has failed, so it must not be released.
            isReleased.store(true, ordering: .relaxed)
            throw SharedCoreError(
                .invalidArgument,
                "This handle already has a participant. End that one, or open another handle.",
                at: "session \(session.id)")
        }
    }

    deinit { release() }

    /// Lets another participant act for the session.
    func release() {
        guard !isReleased.exchange(true, ordering: .relaxed) else { return }
        _ = Self.claimed.withLock { $0.remove(session) }
    }
}
