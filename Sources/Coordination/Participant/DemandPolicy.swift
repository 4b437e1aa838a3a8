package import CoreAPI

/// A participant's goal concerning ownership, derived from the requests of its application, the state of its cores, the
/// waits of others in the group, and its losses.
///
/// A value without I/O or clock, as ``OwnershipMachine`` is. Before each step of the machine,
/// ``goal(holding:core:at:)`` computes the goal.
///
/// Source: contract C2, C9, C14, C16.
package struct DemandPolicy: Sendable {
    /// The pause before a participant starts a core again after a failure. It doubles with each further failure in a
    /// row.
    private static let firstRest = Duration.seconds(1)
    private static let longestRest = Duration.seconds(30)
    /// How long a Main's core must run so that its failure does not count as one more in a row.
    private static let steadyRun = Duration.seconds(30)
    /// The number of failures in a row after which a Main gives up.
    package static let longestRow = 10

    /// One call's need for a core.
    package struct Need: Hashable, Sendable {
        package var insists: Bool
        /// True if a call that insists waits behind a Main instead of being refused.
        package var waitsItsTurn = false
        /// The identity of the missing message; nil if the call needs a core in any case.
        package var id: MessageID?
        /// The epoch under which a core runs for this need; the need ends with that ownership. Nil before the ownership
        /// begins.
        package var epoch: Revision?

        package init(insists: Bool, waitsItsTurn: Bool = false, id: MessageID? = nil) {
            self.insists = insists
            self.waitsItsTurn = waitsItsTurn
            self.id = id
        }
    }

    /// The last problem of a core here.
    package struct CoreProblem: Hashable, Sendable {
        package let epoch: Revision
        package let text: String
        /// The reaction of the participant to the problem, as text for the timeline; nil if there is none.
        package let consequence: String?

        /// The problem with its consequence.
        package var sentence: String { consequence.map { "\(text); \($0)" } ?? text }
    }

    private let isMain: Bool
    /// How long an Executor's core may run.
    private let budget: Duration
    /// How long the core runs on when no call waits.
    private let linger: Duration

    /// True if a Main does not wait for the owner's activities.
    package private(set) var insists = false
    /// True if a Main waits while another Main owns, instead of being refused.
    private var mainWaitsItsTurn = false
    /// A Main's goal. An Executor's goal follows from the calls that wait here.
    package private(set) var intent = OwnershipGoal.nothing(because: .notStarted)
    /// The needs of the calls that wait for a core in this participant, by the number of the call.
    package var needs: [Int: Need] = [:]
    /// True if the participation is about to end.
    package var isClosing = false
    /// The demand of the group; nil until it is known. It is followed only while this participant owns.
    package var demand: Demand?
    /// The policy for how long the Executor's core that runs here runs on.
    package private(set) var policy: CoreRunPolicy?
    /// When to ask the policy again.
    package private(set) var policyIsDue: BootInstant?
    /// True while the baton that an Executor has given is offered: the Executor continues the calls if no other owner
    /// does.
    package var ownsAgain = false
    /// True if the time budget of this participant's core is used up. The participant then only waits for cores of
    /// others.
    package private(set) var isSpent = false
    /// The failure of this participant's last core; nil if a core has started since.
    package private(set) var problem: CoreProblem?
    /// The last ownership that was taken from this participant.
    package private(set) var lastLoss: Loss?
    /// True if another Main has taken over from this one.
    package private(set) var isSuperseded = false
    /// True if a core has run since the application last asked for one.
    private var hasRun = false
    /// How many cores here have failed in a row.
    private var failuresInRow = 0
    /// When the last core here had started; nil since it failed.
    private var runsSince: BootInstant?

    package init(isMain: Bool, budget: Duration, linger: Duration) {
        self.isMain = isMain
        self.budget = budget
        self.linger = linger
    }

    // MARK: - Requests of the application

    /// Records that a Main wants to own.
    ///
    /// - Parameter isRunning: True if its core runs. Then nothing has to be taken over, and the caller gets no reports
    ///   of reasons to wait.
    package mutating func start(
        takingOver: Bool, insisting: Bool = false, waitingItsTurn: Bool = false, isRunning: Bool = false
    ) {
        intent = takingOver && !isRunning ? .takeOver : .own
        insists = insisting && !isRunning
        mainWaitsItsTurn = waitingItsTurn && !isRunning
        isSuperseded = false
        hasRun = isRunning
        failuresInRow = 0
    }

    /// Records that a Main no longer wants to own.
    package mutating func withdraw(because reason: IdleReason) {
        intent = .nothing(because: reason)
    }

    // MARK: - How its cores fare

    /// Records that a core is about to be started.
    package mutating func coreBegins(at now: BootInstant) {
        if !isMain { policy = CoreRunPolicy(budget: budget, linger: linger, from: now) }
    }

    /// Records that a core has started.
    package mutating func coreStarted(at now: BootInstant) {
        problem = nil
        hasRun = true
        runsSince = now
        if !isMain { failuresInRow = 0 }
        // The take-over happens at most once per call. The Main does not take over from another Main that is started
        // later.
        if intent == .takeOver { intent = .own }
        insists = false
        mainWaitsItsTurn = false
    }

    /// Records that a core failed: the next start waits. A Main gives up when its first core could not start, which its
    /// `start` throws, when its core ended by itself, and after ``longestRow`` failures in a row.
    ///
    /// - Parameter isFinal: Whether the core ended by itself, without an error.
    /// - Returns: The pause; nil if the failure was known, or if no core is started again.
    package mutating func coreFailed(
        _ text: String, isFinal: Bool = false, of epoch: Revision, at now: BootInstant
    ) -> CoreRest? {
        guard problem?.epoch != epoch else { return nil }
        if let runsSince, runsSince.duration(to: now) >= Self.steadyRun { failuresInRow = 0 }
        runsSince = nil
        failuresInRow += 1
        var consequence: String?
        defer { problem = CoreProblem(epoch: epoch, text: text, consequence: consequence) }
        if isMain {
            let isEnough = failuresInRow >= Self.longestRow
            guard hasRun, !isFinal, !isEnough else {
                if isEnough { consequence = "no other is started after \(failuresInRow) failures in a row" }
                withdraw(because: .coreFailed(text))
                return nil
            }
        }
        let length = Self.firstRest.doubled(failuresInRow - 1, upTo: Self.longestRest)
        if isMain { consequence = "the next one starts in \(length)" }
        return CoreRest(until: now.advanced(by: length), length: length, problem: text)
    }

    // MARK: - Losses

    /// Records that an ownership was taken away, or given up to another Main. A Main that has given way to another Main
    /// does not ask again.
    package mutating func notice(_ loss: Loss?, hasYielded: Bool) {
        if let loss { lastLoss = loss }
        guard isMain, hasYielded || loss?.successor?.record.role == .main else { return }
        giveWay()
    }

    /// Notes that a Main was refused. If no caller waits for its start, because its core had run and an Executor owned
    /// in between, it stops seeking ownership, as after a take-over by the other Main.
    ///
    /// - Returns: True if it has stopped seeking ownership now.
    package mutating func notice(_ refusal: Refusal?) -> Bool {
        guard isMain, refusal != nil, hasRun, intent.wantsOwnership else { return false }
        giveWay()
        return true
    }

    private mutating func giveWay() {
        isSuperseded = true
        withdraw(because: .superseded)
    }

    // MARK: - The goal

    /// True if this participant waits behind a Main that answers challenges, instead of being refused.
    package var waitsItsTurn: Bool {
        isMain ? mainWaitsItsTurn : !needs.isEmpty && needs.values.allSatisfy(\.waitsItsTurn)
    }

    /// Returns the present goal.
    ///
    /// - Parameters:
    ///   - activities: The open activities of the ownership held here, as far as known.
    ///   - isBeginning: True if the core that runs here is beginning an activity, or has begun one that is not known
    ///     yet.
    package mutating func goal(
        holding: Revision?, core: LocalCore?, activities: ActivitiesRecord? = nil, isBeginning: Bool = false,
        at now: BootInstant
    ) -> OwnershipGoal {
        policyIsDue = nil
        for (number, need) in needs where need.epoch != nil && need.epoch != holding { needs[number] = nil }
        if isClosing { return .nothing(because: .closes) }
        if isMain { return intent }
        if policy != nil, holding == nil, core == nil {
            policy = nil
            demand = nil
        }
        if needs.isEmpty { isSpent = false }
        guard var policy else {
            if ownsAgain { return .own }
            guard !isSpent, !needs.isEmpty else { return .nothing(because: .nobodyWaits) }
            return needs.values.contains { $0.insists && !$0.waitsItsTurn } ? .insist : .own
        }
        // The goal is computed again once the new activity is known.
        if isBeginning { return .own }
        // While the demand of the group is not known, the core counts as needed.
        let isAwaited = needs.values.contains(where: \.insists) || demand == nil
        let openUntil = isAwaited ? BootInstant(nanoseconds: .max) : demand?.openUntil(after: now)
        let decision = policy.decide(
            openUntil: openUntil, lastChange: demand?.revision ?? .zero, busyUntil: activities?.last?.latestEnd, at: now
        )
        self.policy = policy
        switch decision {
        case .run(let until):
            policyIsDue = until
            return .own
        case .done:
            // Forget the needs, because all calls are served. A call of this process that has not seen its message yet
            // finds it at its next read of the inbox; if it does not, it adds its need again.
            needs = [:]
            return .nothing(because: .allServed)
        case .spent:
            isSpent = true
            return .nothing(because: activities?.last.map { .boundPassed($0) } ?? .budgetUsedUp(budget))
        }
    }
}
