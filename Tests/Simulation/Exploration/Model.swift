internal import Coordination
internal import CoreAPI

/// A group of at most three participants in one of its states, and all possible next actions.
///
/// The ownership machines are the real ones. Time passes in ticks, and only after every participant that can run has
/// done all its present work; otherwise the order of events is free. A participant may freeze or die between any two
/// events, so also between deciding on a commit and making it.
struct Model {
    /// An action of a member, or of its core.
    enum Action: Hashable {
        /// A participant reads the store and decides on a directive.
        case step(Int)
        /// The member carries out a directive of its machine.
        case carryOut(Int)
        /// The member's core makes the commit that precedes the core's own code.
        case announce(Int)
        case coreStopped(Int)
        /// The member's core begins an activity, or ends the open one.
        case begin(Int), end(Int)
        /// The member's core takes over the call of a baton, or records that it cannot.
        case apply(Int), fail(Int)
        /// The member's goal is to own from now on, or no longer.
        case want(Int), leave(Int)
        /// The member stops waiting for activities.
        case insist(Int)
        /// The core of this Main was made quiet, and the Main wants to rest; or it wants to resume.
        case rest(Int), resume(Int)
        case freeze(Int), thaw(Int), die(Int)
        /// The end of the participant's session is recorded.
        case reap(Int)
        case tick
    }

    struct Core: Hashable {
        enum Phase: Int {
            case announced, running, stopping
        }

        let epoch: Revision
        var phase = Phase.announced
        /// True if the core runs, according to a witness.
        var runs = false
        /// True if the core was made quiet.
        var isQuiet = false
        /// The revision of the baton that the core may apply; nil without one.
        var gets: Revision?
        /// True while the core sends for the call that moves.
        var hasCall = false
    }

    struct Participant {
        var machine: OwnershipMachine
        /// The machine of a holder, in place of that of a participant.
        var hold: HolderMachine?
        var pending: Directive?
        /// True if the participant has no work until another event.
        var isQuiet = false
        var isFrozen = false
        var isDead = false
        var isReaped = false
        var cores: [Core] = []
        /// The ticks for which this Main has had the goal to own and could run, while it neither owned nor was
        /// legitimately delayed.
        var waits = 0
        /// The ticks for which the participant has been able to run.
        var runs = Model.settled

        var canRun: Bool { !isDead && !isFrozen }
        /// True if the participant has a goal, an ownership or a core. Freezing or killing an uninvolved participant
        /// has no consequences.
        var isInvolved: Bool {
            hold != nil || machine.goal.wantsOwnership || machine.holding != nil || machine.core != nil
                || !cores.isEmpty
                || pending != nil || machine.view.handover?.session == machine.myself.session
        }
        var isMain: Bool { machine.myself.isMain }
        /// The state of the store that the participant has seen.
        var seen: Revision { hold?.view.revision ?? machine.view.revision }
    }

    /// The times, in ticks: small, to limit the number of states, and different where that matters.
    static var rules: OwnershipRules {
        var rules = OwnershipRules()
        rules.handoverTimeout = tickLength * 3
        rules.handoverMaximumTimeout = tickLength * 5
        rules.stopTimeout = tickLength * 2
        rules.answerBound = tickLength * 2
        rules.busyAnswerBound = tickLength * 4
        // No longer than the time until it asks again, so that this time has only one phase.
        rules.answerLifetime = tickLength
        rules.challengeSpread = .zero
        rules.lookInterval = tickLength
        rules.burialInterval = tickLength
        // As often as it waits: the model loses no wake-ups, and each further phase of a poll would be a separate
        // state.
        rules.idleInterval = tickLength
        rules.killBound = tickLength * 2
        rules.retryInterval = tickLength
        rules.wakeBound = tickLength * wakeBound
        rules.offerBound = tickLength * 2
        rules.restInterval = tickLength
        return rules
    }

    static let firstProcess = 100
    static let tickLength = RunningTime.tick
    /// The ticks after which a participant that can run has answered every request.
    static let settled = 3
    /// The ticks for which a participant may be kept from owning while no participant that can run owns or has
    /// requested.
    static let waitingTime = 14

