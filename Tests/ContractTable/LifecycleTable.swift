internal import Glibc
internal import LifecycleSimulation

/// The table of the rules of background life: the rules that every schedule of the simulations is checked by, and the
/// mutants of the machines that break it.
struct LifecycleTable {
    /// A mutant and the rules that it was first seen to break, in one schedule or another.
    private struct Tried {
        let name: String
        let broken: Set<String>
    }

    /// The number of schedules that each mutant is tried on at least, and at most until it is caught.
    private static let schedules = (least: UInt64(300), most: UInt64(2_000))

    /// The rows, as lines of a table.
    static func lines() -> [String] {
        let seeds = UInt64(1)...schedules.least
        let rules = seeds.reduce(into: Set<String>()) { rules, seed in
            rules.formUnion(ConnectivitySimulation.run(seed: seed).rules)
            rules.formUnion(KeepAliveSimulation.run(seed: seed).rules)
        }
        var tried: [Tried] = []
        for mutant in ConnectivityMutant.all {
            tried.append(attempt(mutant.name, rules) { ConnectivitySimulation.run(seed: $0, mutant).breaches })
        }
        for mutant in KeepAliveMutant.all {
            let name = "keep-alive: " + mutant.name
            tried.append(attempt(name, rules) { KeepAliveSimulation.run(seed: $0, mutant).breaches })
        }
        var lastRule = ""
        return ["| rule | what every schedule is judged by | mutants that break it |", "|---|---|---|"]
            + rules.sorted().map { rule in
                let parts = rule.split(separator: ":", maxSplits: 1).map { $0.drop { $0 == " " } }
                let mutants = tried.filter { $0.broken.contains(rule) }
                    .map { $0.broken.count == 1 ? "**\($0.name)**" : $0.name }
                let number = parts[0] == lastRule ? "" : String(parts[0])
                lastRule = String(parts[0])
                let text = mutants.isEmpty ? "*none*" : mutants.joined(separator: "; ")
                return "| \(number) | \(parts.dropFirst().joined()) | \(text) |"
            }
    }

    private static func attempt(_ name: String, _ rules: Set<String>, _ run: (UInt64) -> [String]) -> Tried {
        var broken: Set<String> = []
        for seed in UInt64(1)...schedules.most where seed <= schedules.least || broken.isEmpty {
            guard let breach = run(seed).first else { continue }
            // A breach begins with its rule. One rule may be the beginning of another, so the longest match counts.
            broken.formUnion(
                rules.filter { breach.hasPrefix($0 + ": ") }.max { $0.count < $1.count }.map { [$0] } ?? [])
        }
        StandardProgress.tell("\(name): \(broken.isEmpty ? "not caught" : broken.sorted().joined(separator: "; "))")
        return Tried(name: name, broken: broken)
    }
}

/// Standard error, where the progress goes.
enum StandardProgress {
    static func tell(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        // No stream is left to report a failure of this.
        _ = write(STDERR_FILENO, bytes, bytes.count)
    }
}
