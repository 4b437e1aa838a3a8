/// A hand-over with a call, in one of its states.
///
/// The old owner has the call at the beginning. The new owner asks for the ownership; the third wants to own as well.
/// In a setting with a second offer, each of the two asks for the call that has moved. In a setting with a host, it
/// keeps batons beside the participant that gives them.
struct BatonState: Hashable {
    enum Life: UInt8 {
        case running, frozen, dead
    }

    /// How far a participant is.
    enum Phase: UInt8 {
        /// The participant has no goal.
        case idle
        /// The participant wants to own.
        case seeking
        /// The participant's core has the call.
        case active
        /// The participant's core has stopped sending and has given the baton (step 2).
        case quiet
        /// The host has been sent the duplicates (step 3).
        case depositing
        /// The participant is about to commit the release with the record (step 4).
        case offering
        /// The participant has released.
        case released
        /// The participant has acquired, and has not checked for a baton (step 5).
        case starting
        /// The participant requests the duplicates (step 6).
        case fetching
        /// The participant has the duplicates, and has sent nothing.
        case prepared
        /// The participant cannot use the baton, and is about to record that.
        case failing
        /// The participant has no baton, and is about to end the calls of earlier ownerships.
        case endingLost
        /// The commit that gives the participant the call has succeeded (step 7), and it has sent nothing.
        case applied
        /// The participant's core runs without the call.
        case running
        case dead
    }

    struct Participant: Hashable {
        var life = Life.running
        /// True if the end of the participant's session is recorded.
        var isReaped = false
        var phase: Phase
        /// The epoch under which the participant believes to own; 0 for none.
        var epoch: UInt8 = 0
        /// The time for which the participant has waited for an answer.
        var waited: UInt8 = 0
        /// The time for which the participant has been frozen, up to the longest wait of another participant.
        var silent: UInt8 = 0
        /// The number of the baton of which the participant's core has the descriptors and the bytes; 0 for none.
        var holds: UInt8 = 0
        /// The number of the baton of which the participant keeps duplicates, for others and a later core of its own; 0
        /// for none.
        var keeps: UInt8 = 0
        /// The baton that the participant has offered without having learned the outcome; 0 for none.
        var awaits: UInt8 = 0
        /// True while the participant sends media and requests of the call.
        var sends = false
        /// True if the participant has the call but no place in the group: it has to end the call over the network.
        var mustHangUp = false
    }

    /// The part of the store that shows the outcome of a baton.
    struct View: Hashable {
        var epoch: UInt8 = 0
        var isOwned = false
        /// The baton that is offered; 0 for none.
        var offered: UInt8 = 0
    }

    enum Record: UInt8 {
        case none, offered, failed
    }

    var old = Participant(phase: .active, epoch: 1, holds: 1, sends: true)
    var new = Participant(phase: .idle)
    var third = Participant(phase: .seeking)

    var hostLife: Life
    /// The batons with duplicates that wait in the host's socket, that the host keeps, and that it has confirmed; 0 for
    /// none.
    var hostMail: UInt8 = 0
    var hostHolds: UInt8 = 0
    var hostAnswered: UInt8 = 0
    /// The epoch of the owner that has sent the latest baton to the host.
    var senderEpoch: UInt8 = 0
    /// The store as the host has seen it last: at first, from before the old owner acquired.
    var hostView = View()

    /// The owner's place among the participants, from 1; 0 for none.
    var owner: UInt8 = 1
    var epoch: UInt8 = 1
    /// The place of the author of the request that stands, from 1; 0 for none.
    var asker: UInt8 = 0
    var record = Record.none
    /// The number of the baton in the record, the place of the participant that gave it, and whether the host has it as well.
    var number: UInt8 = 0
    var giver: UInt8 = 0
    var isAtHost = false
    /// True while the record of the call is open; `callEpoch` is the epoch that wrote it last.
    var isCallOpen = true
    var callEpoch: UInt8 = 1
    /// True if bytes of the baton are in the store.
    var storeHasBytes = false

    /// The number of the latest baton that was sealed, for how long it has been, and for how long the one before it.
    var sealed: UInt8 = 0
    var age: UInt8 = 0
    var formerAge: UInt8 = 0

    // For the rules alone:
    /// The number of the baton that was applied last; 0 for none.
    var applied: UInt8 = 0
    var wasAppliedTwice = false
    /// The number of times that the record of the call has ended.
    var endings: UInt8 = 0
    /// True if the call was ended over the network.
    var isHungUp = false
    /// True if the giver, as a keeper, has been dead or frozen since the offer; the next is the same of the host.
    var hasGiverFailed = false
    var hasHostFailed = false

    var deathsLeft: UInt8
    var freezesLeft: UInt8
    /// How many cores may fail before they have used the baton.
    var failuresLeft: UInt8
    var offersLeft: UInt8

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

    var view: View { View(epoch: epoch, isOwned: owner != 0, offered: offered) }
    /// The baton that is offered; 0 for none.
    var offered: UInt8 { record == .offered ? number : 0 }

    /// For how long a baton has been sealed.
    func age(of number: UInt8) -> UInt8 { number < sealed ? formerAge : number == sealed ? age : 0 }

    func life(of number: Int) -> Life { number == Self.host ? hostLife : self[number].life }

    /// Returns true if a participant owns under the epoch that it believes to own under.
    func owns(_ number: Int) -> Bool { owner == number + 1 && epoch == self[number].epoch }

    /// Which step of the protocol was taken last; 0 before the first, and where it has come off.
    var stage: Int {
        let phases = Self.participants.map { self[$0].phase }
        if phases.contains(.applied) { return 7 }
        if record == .offered { return owner == 0 ? 4 : phases[Int(owner) - 1] == .prepared ? 6 : 5 }
        if phases.contains(.quiet) { return 2 }
        if phases.contains(.depositing) || phases.contains(.offering) { return 3 }
        if owner != 0, phases[Int(owner) - 1] == .active { return asker != 0 ? 1 : applied > 0 ? 8 : 0 }
        return 0
    }
}
