/// A hand-over with a call through a hub, in one of its states.
///
/// The old owner has the call at the beginning, under epoch 1, and gives one baton. The new owner asks for the ownership;
/// the third wants to own as well, through the hub or at its files. The sessions of the clients have leases.
struct HubBatonState: Hashable {
    enum Life: UInt8 {
        case running, frozen
        /// The participant runs, and can neither send to the hub nor receive from it.
        case cutOff
        case dead
    }

    /// How far a participant is.
    enum Phase: UInt8 {
        /// The participant has no goal.
        case idle
        /// The participant wants to own.
        case seeking
        /// The participant's core has the call.
        case active
        /// The participant's core has stopped sending, and the baton is under way to the hub (steps 2 and 3).
        case keeping
        /// The participant is about to commit the release with the record (step 4).
        case offering
        /// The participant is about to release without an offer, because the hub does not keep the baton.
        case releasing
        /// The commit of the release is done, and the participant has not received the answer.
        case offered
        /// The participant has released.
        case released
        /// The participant has acquired, and has not checked for a baton (step 5).
        case starting
        /// The participant requests the bytes from the hub (step 6).
        case fetching
        /// The participant has the bytes, and has sent nothing.
        case prepared
        /// The participant cannot use the baton, and is about to record that.
        case failing
        /// The participant has no baton, and is about to end the calls of earlier ownerships.
        case endingLost
        /// The commit that gives the participant the call has succeeded (step 7), but it does not know that yet.
        case applying
        /// The participant knows that the commit has succeeded, and has sent nothing.
        case applied
        /// The participant's core runs without the call.
        case running
        /// The participant's core has stopped because it was cut off, and it is about to release.
        case stopped
        /// The participant's session has ended, or it is dead.
        case gone
    }

    /// The message on its way between a participant and the hub.
    enum Mail: UInt8 {
        case none
        /// A request.
        case keep, fetch
        /// An answer.
        case kept, refused, bytes, noBytes
    }

    struct Participant: Hashable {
        var life = Life.running
        /// True if the end of the participant's session is recorded.
        var isOver = false
        var phase: Phase
        /// The epoch under which the participant believes to own; 0 for none.
        var epoch: UInt8 = 0
        /// The time for which the participant has waited for an answer.
        var waited: UInt8 = 0
        /// The time since the hub last received from the participant, up to the lease.
        var away: UInt8 = 0
        var mail = Mail.none
        /// True if the participant's core has the bytes, from the hub or of its own.
        var hasBytes = false
        /// True if the participant has offered the baton and has not learned the outcome.
        var awaits = false
        /// True while the participant sends media and requests of the call.
        var sends = false
        /// True if the participant has the call but no place in the group: it has to end the call over the network.
        var mustHangUp = false
    }

    enum Record: UInt8 {
        case none, offered, failed
    }

    /// The two entries that the hub reads.
    struct View: Hashable {
        /// The owner's place among the participants, from 1; 0 for none.
        var owner: UInt8 = 1
        var epoch: UInt8 = 1
        var isOffered = false
    }

    var old = Participant(phase: .active, epoch: 1, sends: true)
    var new = Participant(phase: .idle)
    var third: Participant

    var hubIsFrozen = false
    var hubHas = false
    /// True if the hub's bytes came from a session that does not own.
    var isForged = false
    /// The time for which the hub has kept the baton, in the hub's running time.
    var hubAge: UInt8 = 0
    /// The entries as the hub knows them. Changes by participants at the files reach it later.
    var hubView = View()

    var owner: UInt8 = 1
    var epoch: UInt8 = 1
    /// The place of the author of the request that stands, from 1; 0 for none.
    var asker: UInt8 = 0
    var record = Record.none
    var isCallOpen = true
    /// The epoch under which the record of the call was written last.
    var callEpoch: UInt8 = 1
    /// For how long the old owner's core has been quiet, by the time of the participants.
    var age: UInt8 = 0

    // Only the rules that are checked read the following:
    /// True if the hub was started anew since it kept the baton.
    var hasHubRestarted = false
    /// The number of times that the baton was applied.
    var applications: UInt8 = 0
    /// The number of times that the record of the call has ended.
    var endings: UInt8 = 0
    /// True if the call was ended over the network.
    var isHungUp = false

    var deathsLeft: UInt8
    var freezesLeft: UInt8
    var cutsLeft: UInt8
    var restartsLeft: UInt8
    var hubFreezesLeft: UInt8
    /// How often a session that does not own sends the hub a baton of the owner's epoch.
    var forgeriesLeft: UInt8

    static let participants = 0..<3
    static let oldOwner = 0
    static let newOwner = 1
    static let names = ["the old owner", "the new owner", "the third"]

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

    /// Normalizes the parts that no longer make a difference: times that nothing waits for, and the numbers of epochs.
    mutating func forget() {
        let isUnderWay = [.keeping, .offering, .releasing, .offered].contains(old.phase) || old.awaits
        if !isUnderWay { age = 0 }
        if !hubHas, hubAge <= HubBatonModel.lifetime || !isUnderWay, record != .offered { hubAge = 0 }
        if record != .offered, !isUnderWay, !hubHas { hasHubRestarted = false }
        let present = Set([1, epoch, callEpoch, hubView.epoch] + Self.participants.map { self[$0].epoch }).sorted()
        let first = present[0] == 0 ? 0 : 1
        func place(of epoch: UInt8) -> UInt8 { epoch == 0 ? 0 : UInt8((present.firstIndex(of: epoch) ?? 0) + first) }
        (epoch, callEpoch, hubView.epoch) = (place(of: epoch), place(of: callEpoch), place(of: hubView.epoch))
        for number in Self.participants {
            self[number].epoch = place(of: self[number].epoch)
            if self[number].life == .dead, self[number].isOver { self[number].away = 0 }
        }
    }

    var view: View { View(owner: owner, epoch: epoch, isOffered: record == .offered) }

    /// Returns true if a participant owns under the epoch that it believes to own under.
    func owns(_ number: Int) -> Bool { owner == number + 1 && epoch == self[number].epoch }

    /// Which step of the protocol was taken last; 0 before the first, and where it has come off.
    var stage: Int {
        let phases = Self.participants.map { self[$0].phase }
        if phases.contains(.applying) || phases.contains(.applied) { return 7 }
        if record == .offered { return owner == 0 ? 4 : phases[Int(owner) - 1] == .prepared ? 6 : 5 }
        if phases.contains(.offering) { return 3 }
        if phases.contains(.keeping) { return hubHas ? 3 : 2 }
        if owner != 0, phases[Int(owner) - 1] == .active { return asker != 0 ? 1 : applications > 0 ? 8 : 0 }
        return 0
    }
}
