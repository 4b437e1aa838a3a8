/// A protection of the design that a model lacks. Some rule has to be broken then.
enum RestingMutation: String, CaseIterable, Sendable {
    case releaseByEpochAlone = "the holder's release does not ask whether Main has resumed"
    case resumeWithoutAsking = "a resume does not ask whether the holder still owns"
    case coreBeforeResume = "Main's core goes on before its resume is committed"
    case sleepBeforeTake = "Main falls asleep before the holder has taken ownership"
    case noLookBeforeSleep = "Main falls asleep without a look at what came before"
    case takeOfWithdrawn = "the holder takes an offer that was withdrawn"
    case withdrawOfTaken = "Main withdraws an offer without asking whether it was taken"
    case takePastRequest = "the holder takes ownership past the request of another Main"
    case noLookForDead = "the holder does not see that the Main at rest has ended"
    case restOutlivesSession = "the record of rest outlives Main's session"
    case noRelease = "the holder does not release for a Main that does not resume"
    case noAnswer = "the holder answers no challenge"
    case noWake = "the holder does not wake Main"
    case wakeOnce = "no wake is repeated"
    case supersedeUnwoken = "a silent holder is superseded, and Main is not woken"
    case supersedeByEpochAlone = "a take-over does not ask whether ownership has moved"
    case acquirePastRest = "an acquisition past a record of rest"
    case acquireWithoutWaiting = "an acquisition past a Main at rest that had no time to resume"
    case reacquirePastRequest = "a Main whose holder is gone acquires past the request of another"
    case noPoll = "a Main at rest looks only when it is woken"
    case coreOutlivesEpoch = "a core at rest is not stopped when its epoch is over"
    case coreBesideRest = "a Main that acquires again starts a core beside the one at rest"
    case refusedBySleeper = "a second Main believes the holder's answer"
    case deadlineWithoutWake = "the deadline of a request does not wait for the wake"
    case restBesideCall = "a Main comes to rest again and again while a call waits for its message"
    case noOfferBound = "an offer has no bound"

    /// The setting in which the search finds the mutation.
    var setting: RestingSetting {
        switch self {
        case .sleepBeforeTake, .noLookBeforeSleep, .takeOfWithdrawn, .withdrawOfTaken, .noOfferBound, .restBesideCall,
            .coreOutlivesEpoch:
            .twoFreezes
        case .wakeOnce, .noPoll: .lostSignal
        case .refusedBySleeper, .supersedeByEpochAlone: .twoMains
        case .takePastRequest, .reacquirePastRequest: .takeOver
        case .deadlineWithoutWake: .takeOverAndLostSignal
        default: .faults
        }
    }
}
