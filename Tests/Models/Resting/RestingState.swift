/// A participant of the model of a sleeping owner. A group has a Main, a holder and one of the other two.
enum Party: UInt8, Hashable, CustomStringConvertible {
    case main, holder, executor, secondMain

    var isMain: Bool { self == .main || self == .secondMain }

    var description: String {
        switch self {
        case .main: "Main"
        case .holder: "the holder"
        case .executor: "the Executor"
        case .secondMain: "the second Main"
        }
    }
}

/// The changes that a participant makes to the store, each in one guarded commit.
enum Commit: UInt8, Hashable {
    // Commits of each participant that waits for ownership, and of each owner.
    case acquire, acquirePastRest, supersede, fence, ask, removeRequest, challenge, answer, release, startCore
    // Commits of a Main that rests.
    case offer, withdraw, resume, reacquire, letGo
    // Commits of the holder.
    case take, refuse, releaseOfDead, releaseOfSilent
    // Commits of the holder, and of each participant that waits.
    case wake, wakeAgain

    var words: String {
        switch self {
        case .acquire: "acquires what is free"
        case .acquirePastRest: "acquires past a Main that does not resume"
        case .supersede: "supersedes an owner that does not answer"
        case .fence: "supersedes an owner that did not hand over"
        case .ask: "asks for ownership"
        case .removeRequest: "removes the request of a Main that does not answer"
        case .challenge: "challenges the owner"
        case .answer: "answers a challenge"
        case .release: "releases"
        case .startCore: "starts a core"
        case .offer: "offers ownership to the holder"
        case .withdraw: "withdraws the offer"
        case .resume: "resumes"
        case .reacquire: "acquires again, because the holder is gone"
        case .letGo: "ends its rest, because another Main has asked and the holder is gone"
        case .take: "takes ownership for a Main that rests"
        case .refuse: "refuses the offer"
        case .releaseOfDead: "releases for a Main that has ended"
        case .releaseOfSilent: "releases for a Main that has not resumed"
        case .wake: "wakes the Main that rests"
        case .wakeAgain: "wakes it again"
        }
    }
}

/// The actions of a participant in its own process.
enum Move: UInt8, Hashable {
    case stopCore, seek, goOn, fallAsleep, look, deliver, leave, accept, launch

    var words: String {
        switch self {
        case .stopCore: "stops its core"
        case .seek: "has lost ownership, and seeks it"
        case .goOn: "goes on with its core, because its offer was refused"
        case .fallAsleep: "falls asleep"
        case .look: "looks at its rest"
        case .deliver: "delivers the message of the push"
        case .leave: "ends, because its push is served"
        case .accept: "is refused, because another Main answers"
        case .launch: "starts an Executor for the push"
        }
    }
}

/// One participant.
struct Participant: Hashable {
    enum Life: UInt8 {
        /// `dead`: the process has ended, and the end is not recorded yet. `gone`: the session has ended.
        case running, frozen, dead, gone
    }

    enum Phase: UInt8 {
        /// The participant does not take part; as the holder it holds for a Main.
        case away
        case seeking, owning
        /// A Main on its way to rest: it is about to offer, has offered, or rests.
        case offering, offered, asleep
        /// A Main that has seen a reason to wake.
        case waking
    }

    enum Core: UInt8 {
        case none, running
        /// The core does nothing, and stays registered at its server.
        case quiet
    }

    var life = Life.running
    var phase = Phase.away
    var core = Core.none
    /// True if the epoch of the participant's core is the owner's.
    var isInForce = false
    /// True if another participant ended its ownership because it could not run.
    var isSuperseded = false
    /// The commit that it has decided on.
    var pending: Commit?
    /// The entries that have not changed since that decision.
    var unchanged: Keys = []
    /// The number of awaited changes that have reached a Main at rest since its last read.
    var signals: UInt8 = 0
    /// True if the participant has its own reason to wake: data on a kept socket, its user, its keep-alive.
    var hasReason = false
    /// True if the owner that the participant has asked was at rest then.
    var askedAtRest = false
    /// True if this second Main has been opened before.
    var wasOpened = false
    /// The ticks for which the participant has been able to run.
    var ran: UInt8 = 0
    /// For how many of the participant's ticks its offer or its request has stood.
    var waited: UInt8 = 0
    /// The number of the participant's ticks for which it has seen a wake without a resume.
    var wakeWaited: UInt8 = 0
    /// The number of the participant's ticks for which it has seen a challenge without an answer.
    var silence: UInt8 = 0
    /// The ticks since the last read of a Main at rest.
    var slept: UInt8 = 0
    /// The ticks since the last fault for which the participant has sought ownership.
    var sought: UInt8 = 0

