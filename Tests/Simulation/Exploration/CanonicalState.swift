internal import Coordination
internal import CoreAPI

/// The state of a ``Model`` in canonical form: everything that can affect a later step, and nothing else. Revisions are
/// reduced to their order, instants to their distance from the present, and ended things are omitted.
///
/// Two states with the same form behave the same, so the exploration visits only one of them. Each field of a machine
/// is either written here or listed in ``CanonicalTokens/knownFields`` as irrelevant.
struct CanonicalTokens: Hashable {
    private enum Token: Hashable {
        case number(Int)
        case member(Int)
        case instant(UInt64)
        /// A revision that later ones are compared with.
        case revision(UInt64)
        /// A revision that is only compared for equality with one of those.
        case same(UInt64)
        /// A revision of which only the order relative to those matters.
        case bound(UInt64)
    }

    /// In milliseconds: longer than all bounds of ``Model/rules``, and than the gap that a wait counts as sleep.
    private static let horizon = 1_000

    private var tokens: [Token] = []

    mutating func add(_ number: Int) { tokens.append(.number(number)) }
    mutating func add(_ flag: Bool) { tokens.append(.number(flag ? 1 : 0)) }
    mutating func add(_ revision: Revision) { tokens.append(.revision(revision.rawValue)) }
    mutating func add(_ instant: BootInstant) { tokens.append(.instant(instant.nanoseconds)) }
    mutating func add(same revision: Revision) { tokens.append(.same(revision.rawValue)) }
    mutating func add(bound revision: Revision) { tokens.append(.bound(revision.rawValue)) }
    mutating func add(_ session: SessionID) { tokens.append(.member(Int(session.rawValue) - 1)) }
    mutating func add(_ process: ProcessIdentity) { tokens.append(.member(Int(process.pid) - Model.firstProcess)) }
    mutating func add(_ duration: Duration) {
        tokens.append(.number(min(Int(duration.wholeMilliseconds), 2 * Self.horizon)))
    }

    mutating func add<Value>(_ value: Value?, _ add: (inout CanonicalTokens, Value) -> Void) {
        tokens.append(.number(value == nil ? 0 : 1))
        if let value { add(&self, value) }
    }

    static func += (left: inout CanonicalTokens, right: CanonicalTokens) {
        left.tokens += right.tokens
    }

    /// Returns the key of the state at an instant, in two words.
    ///
    /// - Parameters:
    ///   - parts: The members' tokens, in the order of their new numbers, and the shared ones.
    ///   - names: The new number of each member.
    static func key(of parts: [CanonicalTokens], at now: UInt64, renaming names: [Int]) -> StateKey {
        var revisions: [UInt64] = []
        for part in parts {
            for case .revision(let revision) in part.tokens where !revisions.contains(revision) {
                revisions.append(revision)
            }
        }
        revisions.sort()
        var key = StateKey()
        for part in parts {
            key.add(part.tokens.count)
            for token in part.tokens {
                switch token {
                case .number(let number): key.add(number)
                case .member(let number): key.add(names.indices.contains(number) ? names[number] : number)
                case .revision(let revision), .same(let revision): key.add(revisions.firstIndex(of: revision) ?? -1)
                case .bound(let revision): key.add(revisions.lastIndex { $0 <= revision } ?? -1)
                case .instant(let instant):
                    let distance = (Int(instant) - Int(now)) / 1_000_000
                    key.add(max(-horizon, min(distance, horizon)))
                }
            }
        }
        return key
    }
}

/// The key of a state, in 128 bits.
struct StateKey: Hashable, Comparable {
    private var first: UInt64 = 0xcbf2_9ce4_8422_2325
    private var second: UInt64 = 0x9e37_79b9_7f4a_7c15

    mutating func add(_ number: Int) {
        let word = UInt64(bitPattern: Int64(number))
        first = (first ^ word) &* 0x0000_0100_0000_01b3
        first ^= first >> 29
        second = (second &+ word) &* 0xbf58_476d_1ce4_e5b9
        second ^= second >> 31
    }

    static func < (left: StateKey, right: StateKey) -> Bool {
        left.first != right.first ? left.first < right.first : left.second < right.second
    }
}

// MARK: - Records

