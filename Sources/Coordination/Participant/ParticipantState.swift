internal import CoreAPI

/// The state of a participant, as its callers wait for it.
struct ParticipantState: Hashable, Sendable {
    let isOver: Bool
    /// Whether it is a Main that means to own.
    let wantsOwnership: Bool
    /// The epoch that it holds.
    let holding: Revision?
    let core: LocalCore?
    let coreStarts: Int
    let refusal: Refusal?
    /// The last epoch that was taken from it.
    let lossOf: Revision?
    let problem: Intentions.CoreProblem?
    let isIdle: Bool
    /// Whether its ownership cannot be released.
    let isStuck: Bool
    /// When that comes to be, as far as it is known.
    let stuckAt: BootInstant?
    /// Whether the holder owns for it.
    let isAtRest: Bool
    /// Whether it offers its ownership, or rests.
    let wantsRest: Bool
    /// Whether its core is becoming quiet.
    let isBecomingQuiet: Bool
    /// Whether its core was made quiet and does not go on yet.
    let isQuiet: Bool
    /// Why it does not run the core that it wants.
    let waiting: OwnershipWaitReason?
    /// Why it cannot do its job, where that lasts.
    let lastingError: SharedCoreError?
    /// Whether that error is that this participant may not write what it wants to.
    var isForbidden: Bool { lastingError?.code == .forbidden }

    /// Whether a core works here under an ownership that stands.
    var isCoreRunning: Bool { core?.phase == .running && core?.epoch == holding }
}

/// Why a participant does nothing any more.
enum ParticipantEnd: Hashable, Sendable {
    case closed
    /// The store says that the session or the handle is over.
    case storeEnded(SharedCoreError)
}

/// What the store refuses a participant again and again.
struct Obstacle: Hashable, Sendable {
    /// What it said last.
    let error: SharedCoreError
    let since: BootInstant
    /// Whether commits are refused: then only one that succeeds shows that it is over.
    let isCommit: Bool
}