    var canRun: Bool { life == .running }
}

/// The entries of ownership, as far as commits rely on them.
struct Keys: OptionSet, Hashable {
    let rawValue: UInt8

    /// The revision of the owner's entry, or its absence.
    static let owner = Keys(rawValue: 1)
    /// The epoch: the creation revision of that entry. It stays when ownership moves to the holder and back.
    static let epoch = Keys(rawValue: 2)
    static let rest = Keys(rawValue: 4)
    static let wake = Keys(rawValue: 8)
    static let handover = Keys(rawValue: 16)
    static let challenge = Keys(rawValue: 32)

    static let all: Keys = [.owner, .epoch, .rest, .wake, .handover, .challenge]
}

/// A group in one of its states: the content of the store, and the participants.
struct RestingState: Hashable {
    enum Wake: UInt8 { case none, once, again }
    enum Challenge: UInt8 { case none, open, answered }
    enum Push: UInt8 {
        case none
        /// A host has the push in hand, and has started no Executor yet.
        case inHand
        /// An Executor waits for its message.
        case awaited
    }

    // The store. During a rest, the owner's entry is that of the holder, and there is a record of the rest.
    var owner: Party?
    /// The Main that offers ownership to a holder, or rests. Lives with its session.
    var rest: Party?
    var wake = Wake.none
    /// The Main that has asked.
    var handover: Party?
    var challenge = Challenge.none

    var push = Push.none
    /// For how many ticks since the last fault the push has stood.
    var pushAge: UInt8 = 0

    var main = Participant()
    var holder = Participant()
    var third = Participant()

    var deathsLeft: UInt8
    var freezesLeft: UInt8
    var lossesLeft: UInt8

    subscript(_ party: Party) -> Participant {
        get {
            switch party {
            case .main: main
            case .holder: holder
            case .executor, .secondMain: third
            }
        }
        set {
            switch party {
            case .main: main = newValue
            case .holder: holder = newValue
            case .executor, .secondMain: third = newValue
            }
        }
    }

    /// Every field is one byte, so there is no padding between them, and one call hashes all.
    func hash(into hasher: inout Hasher) {
        withUnsafeBytes(of: self) { hasher.combine(bytes: $0) }
    }

    /// True while a Main rests, with a holder that owns for it.
    var isAtRest: Bool { owner == .holder && rest != nil }
}

/// Something that happens.
enum RestingStep: Hashable, CustomStringConvertible {
    /// A participant reads the store and decides on a commit.
    case decide(Party, Commit)
    /// The party makes that commit.
    case commit(Party, Commit)
    case move(Party, Move)
    /// A Main's application lets it rest; a Main at rest has data on a kept socket, its user or its keep-alive.
    case wantRest(Party), wantWake(Party)
    case push
    /// An Executor is started for the push by hand, or by another host.
    case startExecutor
    case openSecondMain
    case freeze(Party), thaw(Party), die(Party), reap(Party), startAnew(Party)
    /// A signal to a Main at rest is lost.
    case lose(Party)
    case tick

    var description: String {
        switch self {
        case .decide(let party, let commit): "\(party) decides: \(commit.words)"
        case .commit(let party, let commit): "\(party) commits: \(commit.words)"
        case .move(let party, let move): "\(party) \(move.words)"
        case .wantRest(let party): "\(party) wants to rest"
        case .wantWake(let party): "\(party) has a reason to wake"
        case .push: "a push comes"
        case .startExecutor: "an Executor is started for the push, not by the holder"
        case .openSecondMain: "a second Main is opened"
        case .freeze(let party): "\(party) is frozen"
        case .thaw(let party): "\(party) goes on"
        case .die(let party): "\(party) is killed"
        case .reap(let party): "the session of \(party) is ended"
        case .startAnew(let party): "\(party) is started anew"
        case .lose(let party): "a signal to \(party) is lost"
        case .tick: "a tick passes"
        }
    }
}
