internal import CoreAPI
internal import Lifecycle

/// A connectivity machine with one protection taken out: what the judge has to notice.
package struct ConnectivityMutant: Sendable {
    /// What is wrong with it.
    package let name: String
    /// Changes the rules that it is made with.
    var changeRules: (@Sendable (inout ConnectivityRules) -> Void)?
    /// Changes what the machine hears; nil is nothing.
    var changeEvent: (@Sendable (ConnectivityEvent) -> ConnectivityEvent?)?
    /// Changes what it hears of an action.
    var changeOutcome: (@Sendable (ConnectivityMachine.Outcome) -> ConnectivityMachine.Outcome)?
    /// Damages the machine before an event or the time reaches it.
    var damageBefore: (@Sendable (inout ConnectivityMachine) -> Void)?
    /// Damages the machine after a transition.
    var damageAfter: (@Sendable (inout ConnectivityMachine, ConnectivityTransition, BootInstant) -> Void)?

    init(_ name: String, _ damage: (inout ConnectivityMutant) -> Void) {
        self.name = name
        damage(&self)
    }

    /// One whose table has other actions in a row.
    init(
        _ name: String, _ number: TransitionNumber,
        does change: @escaping @Sendable (inout [ConnectivityAction]) -> Void
    ) {
        self.init(name, row: number) { change(&$0.actions) }
    }

    /// One whose table has another row.
    init(_ name: String, row number: TransitionNumber, _ change: @escaping @Sendable (inout TransitionRow) -> Void) {
        self.name = name
        changeRules = { change(&$0.table[number]) }
    }
}
