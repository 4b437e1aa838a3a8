/// One transition of one machine: its situation, and its step or next situation.
package struct MachineTransition: Hashable, Sendable, CustomStringConvertible {
    package let machine: Machine
    package let from: UInt8
    package let to: UInt8

    package init(machine: Machine, from: UInt8, to: UInt8) {
        self.machine = machine
        self.from = from
        self.to = to
    }

    /// The machine, the situation and the move, by name.
    package var description: String { "\(machine): \(machine.fromName(from)) -> \(machine.toName(to))" }
}

/// The machines with counted transitions.
package enum Machine: UInt8, CaseIterable, Sendable {
    /// ``OwnershipMachine``: a situation, and the step out of it.
    case ownership
    /// ``OwnershipMachine``'s core: a phase and the next one.
    case core
    /// ``HandoverWait``: how a deadline is enforced, and the outcome of a kill.
    case handover
    /// ``DemandPolicy``: a goal and the next one.
    case goal
    /// ``CoreRunPolicy``: the demand, and the decision.
    case policy
    /// ``MessageWait``: the inbox's state, and the step.
    case wait
    /// The inbox: its state of a message, and the outcome of an operation.
    case inbox

    func fromName(_ raw: UInt8) -> String {
        switch self {
        case .ownership: "\(Situation(rawValue: raw).map { "\($0)" } ?? "?")"
        case .core: "\(CorePhase(rawValue: raw).map { "\($0)" } ?? "?")"
        case .handover: "\(Enforcement(rawValue: raw).map { "\($0)" } ?? "?")"
        case .goal: "\(GoalKind(rawValue: raw).map { "\($0)" } ?? "?")"
        case .policy: "\(PolicyInput(rawValue: raw).map { "\($0)" } ?? "?")"
        case .wait:
            "\(InboxKind(rawValue: raw / 2).map { "\($0)" } ?? "?")" + (raw % 2 == 1 ? ", expected" : "")
        case .inbox: "\(InboxKind(rawValue: raw).map { "\($0)" } ?? "?")"
        }
    }

    func toName(_ raw: UInt8) -> String {
        switch self {
        case .ownership: "\(Move(rawValue: raw).map { "\($0)" } ?? "?")"
        case .core, .handover, .goal: fromName(raw)
        case .policy: "\(PolicyDecision(rawValue: raw).map { "\($0)" } ?? "?")"
        case .wait: "\(WaitMove(rawValue: raw).map { "\($0)" } ?? "?")"
        case .inbox: "\(InboxMove(rawValue: raw).map { "\($0)" } ?? "?")"
        }
    }
}