    /// The ticks that a Main has to resume.
    static let wakeBound = 4
    static let batonKind = "call/1"
    /// The ticks for which a baton is kept.
    static let batonLifetime = 3

    /// The ticks that an activity may last.
    static let activityBound = 5

    let mutant: Mutant?
    var store = ModelStore()
    private(set) var now = BootInstant(nanoseconds: 1_000_000_000_000)
    var participants: [Participant]
    private(set) var deathsLeft: Int
    private(set) var freezesLeft: Int
    private var activitiesLeft: Int
    private var restsLeft: Int
    /// The ticks after which it is not counted any more for how long a participant can run.
    private let countedRuns: Int
    private let insists: Bool
    /// True if the activity is a call that moves.
    let isMoving: Bool
    /// The ticks for which a baton has stood although the participant that gave it could run.
    var batonAge = 0
    /// The ticks for which an Executor that can run has had the goal to own, while no participant that can run owned or
    /// had requested.
    private var executorWaits = 0
    /// The epochs that were taken over, or have an abandoned core.
    private(set) var superseded: Set<Revision> = []
    /// The ticks since the present request was made.
    private var requestAge = 0
    /// The age at which every deadline of a request has passed.
    private let longestAge: Int
    /// The rule that the last action has broken, with the circumstances.
    private(set) var violation: String?
    /// The participants' tokens in the key; nil for a participant that has changed since.
    private var tokens: [CanonicalTokens?]

    /// - Parameters:
    ///   - roles: The roles of the participants. A Main may join at any time; Executors exist from the beginning.
    init(_ setting: Exploration.Setting, damagedBy mutant: Mutant?) {
        self.mutant = mutant
        let roles = setting.roles
        deathsLeft = setting.deaths
        freezesLeft = setting.freezes
        activitiesLeft = setting.activities
        restsLeft = setting.rests
        countedRuns = setting.rests > 0 ? Self.wakeBound + 1 : Self.settled
        insists = setting.insists
        isMoving = setting.isMoving
        takeOver = setting.takingOver
        longestAge = setting.activities > 0 ? Self.activityBound + 4 : 3
        let start = now
        participants = roles.enumerated().map { number, role in
            var rules = Self.rules
            if setting.isMoving, role == .main { rules.takesBatons = [Self.batonKind] }
            mutant?.changeRules?(&rules)
            if role == .main { mutant?.changeMainRules?(&rules) }
            var machine = OwnershipMachine(
                for: Participation(
                    session: SessionID(rawValue: UInt64(number + 1)), role: role, name: "\(number)",
                    process: ProcessIdentity(
                        bootID: BootID(high: 1, low: 1), pid: Int32(number + Self.firstProcess),
                        startTime: UInt64(number))),
                rules: rules, seed: 1, at: start)
            if role == .executor { machine.goal = .own }
            var participant = Participant(machine: machine, runs: setting.rests > 0 ? Self.wakeBound + 1 : Self.settled)
            if role == .holder {
                machine.goal = .nothing(because: .closes)
                participant.machine = machine
                participant.hold = HolderMachine(for: machine.myself, rules: rules, at: start)
            }
            return participant
        }
        // Each permutation swaps at most two, so it is its own inverse.
        namings =
            switch roles {
            case [.main, .executor, .executor]: [[0, 1, 2], [0, 2, 1]]
            case [.executor, .executor]: [[0, 1], [1, 0]]
            default: [Array(roles.indices)]
            }
        tokens = participants.map { _ in nil }
    }

    private let takeOver: Int?
    /// The permutations of the participants that lead to equivalent states.
    private let namings: [[Int]]

    /// A field of a machine that ``key()`` omits wrongly; nil if there is none.
    var unknownField: String? {
        participants.lazy.compactMap { participant in
            participant.hold.map { CanonicalTokens.unknownField(of: $0) }
                ?? CanonicalTokens.unknownField(of: participant.machine)
        }.first
    }

