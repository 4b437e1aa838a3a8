internal import CoreAPITesting
internal import Mutants

// Writes the table at the end of Docs/Contract.md: each rule with its cases, and for each case the mutants that it
// catches; those that no other case catches are set in bold. Runs every case on every mutant, which takes a while; the two
// that take seconds each (half a million posts, a hundred thousand watches) only on those of their own rule.

/// Cases that fail on a mutant, by the mutant's name.
var caught: [String: Set<String>] = [:]
let cases = ConformanceSuite.cases
let slowRules: Set<String> = ["N8", "W4"]

for mutant in Mutant.all {
    for conformanceCase in cases
    where !slowRules.contains(conformanceCase.rule) || mutant.rules.contains(conformanceCase.rule) {
        let result = await Patience.$usual.withValue(.seconds(1)) {
            await conformanceCase.run(on: mutant.harness, seed: 1)
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
