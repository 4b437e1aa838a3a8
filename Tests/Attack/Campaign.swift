internal import CoreAPITesting
internal import Glibc
internal import Platform
internal import TestSupport

/// Prints a line at once, also into a file.
func say(_ line: String) {
    print(line)
    fflush(nil)
}

/// Runs the scenarios, prints a line for each, and says whether all of them held.
struct Campaign {
    /// What became of one case.
    private struct Result: Sendable {
        let item: Scenario.Case
        let faultCount: Int
        let failure: String?
        let limitation: String?
    }

    let options: Options
    private let directory: String
    private let end: ContinuousClock.Instant
    private let wish: Scenario.Wish

    init(options: Options) throws {
        self.options = options
        directory = try Directory.makeTemporary("sharedcore-attack", in: getenv("TMPDIR").map { String(cString: $0) })
        // A case that is repeated alone takes as long as it takes.
        end = .now + (options.only != nil ? .seconds(24 * 3600) : options.isBrief ? .seconds(105) : .seconds(570))
        wish = Scenario.Wish(
            isBrief: options.isBrief, seed: options.seed ?? UInt64.random(in: 1...UInt64(UInt32.max)),
            isSingle: options.seed != nil)
    }

    /// - Returns: The exit status: 0 when everything held.
    func run() async throws -> Int32 {
        say("program \(options.program), seed \(wish.seed)")
        guard try await canTrace() else { return options.isStrict ? 1 : 0 }
        let scenarios = Scenario.all.filter { options.selects($0.name) }
        var isFailed = false
        var isIncomplete = false
        for (index, scenario) in scenarios.enumerated() {
            // What one scenario leaves of its time, the later ones have.
            let weights = scenarios[index...].reduce(0) { $0 + $1.weight }
            let share = ContinuousClock.now.duration(to: end) * Double(scenario.weight) / Double(weights)
            let (hasFailed, isCut) = try await run(scenario, until: .now + share)
            isFailed = isFailed || hasFailed
            isIncomplete = isIncomplete || isCut
        }
        if !isFailed { TemporaryDirectory.remove(directory) }
        return isFailed || isIncomplete && options.isStrict ? 1 : 0
    }

    /// Whether the system lets strace trace a process, which most of the faults need.
    private func canTrace() async throws -> Bool {
        let look = try attempt("look", seed: wish.seed)
        defer { TemporaryDirectory.remove(look.directory) }
        do {
            try await look.tool("strace", "-o", "/dev/null", "true")
            return true
        } catch let limitation as HarnessLimitation {
            say("not run: \(limitation.reason)")
            return false
        }
    }

    private func run(
        _ scenario: Scenario, until deadline: ContinuousClock.Instant
    ) async throws -> (hasFailed: Bool, isCut: Bool) {
        let start = ContinuousClock.now
        let look = try attempt("\(scenario.name).look", seed: wish.seed)
        defer { TemporaryDirectory.remove(look.directory) }
        let cases: [Scenario.Case]
        do {
            cases = try await scenario.cases(wish, look).filter { options.selects(Self.name(scenario, $0)) }
        } catch let limitation as HarnessLimitation {
            say("not run  \(scenario.name): \(limitation)")
            return (false, true)
        } catch {
            say("FAILED   \(scenario.name), before its cases: \(error)")
            return (true, false)
        }
        guard !cases.isEmpty else {
            say("not run  \(scenario.name): only in the long form")
            return (false, false)
        }
        let results = await results(of: cases, in: scenario, until: deadline)
        let failures = results.filter { $0.failure != nil }
        let limited = results.filter { $0.limitation != nil }
        let leftCount = cases.count - results.count + limited.count
        let word = !failures.isEmpty ? "FAILED  " : limited.count == cases.count ? "not run " : "passed  "
        var line = "\(word) \(scenario.name): \(results.count - limited.count) runs"
        line += ", \(results.reduce(0) { $0 + $1.faultCount }) faults, \(failures.count) failed"
        line += ", seed \(wish.seed), \(start.duration(to: .now).components.seconds) s"
        if cases.count > results.count { line += "; not run: \(cases.count - results.count), out of time" }
        if let reason = limited.first?.limitation { line += "; not run: \(limited.count), \(reason)" }
        say(line)
        return (!failures.isEmpty, leftCount > 0)
    }

    /// Runs cases, as many at once as there are processors, until they are done or the time is over; a first one always.
    private func results(
        of cases: [Scenario.Case], in scenario: Scenario, until deadline: ContinuousClock.Instant
    ) async -> [Result] {
        await withTaskGroup(of: Result.self) { tasks in
            var rest = cases[...]
            var results: [Result] = []
            for index in 0..<max(2, sysconf(Int32(_SC_NPROCESSORS_ONLN))) {
                guard index == 0 || ContinuousClock.now < end, let item = rest.popFirst() else { break }
                tasks.addTask { await result(of: item, in: scenario) }
            }
            while let result = await tasks.next() {
                results.append(result)
                if ContinuousClock.now < deadline, let item = rest.popFirst() {
                    tasks.addTask { await self.result(of: item, in: scenario) }
                }
            }
            return results
        }
    }

    private func result(of item: Scenario.Case, in scenario: Scenario) async -> Result {
        let name = Self.name(scenario, item)
        do {
            let attempt = try attempt("\(name).\(item.seed)", seed: item.seed)
            do {
                try await item.run(attempt)
                TemporaryDirectory.remove(attempt.directory)
                return Result(item: item, faultCount: attempt.faultCount, failure: nil, limitation: nil)
            } catch let limitation as HarnessLimitation {
                TemporaryDirectory.remove(attempt.directory)
                return Result(item: item, faultCount: 0, failure: nil, limitation: limitation.reason)
            } catch {
                say(
                    """
                    failed   \(name): \(error)
                             repeat: Scripts/attack --only \(name) --seed \(item.seed)
                             kept: \(attempt.directory)
                    """)
                return Result(item: item, faultCount: attempt.faultCount, failure: "\(error)", limitation: nil)
            }
        } catch {
            say("failed   \(name): \(error)")
            return Result(item: item, faultCount: 0, failure: "\(error)", limitation: nil)
        }
    }

    private func attempt(_ name: String, seed: UInt64) throws -> Attempt {
        let place = "\(directory)/\(name)"
        try Attempt.makeDirectory(place)
        return try Attempt(program: options.program, directory: place, seed: seed)
    }

    private static func name(_ scenario: Scenario, _ item: Scenario.Case) -> String {
        item.name.isEmpty ? scenario.name : scenario.name + "." + item.name
    }
}
