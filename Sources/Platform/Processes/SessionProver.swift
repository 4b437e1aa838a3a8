package import CoreAPI

/// A group's handle whose backend can prove by the system which process a session belongs to.
package protocol SessionProver: Sendable {
    /// Returns why a process may not be the one that a session belongs to; nil when the system proves that it is.
    ///
    /// The answer says something about the process that has the number at this moment: call it while a ``ProcessHandle``
    /// keeps the number from being used again.
    func doubt(that process: ProcessIdentity, has session: SessionID) async -> String?
}