extension CanonicalTokens {
    /// Adds the records. No step depends on the write or creation revision of a request or a challenge beyond
    /// what is added here. A challenge or an answer that has ended matters only as the one that a guard may name.
    mutating func add(_ view: OwnershipView) {
        add(bound: view.revision)
        add(view.owner) {
            $0.add($1.claim)
            $0.add($1.revision)
            $0.add($1.session)
            $0.add($1.record)
        }
        add(view.handover) {
            $0.add($1.claim)
            $0.add($1.session)
            $0.add($1.record)
        }
        add(view.challenge) {
            // The author matters to a member that waits behind a request.
            $0.add($1.session)
            guard view.stands($1.record.claim) else { return $0.add(same: $1.revision) }
            $0.add($1.revision)
            $0.add($1.record)
        }
        add(view.rest) {
            $0.add($1.claim)
            $0.add($1.session)
            $0.add(same: $1.record.epoch)
        }
        add(view.wake) { wake, standing in
            guard view.rest?.claim == standing.record.claim else { return wake.add(same: standing.revision) }
            wake.add(standing.revision)
            wake.add(standing.record.first != nil)
        }
        add(view.holder) { $0.add($1.session) }
        add(view.activities) {
            $0.add(same: $1.revision)
            $0.add($1.record)
        }
        add(view.moving) {
            $0.add(same: $1.revision)
            $0.add($1.record)
        }
        add(view.takes) {
            $0.add(same: $1.revision)
            $0.add($1.record)
        }
        add(view.baton) {
            $0.add($1.revision)
            $0.add($1.record)
        }
        add(view.answer) {
            guard view.stands($1.record.claim) else { return $0.add(same: $1.revision) }
            $0.add($1.revision)
            $0.add($1.record)
        }
    }

    // The session determines the rest.
    private mutating func add(_ owner: OwnerRecord) {
        add(Int(owner.state.rawValue))
    }

    private mutating func add(_ handover: HandoverRecord) {
        add(handover.takesOverMain)
        add(handover.isKilling)
        add(handover.insists)
        add(handover.takes.count)
    }

    private mutating func add(_ baton: BatonRecord) {
        add(same: baton.epoch)
        add(Int(baton.state.rawValue))
        add(baton.deadline)
    }

    private mutating func add(_ record: ActivitiesRecord) {
        add(same: record.epoch)
        add(record.activities.count)
        for activity in record.activities {
            add(activity.begun)
            add(activity.kind.bound)
        }
    }

    private mutating func add(_ record: MovingRecord) {
        add(same: record.epoch)
        add(Int(record.reach.rawValue))
        add(record.items.count)
        for item in record.items {
            add(item.begun)
            add(Int(item.need.rawValue))
        }
    }

    private mutating func add(_ record: TakesRecord) {
        add(Int(record.reach.rawValue))
        add(record.kinds.count)
    }

    private mutating func add(_ challenge: ChallengeRecord) {
        add(same: challenge.claim)
        add(challenge.first) { $0.add($1) }
    }

    private mutating func add(_ answer: AnswerRecord) {
        add(same: answer.claim)
        add(answer.challenge)
    }

    /// Adds a directive that was decided and not carried out yet.
    mutating func add(_ directive: Directive?) {
        switch directive {
        case nil: add(0)
        case .look: add(1)
        case .bury: add(2)
        case .startCore(let epoch):
            add(3)
            add(same: epoch)
        case .stopCore(let epoch):
            add(4)
            add(same: epoch)
        case .examine(let process, let claim):
            add(5)
            add(process)
            add(same: claim)
        case .kill(let process, let epoch):
            add(6)
            add(process)
            add(same: epoch)
        case .commit(let transition):
            add(7)
            add(transition)
        case .resumeCore(let epoch):
            add(8)
            add(same: epoch)
        }
    }

    private mutating func add(_ transition: Transition) {
        for condition in transition.transaction.guards {
            add(Self.number(of: condition.key))
            switch condition {
            case .absent: add(0)
            case .exists: add(1)
            case .revision(_, let revision), .epoch(_, let revision): add(same: revision)
            }
        }
        for operation in transition.transaction.operations {
            switch operation {
            case .put(let key, let value, _):
                add(Self.number(of: key))
                add(value, under: key)
            case .delete(let key): add(-Self.number(of: key))
            case .deletePrefix, .post: add(-100)
            }
        }
        for timelineEvent in transition.timelineEvents { add(Int(timelineEvent.kind.rawValue)) }
    }

