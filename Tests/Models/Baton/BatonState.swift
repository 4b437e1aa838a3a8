/// A hand-over with a call, in one of its states.
///
/// The old owner has the call at the beginning. The new owner asks for the ownership; the third wants to own as well, and does
/// not ask. The host keeps the baton beside the old owner, where the setting has one.
struct BatonState: Hashable {
    enum Life: UInt8 {
        case running, frozen, dead
    }

    /// How far a participant is.
    enum Phase: UInt8 {
        /// It wants nothing.
        case idle
        /// It wants to own.
        case seeking
        /// Its core has the call.
        case active
        /// Its core has stopped sending and has given the baton (step 2).
        case quiet
        /// The host has been sent the duplicates (step 3).
        case depositing
        /// It is about to commit the release with the record (step 4).
        case offering
        /// It has released.
        case released
        /// It has acquired, and has not looked whether there is a baton (step 5).
        case starting
        /// It asks for the duplicates (step 6).
        case fetching
        /// It has them, and has sent nothing.
        case prepared
        /// It cannot use the baton, and is about to say so.
        case failing
        /// It has no baton, and is about to end the calls of earlier ownerships.
        case endingLost
        /// The commit that gives it the call has succeeded (step 7), and it has sent nothing.
        case applied
        /// Its core runs without the call.
        case running
        case dead
    }

    struct Participant: Hashable {
        var life = Life.running
        /// Whether the end of its session is recorded.
        var isReaped = false
        var phase: Phase
        /// The epoch that it believes to own under; 0 for none.
        var epoch: UInt8 = 0
        /// How long it has waited for an answer.
        var waited: UInt8 = 0
        /// How long it has been frozen, up to what others wait for.
        var silent: UInt8 = 0
        /// Whether it has the descriptors and the bytes.
        var holds = false
        /// Whether it sends media and requests of the call.
        var sends = false
        /// Whether it has the call alone, without a place in the group: it is to end it over the network.
        var mustHangUp = false
    }

    /// The part of the store that says what became of a baton.
    struct View: Hashable {
        var epoch: UInt8 = 0
        var isOfOldOwner = false
        var isOffered = false
    }

    enum Record: UInt8 {
        case none, offered, failed
    }

    var old = Participant(phase: .active, epoch: 1, holds: true, sends: true)
    var new = Participant(phase: .idle)
    var third = Participant(phase: .seeking)

    var hostLife: Life
    /// Whether the duplicates wait in its socket.
    var hostHasMail = false
    var hostHolds = false
    /// Whether it has said that it keeps them.
    var hostHasAnswered = false
    /// The store as it has seen it last: at first, from before the old owner acquired.
    var hostView = View()

    /// The owner's place among the participants, from 1; 0 for none.
    var owner: UInt8 = 1
    var epoch: UInt8 = 1
    /// Whether the new owner's request stands.
    var isAsked = false
    var record = Record.none
    /// Whether the record names the host beside the old owner.
    var isAtHost = false
    /// Whether the record of the call is open, and the epoch under which it was written last.
    var isCallOpen = true
    var callEpoch: UInt8 = 1
    /// Whether bytes of the baton stand in the store.
    var storeHasBytes = false

    /// Whether the old owner has offered a baton and has not heard what became of it.
    var oldAwaits = false
    /// For how long the baton has been sealed.
    var age: UInt8 = 0
    var isSealed = false

    /// For the rules alone: how often the baton was applied and the record of the call ended, whether the call was ended over the
    /// network, and which keepers have been dead or frozen since the offer.
    var applications: UInt8 = 0
    var endings: UInt8 = 0
    var isHungUp = false
    var hasOldFailed = false
    var hasHostFailed = false

    var deathsLeft: UInt8
    var freezesLeft: UInt8
    /// How many cores may fail before they have used the baton.
    var failuresLeft: UInt8

    static let participants = 0..<3
    static let oldOwner = 0
    static let newOwner = 1
    static let host = 3
    static let names = ["the old owner", "the new owner", "the third", "the host"]

    subscript(_ number: Int) -> Participant {
        get { number == 0 ? old : number == 1 ? new : third }
        set {
            switch number {
            case 0: old = newValue
            case 1: new = newValue
            default: third = newValue
            }
        }
    }

    var view: View { View(epoch: epoch, isOfOldOwner: owner == 1, isOffered: record == .offered) }

    func life(of number: Int) -> Life { number == Self.host ? hostLife : self[number].life }

    /// Whether a participant owns, under the epoch that it believes to own under.
    func owns(_ number: Int) -> Bool { owner == number + 1 && epoch == self[number].epoch }

    /// Which step of the protocol was taken last; 0 before the first, and where it has come off.
    var stage: Int {
        if applications > 0 { return Self.participants.contains { self[$0].phase == .applied } ? 7 : 8 }
        if record == .offered {
            guard owner != 0 else { return 4 }
            return self[Int(owner) - 1].phase == .prepared ? 6 : 5
        }
        switch old.phase {
        case .active: return isAsked ? 1 : 0
        case .quiet: return 2
        case .depositing, .offering: return 3
        default: return 0
        }
    }
}
