internal import CoreAPI

/// The state of a participant, as its callers wait for it.
struct ParticipantState: Hashable, Sendable {
    let isOver: Bool
    /// True if it is a Main that wants to own.
    let wantsOwnership: Bool
    /// The epoch that it holds.
    let holding: Revision?
    let core: LocalCore?
    let coreStarts: Int
    let refusal: Refusal?
    /// The last epoch that was taken from it.
    let lossOf: Revision?
    let problem: DemandPolicy.CoreProblem?
    let isIdle: Bool
    /// True if its ownership cannot be released.
    let isStuck: Bool
    /// When the release is given up, as far as known.
    let stuckAt: BootInstant?
    /// True while the holder owns for it.
    let isAtRest: Bool
    /// True while it offers its ownership, or rests.
    let wantsRest: Bool
    /// True while its core is becoming quiet.
    let isBecomingQuiet: Bool
    /// True if its core is quiet and has not been resumed.
    let isQuiet: Bool
    /// Why it does not run the core that it wants.
    let waiting: OwnershipWaitReason?
    /// The store's error that has blocked the participant for longer than a hand-over may take; nil if there is none.
    let lastingError: SharedCoreError?
    /// True if that error is that this participant may not write.
    var isForbidden: Bool { lastingError?.code == .forbidden }

    /// True if a core runs here under an ownership that is held.
    var isCoreRunning: Bool { core?.phase == .running && core?.epoch == holding }
}

/// Why a participant has ended.
enum ParticipantEnd: Hashable, Sendable {
    case closed
    /// The store reports that the session or the handle has ended.
    case storeEnded(SharedCoreError)
}

/// A refusal that the store repeats.
struct BlockingFailure: Hashable, Sendable {
    /// The last error.
    let error: SharedCoreError
    let since: BootInstant
    /// True if commits are refused: then only a successful commit shows that the refusal has ended.
    let isCommit: Bool
}
