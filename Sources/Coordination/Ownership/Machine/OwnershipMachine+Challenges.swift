package import CoreAPI

/// How a holder proves that it runs, and how a waiting participant detects that it does not.
///
/// Source: contract C6.
extension OwnershipMachine {
    /// An unanswered challenge, as the waiting participant saw it.
    package struct Silence: Hashable, Sendable {
        package let challenge: Revision
        package let answer: Revision?
        /// How long the holder has had to answer, in whole milliseconds.
        let waited: Duration
    }

    /// The knowledge of a waiting participant about whether a holder is alive.
    package enum Life: Hashable, Sendable {
        /// Not known yet: the wait continues.
        case unknown
        /// The holder has answered since the wait began.
        case proved
        /// The holder has not answered a challenge within its time.
        case absent(Silence)
        /// Challenge the holder, or check its process.
        case act(Directive)
    }

    /// Answers a challenge to an ownership or a request of this participant.
    package mutating func answer() -> Directive? {
        guard let challenge = view.challenge else { return nil }
        let key: Key
        if holding?.epoch == challenge.record.claim {
            key = OwnershipKey.owner
        } else if let handover = view.handover, handover.session == myself.session,
            handover.claim == challenge.record.claim
        {
            key = OwnershipKey.handover
        } else {
            return nil
        }
        guard !isAnswered(challenge) else { return nil }
        var transaction = Transaction()
        transaction.require(.epoch(key, challenge.record.claim))
        transaction.put(
            OwnershipKey.answer,
            AnswerRecord(claim: challenge.record.claim, challenge: challenge.revision).bytes, lifetime: .session)
        return .commit(Transition(transaction: transaction))
    }

    /// Determines whether the holder of a claim is alive.
    ///
    /// - Parameters:
    ///   - holder: Its session. If this session makes a challenge itself, that proves that it runs, as an answer does.
    ///   - process: Its process, if known.
    ///   - lease: How long the holder's session may last, and its core run, while the holder cannot reach the group to
    ///     answer.
    ///   - isUrgent: True to make the first challenge at once, instead of after a random delay that spreads the
    ///     challenges of a hundred waiting participants.
    package mutating func life(
        of claim: Revision, by holder: SessionID, in process: ProcessIdentity? = nil, lease: Duration? = nil,
        isUrgent: Bool, at now: BootInstant
    ) -> Life {
        var watched = watched ?? begin(claim, by: holder, isUrgent: isUrgent, at: now)
        // An ownership keeps its claim when it moves to a holder for a rest and back, so compare the session of the
        // holder as well.
        if watched.claim != claim || watched.holder != holder {
            watched = begin(claim, by: holder, isUrgent: isUrgent, at: now)
        }
        watched.lease = lease
        defer { self.watched = watched }

        if let challenge = view.challenge, challenge.record.claim == claim {
            guard isAnswered(challenge) else { return awaitAnswer(to: challenge, of: process, in: &watched, at: now) }
            watched.endSilence()
            if watched.lastAnswered != challenge.revision {
                watched.lastAnswered = challenge.revision
                if let answer = view.answer, answer.revision > watched.since {
                    let spread = random.duration(below: rules.challengeSpread)
                    watched.nextChallenge = now.advanced(by: rules.answerLifetime + spread)
                }
            }
        } else if let challenge = view.challenge, challenge.session == holder, challenge.revision > watched.since,
            watched.lastAnswered != challenge.revision
        {
            // There is one challenge at a time. If participants replaced each other's challenges, they would do so
            // without end.
            watched.endSilence()
            watched.lastAnswered = challenge.revision
            watched.hasChallenged = true
            let spread = random.duration(below: rules.challengeSpread)
            watched.nextChallenge = now.advanced(by: rules.answerLifetime + spread)
        }
        if watched.nextChallenge <= now { return .act(challenge(claim)) }
        wake(at: watched.nextChallenge)
        if watched.hasChallenged { return .proved }
        guard let answer = view.answer, answer.record.claim == claim, answer.session == holder,
            answer.revision > watched.since
        else { return .unknown }
        return .proved
    }

    /// Begins to watch the holder of a claim.
    ///
    /// If other participants wait already, a new one leaves the first challenge to them for
    /// ``OwnershipRules/answerLifetime``. Otherwise each participant of a burst would challenge, and each challenge and
    /// each answer would wake all waiting participants.
    private mutating func begin(
        _ claim: Revision, by holder: SessionID, isUrgent: Bool, at now: BootInstant
    ) -> WatchedClaim {
        let spread = isUrgent ? .zero : random.duration(below: rules.challengeSpread)
        let wait = waitsBehindOthers && !isUrgent ? rules.answerLifetime + spread : spread
        waitsBehindOthers = false
        return WatchedClaim(claim: claim, holder: holder, since: view.revision, nextChallenge: now.advanced(by: wait))
    }

