package import CoreAPITesting

/// A backend in memory with one line of damage, which the cases of its rules must catch.
package struct Mutant: Sendable, CustomStringConvertible {
    /// The defect, as a phrase: "drops every deletion".
    package let name: String
    /// The rules of which at least one case must fail.
    package let rules: [String]
    let damage: Damage

    init(_ name: String, caughtBy rules: String..., damage change: (inout Damage) -> Void) {
        self.name = name
        self.rules = rules
        var damage = Damage()
        change(&damage)
        self.damage = damage
    }

    package var description: String { name }

    package static let all =
        store + transactions + lifetimes + limits + requests + closing + watches + notifications + sessions
        + coordination + batons + rests + mailboxes

    /// The suite's access to it.
    package var harness: any ConformanceHarness { MutantHarness(name: name, damage: damage) }

    /// The same harness without a damage. A case that fails there does not fail because of a damage.
    package static var intact: any ConformanceHarness {
        var damage = Damage()
        damage.baton = BatonPlace.Defect.none
        return MutantHarness(name: "no damage", damage: damage)
    }
}
