internal import CoreAPITesting
internal import Mutants

// Writes the table at the end of Docs/Contract.md: each rule with its cases, and for each case the mutants that it
// catches; those that no other case of their rules catches are set in bold. A mutant is tried on the cases of the rules
// that it breaks.

/// Cases that fail on a mutant, by the mutant's name.
var caught: [String: Set<String>] = [:]
let cases = ConformanceSuite.cases

for mutant in Mutant.all {
    for conformanceCase in cases where mutant.rules.contains(conformanceCase.rule) {
        let result = await Patience.$usual.withValue(.seconds(1)) {
            await conformanceCase.run(on: mutant.harness, seed: 1, within: .seconds(15))
        }
        if case .failed = result.outcome { caught[mutant.name, default: []].insert(conformanceCase.id) }
    }
    StandardProgress.tell("\(mutant.name): \(caught[mutant.name]?.sorted().joined(separator: " ") ?? "not caught")")
}

print("| rule | case | what it tries | mutants that it catches |")
print("|---|---|---|---|")
var lastRule = ""
for conformanceCase in cases {
    let mutants = Mutant.all.filter { caught[$0.name]?.contains(conformanceCase.id) == true }
    let text = mutants.map { caught[$0.name]?.count == 1 ? "**\($0.name)**" : $0.name }.joined(separator: "; ")
    let rule = conformanceCase.rule == lastRule ? "" : conformanceCase.rule
    lastRule = conformanceCase.rule
    print("| \(rule) | \(conformanceCase.id) | \(conformanceCase.title) | \(text.isEmpty ? "none" : text) |")
}
