internal import Coordination
internal import CoreAPI

/// Validates commands for calls (C24), with complete knowledge of the simulation.
extension Simulation {
    /// Validates that a core carries a command out.
    mutating func judgeExecution(of order: Int, by number: Int) {
        orders[order].executions += 1
        count(.executedCommands)
        let name = members[number].name
        check(orders[order].executions == 1, "C24: \(name)'s core carries a command out that was carried out before")
        check(
            !orders[order].isDisclaimed,
            "C24: \(name)'s core carries a command out, and its sender was told that it is not")
        let dialog = orders[order].dialog
        check(
            stored(dialogs[dialog].key).map { !$0.isOlder(than: present.owner?.claim) } ?? false,
            "C24: \(name)'s core carries out a command for “\(dialogs[dialog].id)”, which it does not have")
    }

    /// Validates the outcome that the sender of a command receives.
    mutating func judgeOutcome(of order: Int, _ progress: CommandProgress?) {
        let name = members[orders[order].sender].name
        switch progress?.kind {
        case nil:
            orders[order].isDisclaimed = true
            check(orders[order].executions == 0, "C24: \(name) is told that its command is not carried out, and it was")
        case .done, .refused:
            check(orders[order].executions == 1, "C24: \(name) is told what came of a command that no core has taken")
        case .taken: break
        }
    }
}
