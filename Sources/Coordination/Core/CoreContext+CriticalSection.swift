public import CoreAPI

extension CoreContext {
    /// Enters a section of work that a Main's request for hand-over lets the core finish.
    ///
    /// The core is told to stop as soon as it leaves the section, or when `bound` has passed since the request.
    ///
    /// Source: contract C3.
    ///
    /// - Parameter bound: How long the section may hold up a hand-over. It counts up to the configured hard maximum.
    /// - Throws: ``SharedCoreError/Code/guardFailed`` when a request is pending already, when the core is in a section, or
    ///   when it is superseded.
    public func enterCriticalSection(bound: Duration) async throws(SharedCoreError) {
        _ = try await store.commit(CriticalRecord.entering(epoch, bound: bound))
    }

    /// Leaves the section.
    ///
    /// - Throws: ``SharedCoreError/Code/guardFailed`` when the core is superseded.
    public func leaveCriticalSection() async throws(SharedCoreError) {
        _ = try await store.commit(CriticalRecord.leaving(epoch))
    }
}
