internal import CoreAPI
internal import StoreEngine

/// The baton that a hub keeps in its memory: the bytes that the owner of an epoch gave, for the session that owns while
/// they are offered.
///
/// A value without I/O: its inputs are the entries of ownership and the elapsed time. The bytes are written nowhere,
/// and end with the hub.
///
/// Source: contract C25.
struct HubBaton {
    /// The lifetimes that a client may ask for.
    static let lifetimes = Duration.seconds(1)...Duration.seconds(60)

    /// The entries of ownership that a hub reads, at one revision.
    struct Ownership: Hashable {
        /// The session that wrote the owner's entry; nil if there is no owner.
        var session: SessionID?
        /// The creation revision of the owner's entry: the epoch.
        var epoch = Revision.zero
        /// The epoch of the offered baton; nil if none is offered.
        var offered: Revision?

        func owns(_ session: SessionID, _ epoch: Revision) -> Bool { self.session == session && self.epoch == epoch }
    }

    private struct Kept {
        let epoch: Revision
        let bytes: [UInt8]
        /// The time that is left, in the hub's running time.
        var left: Duration
    }

    private var kept: Kept?

    var isEmpty: Bool { kept == nil }

    /// Keeps the bytes of the owner of an epoch. The same bytes again change nothing, and do not lengthen their time.
    ///
    /// - Throws: ``SharedCoreError/Code/guardFailed`` where the session does not own at the epoch;
    ///   ``SharedCoreError/Code/invalidArgument`` where other bytes of the epoch are kept;
    ///   ``SharedCoreError/Code/limitExceeded`` where those of another epoch are.
    mutating func keep(
        _ bytes: [UInt8], of epoch: Revision, for lifetime: Duration, by session: SessionID, in ownership: Ownership
    ) throws(SharedCoreError) {
        end(in: ownership)
        guard ownership.owns(session, epoch) else {
            throw SharedCoreError(.guardFailed, "The session does not own at epoch \(epoch).", at: Self.location)
        }
        guard let kept else {
            // The time of the next count includes up to this much time from before the request.
            self.kept = Kept(epoch: epoch, bytes: bytes, left: lifetime + LeaseTime.longestInterval)
            return
        }
        guard kept.epoch == epoch else {
            throw SharedCoreError(
                .limitExceeded, "The hub keeps the baton of epoch \(kept.epoch), and one at a time.", at: Self.location)
        }
        guard kept.bytes == bytes else {
            throw SharedCoreError(
                .invalidArgument, "The hub keeps other bytes of epoch \(epoch) already.", at: Self.location)
        }
    }

    /// Returns the bytes of the baton of `epoch`; nil if the hub does not keep them.
    ///
    /// Only the session that owns at `own` may fetch them, and only while the group offers that baton. Fetching removes
    /// nothing, so a later owner can fetch them too.
    ///
    /// - Throws: ``SharedCoreError/Code/guardFailed`` if the session does not own at `own`, or the baton is not
    ///   offered.
    mutating func fetch(
        of epoch: Revision, under own: Revision, by session: SessionID, in ownership: Ownership
    ) throws(SharedCoreError) -> [UInt8]? {
        end(in: ownership)
        guard ownership.owns(session, own) else {
            throw SharedCoreError(.guardFailed, "The session does not own at epoch \(own).", at: Self.location)
        }
        guard ownership.offered == epoch else {
            throw SharedCoreError(.guardFailed, "No baton of epoch \(epoch) is offered.", at: Self.location)
        }
        return kept?.epoch == epoch ? kept?.bytes : nil
    }

    /// Counts down the time that is left.
    mutating func count(_ elapsed: Duration) {
        kept?.left -= elapsed
        if let left = kept?.left, left <= .zero { kept = nil }
    }

    /// Drops the bytes if their epoch does not own and the group has no offer of its baton.
    mutating func end(in ownership: Ownership) {
        guard let epoch = kept?.epoch, ownership.epoch != epoch, ownership.offered != epoch else { return }
        kept = nil
    }

    private static let location = "baton"
}

extension HubBaton.Ownership {
    private static let ownerKey: Key = ".sharedcore/ownership/owner"
    private static let batonKey: Key = ".sharedcore/ownership/baton"

    /// Reads the two entries of a state.
    init(_ state: StoreState) throws(SharedCoreError) {
        if let owner = state.entry(Self.ownerKey) {
            session = owner.origin
            epoch = owner.creationRevision
        }
        offered = try state.entry(Self.batonKey)?.entry(for: Self.batonKey).value.offeredEpoch
    }
}

extension [UInt8] {
    /// The epoch in the record of an offered baton; nil for any other value. All versions of the record begin with
    /// these three fields.
    fileprivate var offeredEpoch: Revision? {
        var reader = ByteReader(self)
        guard (try? reader.byte()) != nil, let epoch = try? reader.integer(), (try? reader.byte()) == 1 else {
            return nil
        }
        return Revision(rawValue: epoch)
    }
}
