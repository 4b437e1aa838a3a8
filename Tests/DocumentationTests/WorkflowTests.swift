internal import Foundation
internal import Testing

/// A check that no workflow runs is tried by no change and no night.
@Suite("The checks of each change and the nightly run together are `make check-all`")
struct WorkflowTests {
    private let checks = Result { try Repository.text(".github/workflows/checks.yml") }
    private let nightly = Result { try Repository.text(".github/workflows/nightly.yml") }

    @Test("Each target of `make check-all` is run by one of them")
    func targets() throws {
        let makefile = try Repository.text("Makefile")
        let line = try #require(makefile.firstMatch(of: /\ncheck-all: ([^\n]*)/)).1
        // The containers of the workflows are root's.
        let targets = line.replacing(#/\$\(if \$\(IS_ROOT\),([^,]*),[^)]*\)/#) { $0.1 }.split(separator: " ")
        #expect(targets.count > 8)
        let matrix = try #require(try nightly.get().firstMatch(of: /target: \[([^\]]*)\]/)).1
        var found = Set(matrix.split(separator: ", ").map(String.init))
        for workflow in [try checks.get(), try nightly.get()] {
            found.formUnion(workflow.matches(of: /- run: make ([a-z-]+)/).map { String($0.1) })
        }
        // With the words of the target `lint`, since the tests need not wait for make.
        if try checks.get().contains("- run: .ci/run"),
            try Repository.text(".ci/run").contains("swift format lint --strict")
        {
            found.insert("lint")
        }
        for target in targets { #expect(found.contains(String(target)), "no workflow runs make \(target)") }
    }

    @Test("Each scenario of the attack is in one part of the nightly run")
    func parts() throws {
        var scenarios: [String] = []
        for file in try Repository.files(below: "Tests/Attack/Scenarios", ending: ".swift") {
            let source = try Repository.text(file)
            scenarios += source.matches(of: /\bScenario\("([a-z0-9-]+)"/).map { String($0.1) }
            scenarios += source.matches(of: /Operation\(name: "([a-z-]+)"/).map { "faults-\($0.1)" }
        }
        #expect(scenarios.count > 20)
        let only = try nightly.get().matches(of: /--only ([a-z0-9-]+)/).map { String($0.1) }
        for name in scenarios { #expect(only.count { name.hasPrefix($0) } == 1, "\(name)") }
        for prefix in only {
            #expect(scenarios.contains { $0.hasPrefix(prefix) }, "no scenario begins with “\(prefix)”")
        }
    }
}
