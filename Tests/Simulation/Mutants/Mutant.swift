internal import Coordination
internal import CoreAPI

/// A group without one protection, which the simulation must detect.
package struct Mutant: Sendable {
    /// A description of the damage.
    package let name: String
    /// Changes the times and choices.
    var changeRules: (@Sendable (inout OwnershipRules) -> Void)?
    /// Changes the rules of Mains only.
    var changeMainRules: (@Sendable (inout OwnershipRules) -> Void)?
    /// Damages a machine's directive; returns nil to drop it.
    var changeDirective: (@Sendable (Directive, Move, OwnershipMachine) -> Directive?)?
    /// Damages a transaction before it is committed.
    var changeTransaction: (@Sendable (inout Transaction, Simulation.Purpose) -> Void)?
    /// Damages the view that a session has of an entry; returns nil to hide it.
    var changeSeen: (@Sendable (Entry, SessionID) -> Entry?)?
    /// Damages the shell: its calls read before their watch is open.
    var looksFirst = false
    /// Calls record their expectation before they read.
    var expectsFirst = false
    /// Cores acknowledge to the server before they store.
    var acknowledgesFirst = false
    /// The system kills any process with the given number.
    var killsByNumber = false
    /// Mains kill without checking again.
    var killsWithoutLooking = false
    /// Mains forget on a restart that their core runs.
    var startsAnew = false
    /// Cores receive no reason for a stop.
    var tellsNoReason = false
    /// Executors stop their cores even while these are busy.
    var overlooksOwnActivities = false
    /// Owners ignore the demand.
    var overlooksDemand = false
    /// Cores start without ending the calls of former ones.
    var leavesLostCalls = false
    /// Cores end the calls of the baton that they get, too.
    var sparesNoCalls = false
    /// Cores do not check for a Main's request when a call ceases to move.
    var movesAsItLikes = false
    /// Cores take commands that were taken already.
    var takesCommandsAgain = false
    /// Cores take expired commands.
    var takesLateCommands = false
    /// Executors do not want to own for their batons.
    var doesNotOwnAgain = false
    /// Members forget that a commit that ended their baton had no answer.
    var forgetsUnclearEnds = false
    /// Executors receive an endless budget.
    var budgetIsEndless = false

    /// Schedules that detect mutants which few of them detect, by the names of the mutants. They are tried first.
    package static let seedsFound: [String: UInt64] = [
        "a Main that is started again and forgets that its core runs": 84_542,
        "a baton that is applied without the epoch as the guard": 95_884,
    ]

    init(_ name: String, _ damage: (inout Mutant) -> Void) {
        self.name = name
        damage(&self)
    }

    /// Returns the damaged form of a directive.
    func changed(_ directive: Directive, _ move: Move, of machine: OwnershipMachine) -> Directive? {
        guard let changeDirective else { return directive }
        return changeDirective(directive, move, machine)
    }
}

extension Transaction {
    /// Removes the guards on these keys.
    mutating func dropGuards(on keys: Key...) {
        guards.removeAll { keys.contains($0.key) }
    }
}
