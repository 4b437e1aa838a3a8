public import CoreAPI

/// Why a participant that wants the core does not run it yet.
/// ``MainParticipant/start(takingOver:insisting:reporting:)`` and
/// ``ExecutorParticipant/message(forCallID:timeout:insisting:reporting:)`` report it while they wait.
///
/// Source: contract C3, C6, C8, C14, C17.
public enum OwnershipWaitReason: Hashable, Sendable {
    /// The owner was asked to hand over, and has this time from the request.
    case handover(by: GroupOwner, timeout: Duration)
    /// The owner was asked and finishes a critical section first. It has this time from the request.
    case criticalSection(of: GroupOwner, timeout: Duration)
    /// The owner was asked and is busy. It has this time from the request while it answers challenges.
    case activity([Activity], of: GroupOwner, atMost: Duration)
    /// The owner did not release in time and is being killed; the participant waits for the end of its session.
    case end(ofKilled: GroupOwner)
    /// The owner was challenged and has not answered yet.
    case answer(of: GroupOwner)
    /// Another participant owns: its core also serves this participant, or its turn comes first.
    case owner(GroupOwner)
    /// A Main with this name, in this process, has asked for the core and has precedence.
    case request(ofMain: String, process: ProcessIdentity)
    /// The last core here failed, for this reason, and the next one starts this long after it.
    case rest(Duration, after: String)
    /// This participant owns, and its core starts.
    case coreStart
    /// The group's store refuses a necessary write.
    case store(SharedCoreError)

    /// Returns the wait for people: `waiting for executor “push 11” pid 123 (epoch 7) to hand over, 500 ms at most`.
    public func describe() -> String {
        switch self {
        case .handover(let owner, let limit):
            "waiting for \(owner.title) to hand over, \(limit.atMost)"
        case .criticalSection(let owner, let limit):
            "waiting for \(owner.title) to finish a critical section and hand over, "
                + "\(limit.atMost)"
        case .activity(let activities, let owner, let limit):
            "waiting for \(owner.title), which is busy with "
                + activities.map { $0.describe() }.joined(separator: ", ")
                + ", \(limit.atMost)"
        case .end(let owner): "waiting for the end of \(owner.title), which did not hand over in time and is killed"
        case .answer(let owner): "waiting for \(owner.title) to answer a challenge"
        case .owner(let owner): "waiting for \(owner.title), which owns the core"
        case .request(let name, let process):
            "waiting for the main “\(name)” pid \(process.pid), which has asked for the core before"
        case .rest(let length, let problem):
            "waiting \(length.inWords) before another core is started: \(problem)"
        case .coreStart: "waiting for the core to start"
        case .store(let error): "waiting for the group's store, which fails: \(error)"
        }
    }
}

extension Duration {
    /// The longest wait as text for users: `500 ms at most`, `14 min at most`, `4 h at most`. Rounded up.
    fileprivate var atMost: String { inWords + " at most" }

    /// The duration as text for users, rounded up: `500 ms`, `2.5 s`, `90 s`, `14 min`, `4 h 30 min`.
    ///
    /// Milliseconds below 1 s, seconds below 2 min (to the millisecond below 10 s), then minutes and hours.
    var inWords: String {
        switch self {
        case ..<Duration.seconds(1): "\(wholeMilliseconds) ms"
        case ..<Duration.seconds(10): Self.seconds(wholeMilliseconds)
        case ..<Duration.seconds(120): "\((wholeMilliseconds + 999) / 1000) s"
        default: Self.hoursAndMinutes((wholeMilliseconds + 59_999) / 60_000)
        }
    }

    private static func seconds(_ milliseconds: UInt64) -> String {
        var digits = String(milliseconds % 1000 + 1000).dropFirst()
        while digits.last == "0" { digits.removeLast() }
        return "\(milliseconds / 1000)\(digits.isEmpty ? "" : "." + digits) s"
    }

    private static func hoursAndMinutes(_ minutes: UInt64) -> String {
        switch minutes {
        case ..<120: "\(minutes) min"
        case _ where minutes % 60 == 0: "\(minutes / 60) h"
        default: "\(minutes / 60) h \(minutes % 60) min"
        }
    }
}

extension GroupOwner {
    /// The name of the owner, for people.
    fileprivate var title: String {
        "\(role.rawValue)\(name.isEmpty ? "" : " “\(name)”") pid \(process.pid) (epoch \(epoch)"
            + (state == .stopping ? ", stopping)" : ")")
    }
}

extension OwnershipWaitReason {
    fileprivate static func request(of record: HandoverRecord) -> Self {
        .request(ofMain: record.name, process: record.process)
    }
}

/// Why the machine's participant does not run a core yet.
extension OwnershipMachine {
    /// The reason of the wait; nil if nothing is wanted, nothing is known yet, or the core runs.
    var waiting: OwnershipWaitReason? {
        if holding != nil { return core?.phase ?? .starting == .starting ? .coreStart : nil }
        guard isWaiting else { return nil }
        // The view shows this participant as the owner; the machine's next step takes that into account.
        if view.owner?.session == myself.session { return .coreStart }
        // No other owner's core serves a Main, so it waits only for its own.
        if myself.isMain, let rest { return .rest(rest.length, after: rest.problem) }
        if let owner = view.owner { return wait(for: owner) }
        if let handover = view.handover, handover.session != myself.session { return .request(of: handover.record) }
        return rest.map { .rest($0.length, after: $0.problem) }
    }

    private func wait(for standing: Standing<OwnerRecord>) -> OwnershipWaitReason? {
        let owner = GroupOwner(standing)
        guard let handover = view.handover else {
            // The participant that asks the owner reports the hand-over once it has asked.
            if asks(standing) { return granted?.epoch == standing.claim ? handover(by: standing) : nil }
            return isUnanswered(standing.claim) ? .answer(of: owner) : .owner(owner)
        }
        guard handover.session == myself.session else { return .request(of: handover.record) }
        // Without a recorded wait, the wait begins with the machine's next step.
        let wait = handoverWait.flatMap { $0.epoch == standing.claim ? $0 : nil }
        switch wait?.enforcement {
        case .killed: return .end(ofKilled: owner)
        case .confirmed where handover.record.isKilling: return .end(ofKilled: owner)
        case .notYet, .confirmed, .impossible, nil: break
        }
        return self.handover(by: standing)
    }

    private func handover(by standing: Standing<OwnerRecord>) -> OwnershipWaitReason {
        let owner = GroupOwner(standing)
        let wait = handoverWait.flatMap { $0.epoch == standing.claim ? $0 : nil }
        if !insists, let activities = activities(holdingUp: standing, after: wait?.waitingTime.elapsed ?? .zero) {
            return .activity(
                activities.activities, of: owner, atMost: activities.bound + handoverLimit(of: standing))
        }
        let counted = wait.map { max($0.limit, $0.stopLimit ?? .zero) }
        let limit = max(counted ?? .zero, handoverLimit(of: standing))
        let isInSection = view.critical?.record.epoch == standing.claim
        return isInSection ? .criticalSection(of: owner, timeout: limit) : .handover(by: owner, timeout: limit)
    }

    /// Returns true if a challenge to a claim is unanswered.
    private func isUnanswered(_ claim: Revision) -> Bool {
        guard let challenge = view.challenge, challenge.record.claim == claim else { return false }
        return !isAnswered(challenge)
    }
}
