package import CoreAPI
package import StoreEngine
internal import Synchronization

/// The state that the handles of all backends share: whether the application has closed the handle, and whether its
/// session exists.
package struct GroupHandle: ~Copyable, Sendable {
    private let session: SessionID?
    private let location: String
    private let codesOfClosing: [SharedCoreError.Code]
    private let closed = Atomic(false)
    /// The state's ``StoreState/lastSessionEnd`` at the last successful check. Every read checks the session, so the
    /// lookup is skipped while this value is current.
    private let found = Atomic<UInt64>(.max)

    /// Makes the state of an open handle.
    ///
    /// - Parameters:
    ///   - session: Its session; nil for a read-only handle, which has none in the state.
    ///   - location: The location in the errors of a closed handle.
    ///   - codesOfClosing: The codes of errors that a call can get only because its handle was closed during the call.
    ///     They are reported as `closed`.
    package init(
        of session: SessionID?, at location: String, codesOfClosing: [SharedCoreError.Code] = [.sessionEnded]
    ) {
        self.session = session
        self.location = location
        self.codesOfClosing = codesOfClosing
    }

    package var isClosed: Bool { closed.load(ordering: .acquiring) }

    /// Closes the handle. Idempotent.
    ///
    /// - Returns: Whether this call has closed it.
    package borrowing func close() -> Bool {
        closed.compareExchange(expected: false, desired: true, ordering: .acquiringAndReleasing).exchanged
    }

    package borrowing func requireOpen() throws(SharedCoreError) {
        if isClosed { throw .closed(location) }
    }

    /// Checks that a state has the session of this handle.
    ///
    /// - Throws: `sessionEnded` when the state has no such session; `closed` instead when the application has closed
    ///   this handle.
    @inline(__always)
    package borrowing func requireSession(in state: borrowing StoreState) throws(SharedCoreError) {
        let end = state.lastSessionEnd.rawValue
        if found.load(ordering: .relaxed) == end { return }
        if let session, !state.hasSession(session) { throw applicationError(.sessionEnded(session)) }
        found.store(end, ordering: .relaxed)
    }

    /// Returns the error of a call as reported to the application.
    package borrowing func applicationError(_ error: SharedCoreError) -> SharedCoreError {
        isClosed && codesOfClosing.contains(error.code) ? .closed(location) : error
    }

    /// Cancels a watch and throws if the handle was closed while the watch was created. The close cancels only the
    /// watches that existed before.
    package borrowing func requireOpen(for watch: Watch) throws(SharedCoreError) -> Watch {
        do { try requireOpen() } catch {
            watch.cancel()
            throw error
        }
        return watch
    }

    /// Cancels an observation and throws if the handle was closed while the observation was created.
    package borrowing func requireOpen(for observation: Observation) throws(SharedCoreError) -> Observation {
        do { try requireOpen() } catch {
            observation.cancel()
            throw error
        }
        return observation
    }
}