    private mutating func add(_ value: [UInt8], under key: Key) {
        switch key {
        case OwnershipKey.owner: add(OwnerRecord(bytes: value))
        case OwnershipKey.handover: add(HandoverRecord(bytes: value))
        case OwnershipKey.challenge: add(ChallengeRecord(bytes: value))
        case OwnershipKey.answer: add(AnswerRecord(bytes: value))
        case OwnershipKey.activities: add(ActivitiesRecord(bytes: value))
        case OwnershipKey.moving: add(MovingRecord(bytes: value))
        case OwnershipKey.takes: add(TakesRecord(bytes: value))
        case OwnershipKey.rest: add(same: RestRecord(bytes: value).epoch)
        case OwnershipKey.wake:
            let record = WakeRecord(bytes: value)
            add(same: record.claim)
            add(record.first != nil)
        case OwnershipKey.holder: break
        case OwnershipKey.baton: add(BatonRecord(bytes: value))
        default: for byte in value { add(Int(byte)) }
        }
    }

    private static func number(of key: Key) -> Int {
        (OwnershipKeys.all.firstIndex(of: key) ?? OwnershipKeys.all.count) + 1
    }
}

// MARK: - Machines

extension CanonicalTokens {
    /// The fields of the machines: the written ones, and under `but` the irrelevant ones.
    static let knownFields: [(type: String, written: Set<String>, but: Set<String>)] = [
        (
            "OwnershipMachine",
            [
                "view", "goal", "insists", "holding", "core", "rest", "refusal", "hasYielded", "watched",
                "handoverWait", "lastLook",
                "lastBurial", "retryAt", "leftover", "given", "wantsRest", "offered",
                "hasOffered", "wakeWait",
            ],
            // Equal in all states, set before or by each step, only for reports and for cores, or relevant only to critical
            // sections. The model's sessions have no leases.
            [
                "myself", "rules", "random", "loss", "nextStep", "hearing", "granted", "lease", "wakeReason",
                "wokenFor", "waitsBehindOthers", "waitsItsTurn", "untold",
            ]
        ),
        ("GivenBaton", ["record", "phase", "isUnclear", "unclearEnd"], ["lifetime"]),
        ("Holding", ["epoch", "ending", "isReleasing"], ["isStuckSince"]),
        (
            "HolderMachine", ["view", "reason", "isClosing", "wakeWait", "lastLook", "retryAt"],
            // Equal in all states, or set by each step.
            ["myself", "rules", "nextStep"]
        ),
        ("WakeWait", ["rest", "waitingTime", "remindedAt"], []),
        ("LocalCore", ["epoch", "phase", "isQuiet"], ["reason", "request"]),
        ("CoreRest", ["until"], ["length", "problem"]),
        (
            "WatchedClaim",
            [
                "claim", "holder", "since", "nextChallenge", "lastAnswered", "hasChallenged", "waitingTime",
                "remindedAt",
                "wasSeenStopped", "lastExamination",
            ],
            // Nil without leases.
            ["lease"]
        ),
        (
            "HandoverWait",
            [
                "handover", "epoch", "waitingTime", "limit", "idleSince", "silence", "stopLimit", "enforcement",
                "afterKill",
            ],
            // Only for reports, or for owners with a lease.
            ["failure", "isOverdue", "isHeardAgain"]
        ),
        ("RunningTime", ["elapsed", "allowance", "last"], []),
    ]

    /// Returns a field of a machine that is not listed here; nil if there is none.
    static func unknownField(of value: Any) -> String? {
        let mirror = Mirror(reflecting: value)
        let type = String(describing: type(of: value))
        let known = knownFields.first { $0.type == type }
        for child in mirror.children {
            if let known, let label = child.label, !known.written.contains(label), !known.but.contains(label) {
                return "\(type).\(label)"
            }
            let isOpened = known != nil || mirror.displayStyle == .optional
            if isOpened, let unknown = unknownField(of: child.value) { return unknown }
        }
        return nil
    }

