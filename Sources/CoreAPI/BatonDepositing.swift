/// A handle with ``Capability/batonBytes``: its group carries the bytes of a baton to the next owner, also on another
/// machine.
///
/// Source: contract C25.
package protocol BatonDepositing: Sendable {
    /// Sends the bytes of this owner's baton to the hub, which keeps them for the next owner.
    ///
    /// - Parameters:
    ///   - bytes: At most 64 KiB.
    ///   - epoch: The epoch of this session's ownership.
    ///   - lifetime: 1 s to 60 s.
    /// - Throws: ``SharedCoreError/Code/guardFailed`` if this session does not own at `epoch`;
    ///   ``SharedCoreError/Code/limitExceeded`` for too many bytes, and while a baton of another epoch is kept;
    ///   ``SharedCoreError/Code/invalidArgument`` for another lifetime, and if other bytes of the epoch are kept;
    ///   ``SharedCoreError/Code/forbidden`` without the right to participate; ``SharedCoreError/Code/unavailable`` if
    ///   no answer comes in 1 s; ``SharedCoreError/Code/unsupported`` if the hub keeps no batons.
    func keepBaton(_ bytes: [UInt8], of epoch: Revision, for lifetime: Duration) async throws(SharedCoreError)

    /// Returns the bytes of an offered baton; nil if they are not kept any more.
    ///
    /// - Parameters:
    ///   - epoch: The epoch of the baton.
    ///   - own: The epoch of this session's ownership.
    /// - Throws: ``SharedCoreError/Code/guardFailed`` if this session does not own at `own`, or no baton of `epoch` is
    ///   offered; otherwise as ``keepBaton(_:of:for:)``.
    func fetchBaton(of epoch: Revision, under own: Revision) async throws(SharedCoreError) -> [UInt8]?
}