    private mutating func awaitAnswer(
        to challenge: Standing<ChallengeRecord>, of process: ProcessIdentity?, in watched: inout WatchedClaim,
        at now: BootInstant
    ) -> Life {
        var waitingTime = watched.waitingTime ?? RunningTime(from: now)
        waitingTime.count(to: now)
        watched.waitingTime = waitingTime
        let reminder = rules.answerBound / 2
        if challenge.record.first == nil, waitingTime.elapsed >= reminder {
            // The wake-up of the first challenge may have been lost; a second one costs the holder nothing.
            return .act(self.challenge(challenge.record.claim, again: challenge.revision))
        }
        var bound = reminder
        if challenge.record.first != nil {
            // The store may have refused the repeated challenge for a long time. The holder may learn of the challenge
            // only by this repetition, so its time to answer counts from there.
            let remindedAt = min(watched.remindedAt ?? waitingTime.elapsed, waitingTime.elapsed)
            watched.remindedAt = remindedAt
            bound = max(rules.answerBound, remindedAt + reminder)
        }
        guard waitingTime.elapsed >= bound else {
            wake(at: waitingTime.nextCount(limit: bound))
            return .unknown
        }
        if let process, watched.wasSeenStopped == nil {
            return .act(.examine(process, claim: challenge.record.claim))
        }
        let busyBound = rules.busyAnswerBound + (watched.lease ?? .zero)
        if let process, watched.wasSeenStopped == false, waitingTime.elapsed < busyBound {
            // A process that was running at an earlier check may be stopped now, so check it again for this challenge.
            let isAnew = waitingTime.elapsed < watched.lastExamination
            let next = isAnew ? rules.answerBound : watched.lastExamination + rules.answerBound
            if waitingTime.elapsed >= next { return .act(.examine(process, claim: challenge.record.claim)) }
            wake(at: waitingTime.nextCount(limit: min(next, busyBound)))
            return .unknown
        }
        return .absent(
            Silence(
                challenge: challenge.revision, answer: view.answer?.revision,
                waited: .milliseconds(waitingTime.elapsed.wholeMilliseconds)))
    }

    /// Records the state of a silent holder's process. A process that cannot be seen counts as stopped, unless its
    /// session has a lease: it may be cut off and still run.
    package mutating func examined(_ claim: Revision, isStopped: Bool?) {
        guard let watched, watched.claim == claim, let waitingTime = watched.waitingTime else { return }
        self.watched?.wasSeenStopped = isStopped ?? (watched.lease == nil)
        self.watched?.lastExamination = waitingTime.elapsed
    }

    private func challenge(_ claim: Revision, again first: Revision? = nil) -> Directive {
        var transaction = Transaction()
        transaction.require(
            view.challenge.map { .revision(OwnershipKey.challenge, $0.revision) } ?? .absent(OwnershipKey.challenge))
        transaction.put(OwnershipKey.challenge, ChallengeRecord(claim: claim, first: first).bytes)
        return .commit(Transition(transaction: transaction))
    }

    func isAnswered(_ challenge: Standing<ChallengeRecord>) -> Bool { view.isAnswered(challenge) }
}

extension OwnershipView {
    /// Returns true if the process that now answers for a claim has answered a challenge. An answer that the resting
    /// Main gave before its rest does not count for the holder that owns in its place.
    package func isAnswered(_ challenge: Standing<ChallengeRecord>) -> Bool {
        guard let answer, answer.record.claim == challenge.record.claim,
            answer.session == answerer(of: challenge.record.claim)
        else { return false }
        return answer.record.challenge >= challenge.record.first ?? challenge.revision
    }
}

/// A waiting participant's record of the life of a holder.
package struct WatchedClaim: Hashable, Sendable {
    /// The claim of the holder.
    package let claim: Revision
    /// The session that has it.
    package let holder: SessionID
    /// The revision at which the participant began to wait for it: a later answer is a sign of life.
    package let since: Revision
    /// The earliest time of the next challenge.
    package var nextChallenge: BootInstant
    /// The last challenge that it answered, or that it made.
    package var lastAnswered: Revision?
    /// How long its session may last although it cannot answer; nil if the session ends with its process.
    package var lease: Duration?
    /// True if the holder has made a challenge since the wait began.
    package var hasChallenged = false
    /// How long the present challenge has been unanswered; nil if there is none.
    package var waitingTime: RunningTime?
    /// The time for which the challenge had been unanswered when it was repeated; nil if it was not repeated.
    package var remindedAt: Duration?
    /// True if the process was seen stopped after the challenge had been unanswered long enough; nil before the check.
    package var wasSeenStopped: Bool?
    /// The value of ``waitingTime`` when the process was last checked.
    package var lastExamination = Duration.zero

    /// Records that no challenge is unanswered any more.
    fileprivate mutating func endSilence() {
        waitingTime = nil
        remindedAt = nil
        wasSeenStopped = nil
    }
}
