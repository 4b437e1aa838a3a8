extension MachineTransition {
    /// The transitions that a campaign of 100,000 schedules must take: all of every machine, except a few that require
    /// so many coincident faults that hardly any schedule has them.
    package static let required: [MachineTransition] = {
        var required: [MachineTransition] = []
        required += ownership.flatMap { from, moves in
            moves.map { MachineTransition(machine: .ownership, from: from.rawValue, to: $0.rawValue) }
        }
        required += core.flatMap { from, moves in
            moves.map { MachineTransition(machine: .core, from: from.rawValue, to: $0.rawValue) }
        }
        required += handover.flatMap { from, moves in
            moves.map { MachineTransition(machine: .handover, from: from.rawValue, to: $0.rawValue) }
        }
        required += goal.flatMap { from, moves in
            moves.map { MachineTransition(machine: .goal, from: from.rawValue, to: $0.rawValue) }
        }
        required += policy.flatMap { from, moves in
            moves.map { MachineTransition(machine: .policy, from: from.rawValue, to: $0.rawValue) }
        }
        required += wait.flatMap { from, moves in
            moves.map { MachineTransition(machine: .wait, from: from, to: $0.rawValue) }
        }
        required += inbox.flatMap { from, moves in
            moves.map { MachineTransition(machine: .inbox, from: from.rawValue, to: $0.rawValue) }
        }
        return required
    }()

    /// The steps of an ownership machine in each situation.
    private static let ownership: [(Situation, [Move])] = [
        (.idle, [.waits, .looks, .withdraws, .settles]),
        (.refused, [.waits]),
        (.resting, [.waits, .looks]),
        (.free, [.waits, .acquires, .settles]),
        (.behindRequest, [.waits, .looks, .buries, .removesRequest, .challenges, .challengesAgain, .settles]),
        (
            .behindExecutor,
            [
                .waits, .looks, .buries, .examines, .takesOverUnanswered, .asks, .challenges,
                .challengesAgain, .settles,
            ]
        ),
        (
            .behindMain,
            [
                .waits, .looks, .buries, .examines, .takesOverUnanswered, .asks, .challenges,
                .challengesAgain, .settles,
            ]
        ),
        (.asking, [.waits, .looks, .buries, .asks, .examines, .challenges, .challengesAgain]),
        (.askedNobody, [.waits, .acquires, .answers]),
        (.confirmed, [.waits, .kills, .announcesKill]),
        (.killed, [.waits, .looks, .buries]),
        (.cannotKill, [.waits, .takesOverLate, .replaces]),
        (.owning, [.waits, .starts, .answers, .releases]),
        (.starting, [.waits, .looks, .stops, .answers]),
        (.running, [.waits, .looks, .stops, .answers, .publishesRunning, .offersRest, .resumesCore]),
        (.stopping, [.waits, .looks, .answers, .publishesStopping, .givesUp]),
        (.ended, [.waits, .answers, .releases]),
        (.releasing, [.waits, .answers, .releases, .givesUp]),
        (.fencedRunning, [.stops]),
        (.fencedStopping, [.waits, .looks, .tellsGivenUp]),
        (.fencedEnded, [.tellsStopped]),
        (.offering, [.waits, .answers, .endsRest]),
        (.atRest, [.waits, .resumes]),
        (.leftAtRest, [.stops, .acquires]),
        (.behindRest, [.waits, .looks, .buries, .asks, .challenges, .wakes]),
        (.holdingNothing, [.waits, .looks, .presents]),
        (.offered, [.waits, .takesRest, .endsRest]),
        (.holding, [.waits, .buries, .answers, .wakes, .releases]),
        (.holdingWoken, [.waits, .answers, .wakesAgain, .givesUp]),
    ]

    /// The phases of an ownership machine's core, each with the next ones.
    private static let core: [(CorePhase, [CorePhase])] = [
        (.none, [.none]),
        (.starting, [.running, .stopping, .ended]),
        (.running, [.stopping]),
        (.stopping, [.stopping, .ended]),
    ]

    /// The outcomes of a kill.
    private static let handover: [(Enforcement, [Enforcement])] = [
        (.confirmed, [.killed, .impossible])
    ]

    /// The goals, each with the next ones.
    private static let goal: [(GoalKind, [GoalKind])] = [
        (.nothing, [.notStarted, .closes, .nobodyWaits]),
        (
            .own,
            [
                .insist, .closes, .nobodyWaits, .allServed, .budgetUsedUp, .boundPassed, .superseded, .coreFailed,
                .refused,
            ]
        ),
        (.insist, [.own, .closes, .nobodyWaits]),
        (.takeOver, [.own, .closes, .superseded, .coreFailed]),
        (.notStarted, [.own, .takeOver, .closes]),
        (.nobodyWaits, [.own, .insist, .closes]),
        (.allServed, [.own, .insist, .closes, .nobodyWaits, .budgetUsedUp]),
        (.budgetUsedUp, [.closes, .nobodyWaits]),
        (.boundPassed, [.budgetUsedUp]),
        (.superseded, [.closes]),
        (.coreFailed, [.closes, .superseded]),
        (.refused, [.closes]),
    ]

    /// The decisions about a core that runs for waiting calls.
    private static let policy: [(PolicyInput, [PolicyDecision])] = [
        (.unknown, [.run]),
        (.awaited, [.run, .spent]),
        (.quiet, [.run, .done, .spent]),
        (.busy, [.run]),
    ]

    /// The steps of a call for each state of its message.
    private static let wait: [(UInt8, [WaitMove])] = [
        (InboxKind.absent.rawValue * 2, [.timeout, .expect]),
        (InboxKind.absent.rawValue * 2 + 1, [.timeout, .waitForCore]),
        (InboxKind.stored.rawValue * 2, [.take]),
        (InboxKind.stored.rawValue * 2 + 1, [.take]),
        (InboxKind.taken.rawValue * 2, [.expect]),
        (InboxKind.taken.rawValue * 2 + 1, [.timeout, .wait]),
        (InboxKind.acknowledged.rawValue * 2, [.nothingToShow]),
        (InboxKind.acknowledged.rawValue * 2 + 1, [.nothingToShow]),
        (InboxKind.nothingToShow.rawValue * 2, [.nothingToShow]),
        (InboxKind.nothingToShow.rawValue * 2 + 1, [.nothingToShow]),
    ]

    /// The outcomes of operations on a message in each state.
    private static let inbox: [(InboxKind, [InboxMove])] = [
        (.absent, [.stores, .storesNothing, .acknowledges]),
        (.stored, [.storesNothing, .takes, .takesNothing, .expires]),
        (
            .taken,
            [
                .storesNothing, .takesNothing, .acknowledges, .acknowledgesNothing, .givesBack,
                .givesBackNothing, .holderEnds,
            ]
        ),
        (.acknowledged, [.storesNothing, .expires]),
        (.nothingToShow, [.storesNothing, .expires]),
    ]
}
