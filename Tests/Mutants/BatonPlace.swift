internal import CoreAPI
internal import CoreAPITesting
internal import Synchronization

/// Keeps the bytes of a baton for the next owner, as a hub does, with one defect at most. The mutants of C25 use it.
final class BatonPlace: Sendable {
    enum Defect: Sendable {
        case none, losesWhatItKeeps
        case answersEachSession, answersForAnotherEpoch, letsGoAtTheFirstFetch, letsGoAtTheRelease
        case keepsForEachSession, keepsForEachEpoch, keepsTheLastBytes, hasNoLimit
        case keepsUntilItsTimeIsOver, letsGoOnlyWhenARecordIsRemoved
    }

    private struct Kept {
        let epoch: Revision
        var bytes: [UInt8]
    }

    private struct State {
        var kept: Kept?
        /// True once the record of the kept baton has been offered.
        var stood = false
    }

    private let defect: Defect
    private let state = Mutex(State())

    init(_ defect: Defect) { self.defect = defect }

    /// The entries of ownership that it reads.
    private struct Ownership {
        var owner: Entry?
        let offered: Revision?

        init(_ group: any SharedStore) async throws(SharedCoreError) {
            owner = try await group.get(".sharedcore/ownership/owner")
            let record = try await group.get(".sharedcore/ownership/baton")
            var reader = ByteReader(record?.value ?? [])
            guard (try? reader.byte()) != nil, let epoch = try? reader.integer(), (try? reader.byte()) == 1 else {
                offered = nil
                return
            }
            offered = Revision(rawValue: epoch)
        }

        func owns(_ group: any SharedStore, _ epoch: Revision) -> Bool {
            owner?.origin == group.session.id && owner?.creationRevision == epoch
        }
    }

    /// Releases the bytes if they are over, after a change of the group.
    func changed(_ group: any SharedStore) async throws(SharedCoreError) {
        end(in: try await Ownership(group))
    }

    /// Releases the bytes if they are over when a session ends, and its ownership with it.
    func closes(_ group: any SharedStore) async throws(SharedCoreError) {
        var ownership = try await Ownership(group)
        if ownership.owner?.origin == group.session.id { ownership.owner = nil }
        end(in: ownership)
    }

    private func end(in ownership: Ownership) {
        state.withLock { state in
            guard let epoch = state.kept?.epoch else { return }
            let isOffered = ownership.offered == epoch
            let owns = ownership.owner?.creationRevision == epoch
            if isOffered { state.stood = true }
            let isOver =
                switch defect {
                case .keepsUntilItsTimeIsOver: false
                case .letsGoOnlyWhenARecordIsRemoved: state.stood && !isOffered
                case .letsGoAtTheRelease: !owns
                default: !owns && !isOffered
                }
            if isOver { state = State() }
        }
    }

    func keep(
        _ bytes: [UInt8], of epoch: Revision, for lifetime: Duration, by group: any SharedStore
    ) async throws(SharedCoreError) {
        func refuse(_ code: SharedCoreError.Code) -> SharedCoreError { SharedCoreError(code, "Refused.", at: "baton") }
        guard bytes.count <= 64 << 10 || defect == .hasNoLimit else { throw refuse(.limitExceeded) }
        guard Duration.seconds(1)...Duration.seconds(60) ~= lifetime else { throw refuse(.invalidArgument) }
        let ownership = try await Ownership(group)
        end(in: ownership)
        let isAllowed =
            switch defect {
            case .keepsForEachSession: ownership.owner?.creationRevision == epoch
            case .keepsForEachEpoch: ownership.owner?.origin == group.session.id
            default: ownership.owns(group, epoch)
            }
        guard isAllowed else { throw refuse(.guardFailed) }
        let refusal: SharedCoreError.Code? = state.withLock { state in
            if let kept = state.kept, defect != .keepsTheLastBytes {
                return kept.epoch != epoch ? .limitExceeded : kept.bytes != bytes ? .invalidArgument : nil
            }
            if defect != .losesWhatItKeeps { state = State(kept: Kept(epoch: epoch, bytes: bytes)) }
            return nil
        }
        if let refusal { throw refuse(refusal) }
    }

    func fetch(
        of epoch: Revision, under own: Revision, by group: any SharedStore
    ) async throws(SharedCoreError) -> [UInt8]? {
        let ownership = try await Ownership(group)
        end(in: ownership)
        let owns = ownership.owns(group, own) || defect == .answersEachSession
        guard owns, ownership.offered == epoch || defect == .answersForAnotherEpoch else {
            throw SharedCoreError(.guardFailed, "Refused.", at: "baton")
        }
        return state.withLock { state in
            guard let kept = state.kept, kept.epoch == epoch || defect == .answersForAnotherEpoch else { return nil }
            if defect == .letsGoAtTheFirstFetch { state = State() }
            return kept.bytes
        }
    }
}