    mutating func add(_ machine: OwnershipMachine, at now: BootInstant) {
        let view = machine.view
        add(machine.goal)
        add(machine.insists)
        add(machine.holding) {
            $0.add($1.epoch)
            $0.add($1.ending != nil)
            $0.add($1.isReleasing)
        }
        add(machine.core) { $0.add($1) }
        add(machine.rest) { $0.add($1.until) }
        add(machine.refusal) {
            $0.add($1.session)
            $0.add($1.owner) { $0.add(same: $1.claim) }
        }
        add(machine.hasYielded)
        add(machine.watched.flatMap { view.stands($0.claim) ? $0 : nil }) { $0.add($1, at: now) }
        add(machine.handoverWait.flatMap { $0.handover == view.handover?.claim ? $0 : nil }) { $0.add($1) }
        // The read is due from then on.
        add(min(machine.lastLook.duration(to: now), machine.rules.idleInterval))
        add(machine.lastBurial) {
            $0.add(bound: $1.claim)
            $0.add(min($1.at.duration(to: now), $1.holds))
            $0.add($1.holds)
        }
        add(machine.retryAt) { $0.add(max($1, now)) }
        add(machine.leftover) { $0.add($1) }
        add(machine.wantsRest)
        add(machine.offered) { $0.add($1) }
        add(machine.hasOffered)
        add(machine.wakeWait.flatMap { $0.rest == view.rest?.claim ? $0 : nil }) { $0.add($1) }
        add(machine.given) {
            $0.add($1.record)
            $0.add($1.isUnclear)
            $0.add($1.unclearEnd.map { $0.isOwn ? $0 == .failed ? 1 : 2 : 3 } ?? 0)
            switch $1.phase {
            case .kept: $0.add(0)
            case .offered(let revision):
                $0.add(1)
                $0.add(bound: revision)
            case .over(let end): $0.add(end.isOwn ? 2 : 3)
            }
        }
    }

    mutating func add(_ machine: HolderMachine, at now: BootInstant) {
        add(machine.reason != nil)
        add(machine.isClosing)
        add(machine.wakeWait.flatMap { $0.rest == machine.view.rest?.claim ? $0 : nil }) { $0.add($1) }
        add(min(machine.lastLook.duration(to: now), machine.rules.idleInterval))
        add(machine.retryAt) { $0.add(max($1, now)) }
        add(machine.view)
    }

    private mutating func add(_ wait: WakeWait) {
        add(wait.waitingTime)
        add(wait.remindedAt) { $0.add($1) }
    }

    private mutating func add(_ goal: OwnershipGoal) {
        switch goal {
        // Only its sentence depends on the reason.
        case .nothing(let reason): add(reason == .nothingAsked ? 0 : 1)
        case .own: add(2)
        case .insist: add(3)
        case .takeOver: add(4)
        }
    }

    private mutating func add(_ core: LocalCore) {
        add(core.epoch)
        add(core.isQuiet)
        switch core.phase {
        case .starting: add(0)
        case .running: add(1)
        case .stopping(let since):
            add(2)
            add(since)
        case .ended: add(3)
        }
    }

    private mutating func add(_ watched: WatchedClaim, at now: BootInstant) {
        add(same: watched.claim)
        add(watched.holder)
        add(bound: watched.since)
        add(max(watched.nextChallenge, now))
        add(watched.lastAnswered) { $0.add(same: $1) }
        add(watched.hasChallenged)
        add(watched.waitingTime) { $0.add($1) }
        add(watched.remindedAt) { $0.add($1) }
        add(watched.wasSeenStopped) { $0.add($1) }
        add(watched.lastExamination)
    }

    private mutating func add(_ wait: HandoverWait) {
        add(same: wait.epoch)
        add(wait.silence) {
            $0.add(same: $1.challenge)
            $0.add($1.answer) { $0.add(same: $1) }
        }
        switch wait.enforcement {
        case .notYet:
            add(0)
            add(wait.waitingTime)
            add(wait.limit)
            add(wait.idleSince) { $0.add($1) }
            add(wait.stopLimit) { $0.add($1) }
        // The confirmation is over, so it is not read any more.
        case .confirmed: add(1)
        case .killed:
            add(2)
            add(wait.afterKill) { $0.add($1) }
        case .impossible: add(3)
        }
    }

    private mutating func add(_ time: RunningTime) {
        add(time.elapsed)
        add(time.allowance)
        add(time.last)
    }
}

extension OwnershipView {
    /// Returns whether a claim is that of the owner or of the request.
    fileprivate func stands(_ claim: Revision) -> Bool { owner?.claim == claim || handover?.claim == claim }
}