    /// Returns the key of this state, independent of the states before it.
    mutating func key() -> StateKey {
        for number in participants.indices where tokens[number] == nil {
            tokens[number] = words(of: participants[number])
        }
        var rest = CanonicalTokens()
        rest.add(store.view)
        for epoch in supersededCores { rest.add(epoch) }
        rest.add(deathsLeft)
        rest.add(freezesLeft)
        rest.add(activitiesLeft)
        rest.add(restsLeft)
        rest.add(executorWaits)
        rest.add(requestAge)
        rest.add(batonAge)
        let words = zip(tokens, participants).map { words, participant in
            var words = words ?? CanonicalTokens()
            words.add(participant.isDead || participant.seen == store.revision)
            return words
        }
        return namings.map { names in
            let parts = names.map { words[$0] } + [rest]
            return CanonicalTokens.key(of: parts, at: now.nanoseconds, renaming: names)
        }.min() ?? StateKey()
    }

    /// The epochs of ``superseded`` that still have a core.
    private var supersededCores: [Revision] {
        participants.flatMap(\.cores).map(\.epoch).filter(superseded.contains).sorted()
    }

    private func words(of participant: Participant) -> CanonicalTokens {
        var words = CanonicalTokens()
        words.add(participant.isDead)
        words.add(participant.isReaped)
        // The knowledge of a dead participant is irrelevant.
        guard !participant.isDead else { return words }
        words.add(participant.isFrozen)
        words.add(participant.isQuiet)
        words.add(participant.waits)
        words.add(participant.runs)
        words.add(participant.cores.count)
        for core in participant.cores {
            words.add(core.epoch)
            words.add(core.phase.rawValue)
            words.add(core.runs)
            words.add(core.isQuiet)
            words.add(core.hasCall)
            words.add(core.gets) { $0.add(same: $1) }
        }
        words.add(participant.pending)
        words.add(Int(Move(participant.pending, by: participant.machine).rawValue))
        guard participant.hold == nil else {
            if let hold = participant.hold { words.add(hold, at: now) }
            return words
        }
        words.add(participant.machine, at: now)
        words.add(participant.machine.view)
        return words
    }

    // MARK: - Possible actions

    var actions: [Action] {
        var actions: [Action] = []
        var isSettled = true
        for (number, participant) in participants.enumerated() {
            if participant.isDead {
                if !participant.isReaped { actions.append(.reap(number)) }
                continue
            }
            if participant.isFrozen {
                actions.append(.thaw(number))
                if deathsLeft > 0 { actions.append(.die(number)) }
                continue
            }
            let urgent = urgentActions(of: number, participant)
            if !urgent.isEmpty { isSettled = false }
            actions += urgent + idleActions(of: number, participant)
            guard participant.isInvolved else { continue }
            if freezesLeft > 0 { actions.append(.freeze(number)) }
            if deathsLeft > 0 { actions.append(.die(number)) }
        }
        if isSettled { actions.append(.tick) }
        return actions
    }

    /// Returns the actions that must happen before time passes.
    private func urgentActions(of number: Int, _ participant: Participant) -> [Action] {
        if participant.pending != nil { return [.carryOut(number)] }
        var actions: [Action] = []
        if participant.cores.last?.phase == .announced { actions.append(.announce(number)) }
        if !participant.isQuiet || participant.seen != store.revision { actions.append(.step(number)) }
        return actions
    }

    /// Returns the actions that may happen now, later or never.
    private func idleActions(of number: Int, _ participant: Participant) -> [Action] {
        guard participant.pending == nil, participant.hold == nil else { return [] }
        var actions: [Action] = []
        if restsLeft > 0, participant.isMain, participant.machine.goal == .own,
            participant.cores.last?.phase == .running, participant.machine.core?.isQuiet == false,
            !participant.machine.wantsRest, participant.machine.reasonNotToRest == nil
        {
            actions.append(.rest(number))
        }
        if participant.machine.isAtRest, participant.machine.wantsRest { actions.append(.resume(number)) }
        // An awake Main has answered the challenge already.
        if !participant.isMain, participant.machine.goal == .own, let owner = store.view.owner,
            owner.record.role == .main, store.view.sleeper == nil, owner.record.state == .running,
            countedRuns > Self.settled
        {
            actions.append(.leave(number))
        }
        if participant.cores.contains(where: { $0.phase == .stopping }) { actions.append(.coreStopped(number)) }
        if participant.machine.goal == .nothing(because: .nothingAsked) { actions.append(.want(number)) }
        if insists, participant.isMain, participant.machine.goal.wantsOwnership, participant.machine.holding == nil,
            !participant.machine.insists
        {
            actions.append(.insist(number))
        }
        if let core = participant.cores.last, core.phase == .running, core.gets != nil {
            return actions + [.apply(number), .fail(number)]
        }
        guard !participant.isMain, let core = participant.cores.last, core.phase == .running else { return actions }
        if store.view.activities(of: core.epoch) != nil {
            actions.append(.end(number))
            return actions
        }
        if activitiesLeft > 0 { actions.append(.begin(number)) }
        if participant.machine.goal == .own { actions.append(.leave(number)) }
        return actions
    }

