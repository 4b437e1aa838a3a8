internal import Coordination
internal import CoreAPI

/// A group with one protection taken out: what the simulation has to notice.
package struct Mutant: Sendable {
    /// What is wrong with it, for people.
    package let name: String
    /// Changes the times and choices.
    var changeRules: (@Sendable (inout OwnershipRules) -> Void)?
    /// Changes those of Mains alone.
    var changeMainRules: (@Sendable (inout OwnershipRules) -> Void)?
    /// Damages what a machine wants done; nil does nothing.
    var changeDirective: (@Sendable (Directive, Move, OwnershipMachine) -> Directive?)?
    /// Damages what is committed.
    var changeTransaction: (@Sendable (inout Transaction, Simulation.Purpose) -> Void)?
    /// Damages what a participant of a session sees of an entry; nil does not show it.
    var changeSeen: (@Sendable (Entry, SessionID) -> Entry?)?
    /// Damages the shell: its calls look before their watch is open.
    var looksFirst = false
    /// Its calls expect before they look.
    var expectsFirst = false
    /// Its cores acknowledge to the server before they store.
    var acknowledgesFirst = false
    /// Its system kills whatever has a process's number.
    var killsByNumber = false
    /// Its Mains kill without looking again.
    var killsWithoutLooking = false
    /// Its Mains forget that their core runs when they are started again.
    var startsAnew = false
    /// Its cores are not told why they stop.
    var tellsNoReason = false
    /// Its Executors stop their cores also while those are busy.
    var overlooksOwnActivities = false
    /// Its owners learn nothing of what is waited for.
    var overlooksDemand = false
    /// Its Executors are told of a budget without end.
    var budgetIsEndless = false

    init(_ name: String, _ damage: (inout Mutant) -> Void) {
        self.name = name
        damage(&self)
    }

    /// What becomes of a directive.
    func changed(_ directive: Directive, _ move: Move, of machine: OwnershipMachine) -> Directive? {
        guard let changeDirective else { return directive }
        return changeDirective(directive, move, machine)
    }
}

extension Transaction {
    /// Takes out the conditions on these keys.
    mutating func dropGuards(on keys: Key...) {
        guards.removeAll { keys.contains($0.key) }
    }
}
