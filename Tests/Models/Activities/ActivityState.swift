/// A group with work in progress in one of its states: the content of the store, and the participants.
struct ActivityState: Hashable {
    enum Party: UInt8, CaseIterable, CustomStringConvertible {
        case main, executor, secondExecutor
        /// The second Main, which takes over and may insist.
        case secondMain

        var isMain: Bool { self == .main || self == .secondMain }

        var description: String {
            switch self {
            case .main: "Main"
            case .executor: "the Executor"
            case .secondExecutor: "the second Executor"
            case .secondMain: "the second Main"
            }
        }
    }

    enum Life: UInt8 {
        case running, frozen
        /// The process has ended, and the end is not recorded yet.
        case dead
    }

    enum Phase: UInt8 { case away, seeking, owning }

    enum Core: UInt8 {
        case none, running, stopping
        /// The core was told to stop, and does not stop.
        case stuck
    }

    enum Request: UInt8 { case none, patient, insisting }
    enum Challenge: UInt8 { case none, open, answered }

    /// A call of the core that begins or ends an activity.
    enum Call: UInt8 { case begin, beginSecond, end, endSecond }

    /// Why a core is told to stop.
    enum Reason: UInt8 { case served, closing, handover, insisted, bound, superseded }

    /// The entries of ownership, as far as commits rely on them.
    struct Keys: OptionSet, Hashable {
        let rawValue: UInt8

        /// The revision of the owner's entry, or its absence.
        static let owner = Keys(rawValue: 1)
        /// The creation revision of the owner's entry.
        static let epoch = Keys(rawValue: 2)
        static let handover = Keys(rawValue: 4)
        static let challenge = Keys(rawValue: 8)
    }

    struct Participant: Hashable {
        var life = Life.running
        var phase = Phase.away
        var core = Core.none
        /// True if a call of this Executor waits for a message, or this Main wants to own.
        var wants = false
        /// True if this Main takes over without waiting for activities.
        var insists = false
        /// The commit that the participant has decided on. It is refused as soon as something changes that it relies on.
        var pending: Commit?
        /// The same of its core.
        var call: Call?
        /// The activities that the participant's core has begun and not ended.
        var works: UInt8 = 0
        /// The activities and the request as the owner has read them last. `isSeenRequestCurrent` is true while that
        /// request stands.
        var seenOpen: UInt8 = 0
        var seenRequest = Request.none
        var isSeenRequestCurrent = false
        /// True if an activity has begun that the participant has not read.
        var hasBegunUnseen = false
        /// The reason with which the participant's core was told to stop. `isReasonOver` is true if the request behind
        /// it no longer stood.
        var reason: Reason?
        var isReasonOver = false
        /// The ticks for which the participant has been able to run, up to the longest that another may wait for it.
        var ran = ActivityModel.answerBound
        /// The number of the participant's ticks for which it has waited since its request; of those, since the owner
        /// was not busy; and since the owner has published that it stops.
        var waited: UInt8 = 0
        var waitedIdle: UInt8 = 0
        var waitedStopping: UInt8 = 0
        /// The number of the participant's ticks for which it has seen a challenge without an answer.
        var silence: UInt8 = 0
        /// The ticks since the participant's core was told to stop.
        var stopped: UInt8 = 0

        var canRun: Bool { life == .running }
    }

    var owner: Party?
    /// True if the owner's entry says that its core is stopping.
    var isStopping = false
    var request = Request.none
    var author: Party?
    /// True if the request announces that its author kills the owner.
    var isKilling = false
    var challenge = Challenge.none
    /// The activities on record, and for how many ticks each has been open.
    var open: UInt8 = 0
    var age: UInt8 = 0
    var secondAge: UInt8 = 0
    /// For how many ticks a participant that can run has waited for a frozen owner.
    var waitedForFrozen: UInt8 = 0

    var main = Participant()
    var executor = Participant()
    var third = Participant()

    var deathsLeft: UInt8
    var freezesLeft: UInt8
    var hangsLeft: UInt8