    // MARK: - Performing actions

    mutating func happen(_ action: Action) {
        violation = nil
        perform(action)
        settle()
    }

    /// Performs the step of each participant that would only read and do nothing else. Other participants may act
    /// later, on the records of that time.
    private mutating func settle() {
        for number in participants.indices {
            let participant = participants[number]
            guard participant.canRun, urgentActions(of: number, participant) == [.step(number)] else { continue }
            let machine = tokens[number]
            step(number)
            guard participants[number].pending != nil || !participants[number].isQuiet else { continue }
            participants[number] = participant
            tokens[number] = machine
        }
    }

    private mutating func perform(_ action: Action) {
        switch action {
        case .step(let number): step(number)
        case .carryOut(let number): carryOut(number)
        case .announce(let number): announce(number)
        case .begin(let number), .end(let number): changeActivity(of: number)
        case .apply(let number), .fail(let number): useBaton(number, applies: action == .apply(number))
        case .insist(let number):
            participants[number].machine.insists = true
            disturb(number)
        case .rest(let number):
            restsLeft -= 1
            participants[number].machine.core?.isQuiet = true
            participants[number].machine.wantsRest = true
            change(number, coreIn: .running) { $0.isQuiet = true }
            disturb(number)
        case .resume(let number):
            participants[number].machine.wantsRest = false
            disturb(number)
        case .coreStopped(let number):
            guard let index = participants[number].cores.firstIndex(where: { $0.phase == .stopping }) else { return }
            let core = participants[number].cores.remove(at: index)
            giveBaton(of: core, by: number)
            participants[number].machine.coreEnded(core.epoch, problem: nil)
            disturb(number)
        case .want(let number):
            participants[number].machine.goal = takeOver == number ? .takeOver : .own
            disturb(number)
        case .leave(let number):
            participants[number].machine.goal = .nothing(because: .allServed)
            disturb(number)
        case .freeze(let number):
            freezesLeft -= 1
            participants[number].isFrozen = true
            participants[number].runs = 0
            participants[number].waits = 0
            disturb(number)
        case .thaw(let number):
            participants[number].isFrozen = false
            disturb(number)
        case .die(let number):
            deathsLeft -= 1
            die(number)
        case .reap(let number): reap(number)
        case .tick: tick()
        }
    }

    /// Makes a participant check for work after an event.
    mutating func disturb(_ number: Int) {
        participants[number].isQuiet = false
        tokens[number] = nil
    }

    private mutating func change(_ number: Int, coreIn phase: Core.Phase, _ body: (inout Core) -> Void) {
        guard let index = participants[number].cores.lastIndex(where: { $0.phase == phase }) else { return }
        body(&participants[number].cores[index])
    }

    private mutating func step(_ number: Int) {
        if participants[number].hold != nil { return stepHolder(number) }
        if store.revision > participants[number].machine.view.revision {
            let session = participants[number].machine.myself.session
            let seen = mutant?.changeSeen.map { change in store.view { change($0, session) } }
            participants[number].machine.view = seen ?? store.view
        }
        // Steps that only concern the participant happen at once: a freeze before them equals one before the step.
        for _ in 0..<Self.localSteps {
            let directive = nextDirective(of: number)
            participants[number].pending = directive
            guard let directive, isLocal(directive) else { break }
            carryOut(number)
        }
        let machine = participants[number].machine
        participants[number].isQuiet = participants[number].pending == nil
        if machine.hasYielded, machine.holding == nil, machine.goal.wantsOwnership {
            participants[number].machine.goal = .nothing(because: .superseded)
        }
        if let owner = machine.refusal?.owner, holder(of: owner).map({ participants[$0].hold != nil }) == true {
            broke("C14", "participant \(number) is refused because of a Main that may never wake")
        }
        if machine.refusal != nil { participants[number].machine.goal = .nothing(because: .refused) }
        tokens[number] = nil
    }

