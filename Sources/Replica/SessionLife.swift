package import CoreAPI
package import StoreEngine
internal import Synchronization

/// Whether a handle's session still stands: looked up only when a session has ended since it was last found, because every
/// look at the store begins with this.
package struct SessionLife: ~Copyable, Sendable {
    private let session: SessionID
    /// The state's ``StoreState/lastSessionEnd`` when the session was found.
    private let found = Atomic<UInt64>(.max)

    package init(of session: SessionID) {
        self.session = session
    }

    /// - Throws: `sessionEnded` when the session does not stand in a state.
    @inline(__always)
    package borrowing func require(in state: borrowing StoreState) throws(SharedCoreError) {
        let end = state.lastSessionEnd.rawValue
        if found.load(ordering: .relaxed) == end { return }
        guard state.hasSession(session) else { throw .sessionEnded(session) }
        found.store(end, ordering: .relaxed)
    }
}
