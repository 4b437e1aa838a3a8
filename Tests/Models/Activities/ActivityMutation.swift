/// A protection of the design that a model lacks. Some rule has to be broken then.
enum ActivityMutation: String, CaseIterable, Sendable {
    case answersForOwner = "an activity answers the challenge of its frozen owner"
    case noChallenge = "a Main that waits for an activity does not challenge its owner"
    case executorWaits = "an Executor waits for another's activity before it challenges"
    case announceAnyway = "an end is announced although the owner has answered"
    case policyStops = "the policy stops a core in an activity"
    case policyWithoutBound = "the policy keeps a core past the bound of its activity"
    case handoverInActivity = "an owner hands over in an activity"
    case ownerWithoutBound = "an owner that is asked keeps its core past the bound"
    case mainWithoutBound = "a Main waits for an activity past the bound"
    case firstBound = "an owner stops at the first bound, not the last"
    case deadlineFromRequest = "the deadline counts from the request, not from the end of the activity"
    case acquirePastRequest = "an Executor acquires past the request of a Main"
    case beginPastRequest = "an activity begins while a request stands"
    case beginUnderFormerEpoch = "an activity begins without asking for its epoch"
    case renewedBound = "a bound is renewed while a request stands"
    case outlivesEpoch = "an activity outlives its epoch"
    case insistIgnored = "an owner does not hear that a Main insists"
    case insistOnlyAtFirst = "a Main that insists later does not write it"
    case stopBoundIgnored = "a Main grants no time to a core that stops"
    case noGate = "an Executor does not ask what its core is beginning"
    case openGate = "a core that is to stop begins an activity"
    case seenApart = "a request is read without the activities"
    case untoldBound = "a core is not told that its bound has passed"
    case noReplacement = "a Main that takes over and insists waits behind one that waits"
    case replacementWithoutAsking = "a Main replaces a request without asking whether it insists"

    /// The setting in which the search finds it.
    var setting: ActivitySetting {
        switch self {
        case .mainWithoutBound: .otherClock
        case .firstBound: .twoActivities
        case .stopBoundIgnored: .hang
        case .noReplacement, .replacementWithoutAsking: .takeOver
        default: .faults
        }
    }
}