    /// Takes a holder's step. The holder learns of waiting calls at once.
    private mutating func stepHolder(_ number: Int) {
        let isCalled = participants.contains { participant in
            !participant.isDead && participant.hold == nil && !participant.isMain
                && participant.machine.goal.wantsOwnership
        }
        var hold = participants[number].hold
        hold?.view = store.view
        hold?.reason = isCalled ? .call : nil
        var directive = hold?.step(at: now)
        if directive == .look || (directive == .bury && !participants.contains { $0.isDead && !$0.isReaped }) {
            directive = hold?.step(at: now)
        }
        participants[number].hold = hold
        let machine = participants[number].machine
        participants[number].pending = directive.flatMap { directive in
            guard let mutant else { return directive }
            return mutant.changed(directive, Move(directive, by: machine), of: machine)
        }
        participants[number].isQuiet = participants[number].pending == nil
        tokens[number] = nil
    }

    /// More than there ever are.
    private static let localSteps = 10

    private mutating func nextDirective(of number: Int) -> Directive? {
        let directive = participants[number].machine.step(at: now)
        _ = participants[number].machine.takeLoss()
        hearOfBaton(number)
        let machine = participants[number].machine
        guard let directive, let mutant else { return directive }
        return mutant.changed(directive, Move(directive, by: machine), of: machine)
    }

    /// Returns whether no other participant can notice that a directive was carried out.
    private func isLocal(_ directive: Directive) -> Bool {
        switch directive {
        case .look, .examine, .startCore, .stopCore, .resumeCore: true
        case .bury: !participants.contains { $0.isDead && !$0.isReaped }
        case .commit, .kill: false
        }
    }

    private mutating func carryOut(_ number: Int) {
        guard let directive = participants[number].pending else { return }
        participants[number].pending = nil
        switch directive {
        case .look: break
        case .bury:
            for dead in participants.indices where participants[dead].isDead && !participants[dead].isReaped {
                reap(dead)
            }
        case .commit(let transition): commit(transition, of: number)
        case .startCore(let epoch):
            let offered = participants[number].machine.view.baton.flatMap { $0.record.state == .offered ? $0 : nil }
            participants[number].cores.append(Core(epoch: epoch, gets: offered?.revision))
        case .stopCore(let epoch):
            judgeStop(of: number, under: epoch)
            guard let index = participants[number].cores.lastIndex(where: { $0.epoch == epoch }) else { break }
            if participants[number].cores[index].runs {
                participants[number].cores[index].phase = .stopping
            } else {
                participants[number].cores.remove(at: index)
                participants[number].machine.coreEnded(epoch, problem: nil)
            }
        case .resumeCore(let epoch):
            if let owner = store.view.owner, owner.claim == epoch,
                owner.session != participants[number].machine.myself.session
            {
                broke("C26", "the core of participant \(number) goes on, and its holder owns")
            }
            if let index = participants[number].cores.lastIndex(where: { $0.epoch == epoch }) {
                participants[number].cores[index].isQuiet = false
            }
        case .examine(let process, let claim):
            let holder = participants.first { $0.machine.myself.process == process && !$0.isDead }
            participants[number].machine.examined(claim, isStopped: holder?.isFrozen)
        case .kill(let process, let epoch):
            // The participant checks again before it sends the signal.
            let session = participants[number].machine.myself.session
            if store.view.owner?.claim == epoch, store.view.handover?.session == session {
                kill(process)
            }
            participants[number].machine.killEnded(epoch, impossible: nil, at: now)
        }
        disturb(number)
    }

    /// The first act of a core.
    private mutating func announce(_ number: Int) {
        guard let core = participants[number].cores.last else { return }
        var transaction = Transaction(guards: [.epoch(OwnershipKey.owner, core.epoch)])
        mutant?.changeTransaction?(&transaction, .announcing(core.epoch))
        if store.commit(transaction, of: participants[number].machine.myself.session) {
            judgeStart(of: core)
            change(number, coreIn: .announced) { core in
                core.runs = true
                core.phase = .running
            }
            participants[number].machine.coreStarted(core.epoch)
        } else {
            participants[number].cores.removeLast()
            participants[number].machine.coreEnded(core.epoch, problem: nil)
        }
        disturb(number)
    }

