internal import CoreAPITesting
internal import FileCases
internal import Mutants

// Writes the tables at the end of Docs/Reference/Contract.md: each rule with its cases and, for each case the mutants
// that it catches. Mutants in memory that no other case of their rules catches are set in bold. A mutant in memory is
// tried on the cases of the rules that it breaks, a mutant of the file backend on the case that is named for it. The
// second process of the tests must be built beside this program. With the beginnings of rules as arguments (`C`, `S1`),
// only their rows are written, and none of the file backend. With `P` the table of background life is written, which is
// a separate one.

/// Cases that fail on a mutant, by the mutant's name.
var caught: [String: Set<String>] = [:]
let beginnings = CommandLine.arguments.dropFirst()
let cases = ConformanceSuite.cases.filter { conformanceCase in
    beginnings.isEmpty || beginnings.contains(where: conformanceCase.rule.hasPrefix)
}

for mutant in Mutant.all where cases.contains(where: { mutant.rules.contains($0.rule) }) {
    for conformanceCase in cases where mutant.rules.contains(conformanceCase.rule) {
        let result = await TestTimeout.$usual.withValue(.seconds(1)) {
            await conformanceCase.run(on: mutant.harness, seed: 1, timeout: .seconds(15))
        }
        if case .failed = result.outcome { caught[mutant.name, default: []].insert(conformanceCase.id) }
    }
    StandardProgress.tell("\(mutant.name): \(caught[mutant.name]?.sorted().joined(separator: " ") ?? "not caught")")
}

/// The mutants of the file backend that a case catches.
var caughtInFiles: [String: [String]] = [:]
for mutant in beginnings.isEmpty ? FileMutant.all : [] {
    let report = try await mutant.attempt()
    if mutant.isCaught(in: report) { caughtInFiles[mutant.caseID, default: []].append(mutant.name) }
    StandardProgress.tell("files: \(mutant.name): \(mutant.isCaught(in: report) ? mutant.caseID : "not caught")")
}

/// Prints a table of cases.
@MainActor func printTable(of cases: [ConformanceCase]) {
    print("| rule | case | what it tries | mutants that it catches |")
    print("|---|---|---|---|")
    var lastRule = ""
    for conformanceCase in cases {
        let mutants = Mutant.all.filter { caught[$0.name]?.contains(conformanceCase.id) == true }
        let names = mutants.map { caught[$0.name]?.count == 1 ? "**\($0.name)**" : $0.name }
        let inFiles = (caughtInFiles[conformanceCase.id] ?? []).map { "files: \($0)" }
        let text = (names + inFiles).joined(separator: "; ")
        let rule = conformanceCase.rule == lastRule ? "" : conformanceCase.rule
        lastRule = conformanceCase.rule
        print("| \(rule) | \(conformanceCase.id) | \(conformanceCase.title) | \(text.isEmpty ? "*none*" : text) |")
    }
}

if !cases.isEmpty { printTable(of: cases) }
if beginnings.isEmpty {
    print()
    printTable(of: FileCases.all)
    print()
}
if beginnings.isEmpty || beginnings.contains("P") {
    for line in LifecycleTable.lines() { print(line) }
}
