/// A handle of a group with a backend that can prove by the kernel which process a session belongs to.
package protocol SessionProver: Sendable {
    /// Returns why a process may not belong to a session; nil if the kernel proves that it does.
    ///
    /// The answer concerns the process that has the process id now: call it while the id cannot come to mean another
    /// process, for example while a pidfd is open.
    func doubt(that process: ProcessIdentity, has session: SessionID) async -> String?
}