    /// The core begins an activity, or ends the open one, in one commit.
    private mutating func changeActivity(of number: Int) {
        guard let core = participants[number].cores.last else { return }
        let before = store.view
        let work = OpenWork(before)
        let open = work.open(under: core.epoch).first
        let bound = Self.tickLength * Self.activityBound
        let begun = Activity(
            .custom("work", bound: bound), id: "1", begun: now, moves: isMoving ? Self.batonKind : nil)
        var transaction =
            open.flatMap { work.ending($0, under: core.epoch) } ?? work.beginning(begun, under: core.epoch)
        if open == nil {
            activitiesLeft -= 1
            mutant?.changeTransaction?(&transaction, .beginning)
        }
        if store.commit(transaction, of: participants[number].machine.myself.session) {
            if open == nil, before.handover != nil {
                broke("C17", "participant \(number) begins an activity while a request stands")
            }
            if isMoving { participants[number].cores[participants[number].cores.count - 1].hasCall = open == nil }
        }
        judgeActivities()
        disturb(number)
    }

    private mutating func die(_ number: Int) {
        participants[number].isDead = true
        participants[number].isFrozen = false
        participants[number].pending = nil
        participants[number].cores = []
        participants[number].waits = 0
        disturb(number)
    }

    private mutating func reap(_ number: Int) {
        participants[number].isReaped = true
        store.end(participants[number].machine.myself.session)
        disturb(number)
    }

    private mutating func tick() {
        now = now.advanced(by: Self.tickLength)
        let view = store.view
        requestAge = view.handover == nil ? 0 : min(requestAge + 1, longestAge)
        let isTaken = participants.contains { participant in
            participant.canRun
                && ((participant.machine.holding != nil && !participant.machine.isAtRest)
                    || isAsking(participant, in: view))
        }
        for number in participants.indices where participants[number].canRun {
            participants[number].isQuiet = false
            participants[number].runs = min(participants[number].runs + 1, countedRuns)
            guard participants[number].isMain else { continue }
            if isHeldUp(participants[number]) {
                broke("C17", "Main \(number) takes over and insists, and waits behind one that does not")
            }
            participants[number].waits = isWaiting(participants[number]) && !isBusy ? participants[number].waits + 1 : 0
            if participants[number].waits > Self.waitingTime {
                broke("C3", "Main \(number) has waited for \(participants[number].waits) ticks")
            }
        }
        ageBaton()
        let isAwaited = participants.contains { $0.canRun && !$0.isMain && isWaiting($0) }
        executorWaits = isAwaited && !isTaken ? executorWaits + 1 : 0
        if executorWaits > Self.waitingTime { broke("C6", "Executors have waited for \(executorWaits) ticks") }
        // The tokens count from the present, so all are outdated.
        for number in participants.indices { tokens[number] = nil }
    }

    private func isWaiting(_ participant: Participant) -> Bool {
        participant.machine.goal.wantsOwnership && participant.machine.holding == nil
    }

    /// True while the request waits for an activity of an owner that can run, within its bound.
    private var isBusy: Bool {
        guard let owner = store.view.owner, let handover = store.view.handover, !handover.record.insists,
            store.view.activities(of: owner.claim) != nil, requestAge <= Self.activityBound, !isTaken
        else { return false }
        return holder(of: owner).map { participants[$0].canRun } ?? false
    }

    /// Returns whether a Main that takes over and insists waits behind another member's request for a busy owner.
    private func isHeldUp(_ participant: Participant) -> Bool {
        guard participant.machine.goal == .takeOver, participant.machine.insists, isWaiting(participant),
            participant.machine.core == nil, participant.machine.rest == nil,
            let owner = store.view.owner, owner.record.state != .stopping,
            store.view.activities(of: owner.claim) != nil, let handover = store.view.handover
        else { return false }
        return handover.session != participant.machine.myself.session && !handover.record.insists
            && !handover.record.isKilling
    }