    subscript(_ party: Party) -> Participant {
        get {
            switch party {
            case .main: main
            case .executor: executor
            case .secondExecutor, .secondMain: third
            }
        }
        set {
            switch party {
            case .main: main = newValue
            case .executor: executor = newValue
            case .secondExecutor, .secondMain: third = newValue
            }
        }
    }

    /// Every field is one byte, so there is no padding between them, and one call hashes all.
    func hash(into hasher: inout Hasher) {
        withUnsafeBytes(of: self) { hasher.combine(bytes: $0) }
    }
}

extension ActivityState {
    /// A commit of a participant.
    enum Commit: UInt8 {
        case acquire, supersede, ask, insist, replace, removeRequest, challenge, answer
        /// The owner says that its core stops, releases, and releases although its core does not stop.
        case publish, release, giveUp
        /// Past the deadline, and for an owner that does not answer.
        case announce, announceSilent, fence, fenceSilent

        var words: String {
            switch self {
            case .acquire: "acquires what is free"
            case .supersede: "supersedes an owner that does not answer"
            case .ask: "asks for ownership"
            case .insist: "writes that it insists"
            case .replace: "replaces the request of a Main that waits for activities"
            case .removeRequest: "removes the request of a Main that does not answer"
            case .challenge: "challenges the owner"
            case .answer: "answers a challenge"
            case .publish: "says that its core stops"
            case .release: "releases"
            case .giveUp: "releases with a core that does not stop"
            case .announce: "announces the kill of an owner that did not hand over"
            case .announceSilent: "announces the kill of an owner that did not answer"
            case .fence: "supersedes an owner that did not hand over"
            case .fenceSilent: "supersedes an owner that was asked and did not answer"
            }
        }
    }
}

/// Something that happens.
enum ActivityStep: Hashable, CustomStringConvertible {
    typealias Party = ActivityState.Party

    /// A participant reads the store and decides on a commit; it makes the commit.
    case decide(Party, ActivityState.Commit), commit(Party, ActivityState.Commit)
    /// The core calls, and the call commits.
    case call(Party, ActivityState.Call), commitCall(Party, ActivityState.Call)
    /// The activity is renewed, by a mutation.
    case renew(Party)
    /// An owner sees activities and request.
    case look(Party)
    case startCore(Party), stop(Party, ActivityState.Reason), stopped(Party), abandon(Party), hang(Party)
    /// A Main kills the owner after announcing it.
    case kill(Party)
    case seek(Party), leave(Party), refused(Party)
    /// A Main starts, insists, and ends its goal; an Executor's call comes; the owner's core delivers all messages.
    case start(Party), insist(Party), end(Party), push(Party), serve
    case freeze(Party), thaw(Party), die(Party), reap(Party)
    case tick

    var description: String {
        switch self {
        case .decide(let party, let commit): "\(party) decides: \(commit.words)"
        case .commit(let party, let commit): "\(party) commits: \(commit.words)"
        case .call(let party, let call): "the core of \(party) calls: \(call)"
        case .commitCall(let party, let call): "the core of \(party) commits: \(call)"
        case .renew(let party): "the core of \(party) begins its open activity again"
        case .look(let party): "\(party) sees the activities and the request"
        case .startCore(let party): "\(party) starts its core"
        case .stop(let party, let reason): "\(party) tells its core to stop: \(reason)"
        case .stopped(let party): "the core of \(party) has stopped"
        case .abandon(let party): "\(party) abandons its core"
        case .hang(let party): "the core of \(party) does not stop"
        case .kill(let party): "\(party) kills the owner"
        case .seek(let party): "\(party) seeks ownership again"
        case .leave(let party): "\(party) leaves"
        case .refused(let party): "\(party) is refused"
        case .start(let party): "\(party) starts"
        case .insist(let party): "\(party) insists"
        case .end(let party): "\(party) does not want to own any more"
        case .push(let party): "\(party) is pushed"
        case .serve: "the core delivers the message"
        case .freeze(let party): "\(party) is frozen"
        case .thaw(let party): "\(party) goes on"
        case .die(let party): "\(party) is killed"
        case .reap(let party): "the session of \(party) is ended"
        case .tick: "a tick passes"
        }
    }
}
