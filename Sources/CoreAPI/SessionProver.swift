/// A handle of a group with a backend that can prove by the kernel which process a session belongs to.
package protocol SessionProver: Sendable {
    /// Returns why a process may not be that of a session; nil if the kernel proves that it is.
    ///
    /// The answer concerns the process that has the number at this moment: call it while the number cannot
    /// come to mean another process.
    func doubt(that process: ProcessIdentity, has session: SessionID) async -> String?
}