    private func isAsking(_ participant: Participant, in view: OwnershipView) -> Bool {
        view.handover?.session == participant.machine.myself.session
    }

    // MARK: - Rules

    mutating func broke(_ rule: String, _ sentence: String) {
        if violation == nil { violation = "\(rule): \(sentence)" }
    }

    private mutating func judgeStart(of core: Core) {
        if store.view.owner?.claim != core.epoch {
            broke("C4", "a core starts under epoch \(core.epoch), which is over")
        }
        for other in participants where !other.isDead {
            for running in other.cores where running.runs && running.epoch != core.epoch {
                if superseded.contains(running.epoch) { continue }
                broke("C1", "the cores of \(running.epoch) and \(core.epoch) run at once, and both may")
            }
        }
    }

    private mutating func commit(_ transition: Transition, of number: Int) {
        let before = store.view
        let session = participants[number].machine.myself.session
        guard store.commit(transition.transaction, of: session) else {
            participants[number].machine.refused(at: now)
            participants[number].machine.missed(transition, .refused)
            return
        }
        judgeOffer(before, by: number)
        participants[number].machine.committed(transition, at: store.revision)
        for timelineEvent in transition.timelineEvents { judge(timelineEvent, before, by: number) }
        judgeActivities()
        if before.handover?.claim != store.view.handover?.claim { requestAge = 0 }
    }

    private mutating func judge(_ timelineEvent: OwnershipEvent, _ before: OwnershipView, by number: Int) {
        let session = participants[number].machine.myself.session
        switch timelineEvent.kind {
        case .acquired:
            if before.owner != nil { broke("C5", "participant \(number) acquires what is owned") }
            if let handover = before.handover, handover.session != session {
                broke("C3", "participant \(number) acquires past the request of another")
            }
        case .tookOver:
            if let owner = before.owner { superseded.insert(owner.claim) }
            judgeTakeOver(timelineEvent, before, by: number)
        case .released:
            if before.owner?.session != session { broke("C5", "participant \(number) releases what is another's") }
            if before.owner?.claim != timelineEvent.epoch {
                broke("C5", "participant \(number) releases another epoch")
            }
            if before.handover != nil, store.view.handover == nil {
                broke("C3", "participant \(number) releases, and removes the request of another")
            }
        case .killed:
            if let owner = before.owner { judgeNeed(toEnd: owner, before, by: number) }
        case .coreGivenUp:
            if let epoch = timelineEvent.epoch { superseded.insert(epoch) }
            if let rest = before.rest, rest.record.epoch == timelineEvent.epoch { judgeEnd(of: rest, by: number) }
        case .coreStopped:
            let isRunning = participants.contains { other in
                other.cores.contains { $0.runs && $0.epoch == timelineEvent.epoch }
                    && other.machine.myself.session != session
            }
            if isRunning { broke("C26", "participant \(number) says that the core of another has stopped, which runs") }
        case .rested:
            if let handover = before.handover, handover.session != session {
                broke("C3", "participant \(number) comes to own past the request of another")
            }
            judgeMove(of: timelineEvent, before, by: number)
        case .resumed: judgeMove(of: timelineEvent, before, by: number)
        default: break
        }
    }

    /// Checks that an ownership moves under its epoch.
    private mutating func judgeMove(of timelineEvent: OwnershipEvent, _ before: OwnershipView, by number: Int) {
        let session = participants[number].machine.myself.session
        if before.owner?.claim != timelineEvent.epoch || store.view.owner?.claim != timelineEvent.epoch {
            broke(
                "C26", "participant \(number) moves the ownership of another epoch than \(timelineEvent.epoch ?? .zero)"
            )
        }
        if store.view.owner?.session != session {
            broke("C26", "participant \(number) moves an ownership, and does not own")
        }
    }

    /// Checks that only the Main itself ends its rest, if it could resume.
    private mutating func judgeEnd(of rest: Standing<RestRecord>, by number: Int) {
        guard rest.session != participants[number].machine.myself.session,
            let sleeper = participants.firstIndex(where: { $0.machine.myself.session == rest.session }),
            participants[sleeper].canRun, participants[sleeper].runs >= Self.wakeBound
        else { return }
        broke("C26", "Main \(sleeper) could resume, and participant \(number) ends its rest")
    }

