import Testing

/// A backend in memory with one line of damage, which the cases of its rules must catch.
struct Mutant: Sendable, CustomTestStringConvertible {
    /// What is wrong with it, as a phrase: "drops every deletion".
    let name: String
    /// The rules of which at least one case must fail.
    let rules: [String]
    let damage: Damage

    init(_ name: String, caughtBy rules: String..., damage change: (inout Damage) -> Void) {
        self.name = name
        self.rules = rules
        var damage = Damage()
        change(&damage)
        self.damage = damage
    }

    var testDescription: String { name }

    static let all =
        store + transactions + lifetimes + limits + requests + closing + watches + notifications + sessions
}