    /// Checks that an accepted offer is not withdrawn.
    private mutating func judgeOffer(_ before: OwnershipView, by number: Int) {
        guard let sleeper = before.sleeper, sleeper.session == participants[number].machine.myself.session,
            store.view.rest == nil, store.view.owner?.claim == before.owner?.claim,
            store.view.owner?.session != sleeper.session
        else { return }
        broke("C26", "Main \(number) takes back an offer that was taken")
    }

    private mutating func judgeTakeOver(_ timelineEvent: OwnershipEvent, _ before: OwnershipView, by number: Int) {
        guard let owner = before.owner, let holder = holder(of: owner) else { return }
        if let rest = before.sleeper {
            judgeEnd(of: rest, by: number)
            if timelineEvent.previous?.end != .unanswered { return }
        }
        if timelineEvent.previous?.end == .unanswered {
            if let challenge = before.challenge, challenge.record.claim == owner.claim, before.isAnswered(challenge) {
                broke("C6", "a challenge was answered, and the owner is superseded")
            }
            if participants[holder].canRun, participants[holder].runs >= Self.settled {
                broke("C6", "the owner \(holder) could run, and is superseded as frozen")
            }
        } else {
            judgeDeadline(by: number)
            if before.handover?.record.isKilling != true { judgeNeed(toEnd: owner, before, by: number) }
        }
    }

    /// Checks that no activities of an ended ownership are left.
    private mutating func judgeActivities() {
        guard let activities = store.view.activities, store.view.owner?.claim != activities.record.epoch else { return }
        broke("C17", "activities of epoch \(activities.record.epoch) stand, which is over")
    }

    /// Checks that a busy core is not told to stop for a request that does not insist.
    private mutating func judgeStop(of number: Int, under epoch: Revision) {
        let request = participants[number].machine.core?.request
        guard request?.reason == .handover || request?.reason == .bound, store.view.handover?.record.insists != true,
            let last = store.view.activities(of: epoch)?.last, last.latestEnd > now, !isTaken
        else { return }
        broke("C17", "the core of participant \(number) is busy, and told to stop")
    }

    /// Checks that an ownership is ended only if its holder was silent, or had its time to stop.
    private mutating func judgeNeed(toEnd owner: Standing<OwnerRecord>, _ before: OwnershipView, by number: Int) {
        guard owner.record.state != .stopping, let holder = holder(of: owner), participants[holder].canRun else {
            return
        }
        if participants[holder].runs >= Self.settled {
            broke(
                "C17", "participant \(number) ends the ownership of \(holder), which could run and was not told to stop"
            )
        }
        guard before.activities(of: owner.claim) != nil, before.handover?.record.insists != true, !isTaken,
            requestAge < Self.activityBound
        else { return }
        if let challenge = before.challenge, challenge.record.claim == owner.claim {
            let answer = before.answer.flatMap { $0.record.claim == owner.claim ? $0.record.challenge : nil }
            if answer ?? .zero < challenge.record.first ?? challenge.revision { return }
        }
        broke("C17", "participant \(number) ends the ownership of \(holder), which is busy and has answered")
    }

    /// Checks that an owner with a request is killed or fenced no earlier than at its deadline.
    private mutating func judgeDeadline(by number: Int) {
        if Self.tickLength * requestAge < Self.rules.handoverTimeout {
            broke("C3", "participant \(number) enforces its request after \(requestAge) ticks")
        }
    }

    private mutating func kill(_ process: ProcessIdentity) {
        guard let target = participants.firstIndex(where: { $0.machine.myself.process == process && !$0.isDead }) else {
            return
        }
        if participants[target].isMain { broke("C3", "the Main \(target) is killed") }
        if store.view.handover?.record.isKilling != true { broke("C3", "a kill that was not announced") }
        judgeDeadline(by: target)
        die(target)
    }

    private func holder(of owner: Standing<OwnerRecord>) -> Int? {
        participants.firstIndex { $0.machine.myself.session == owner.session }
    }
}

extension SessionRole {
    /// The role of a holder in a model.
    static let holder = SessionRole(rawValue: "holder")
}
