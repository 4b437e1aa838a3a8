internal import CoreAPITesting
internal import Glibc
internal import Platform
internal import TestSupport

/// Prints a line at once, also into a file.
func say(_ line: String) {
    print(line)
    fflush(nil)
}

/// Runs the scenarios, prints a line for each, and reports whether all of them passed.
struct Campaign {
    private enum Outcome: Sendable {
        case held
        /// All checks passed, but no fault occurred: the program did not make the call this time.
        case notStruck
        case failed
        /// The scenario cannot run on this machine.
        case impossible(String)
    }

    /// The outcome of one case.
    private struct Result: Sendable {
        let item: Scenario.Case
        let faultCount: Int
        let outcome: Outcome

        var isFailed: Bool { if case .failed = outcome { true } else { false } }
        var isNotStruck: Bool { if case .notStruck = outcome { true } else { false } }
        var limitation: String? { if case .impossible(let reason) = outcome { reason } else { nil } }
    }

    let options: Options
    private let directory: String
    private let end: ContinuousClock.Instant
    private let seed: UInt64

    init(options: Options) throws {
        self.options = options
        directory = try Directory.makeTemporary("sharedcore-attack", in: getenv("TMPDIR").map { String(cString: $0) })
        // A case that is repeated alone has no time limit.
        let isUnlimited = !options.only.isEmpty || options.form == .whole
        // The two parts of an attack, on an optimized build and on one with fail points, take together the time of one
        // attack with all cases.
        let (short, long) =
            switch options.usesFailPoints {
            case nil: (105, 570)
            case false?: (75, 420)
            case true?: (30, 150)
            }
        end = .now + .seconds(isUnlimited ? 24 * 3600 : options.form == .brief ? short : long)
        seed = options.seed ?? UInt64.random(in: 1...UInt64(UInt32.max))
    }

    private func selection(for name: String) -> Scenario.Selection {
        Scenario.Selection(form: options.form, seed: seed, isSingle: options.seed != nil) { [options] item in
            options.selects(Self.name(of: item, in: name))
                && options.usesFailPoints.map { $0 == item.needsFailPoints } ?? true
        }
    }

    /// - Returns: The exit status: 0 when everything held, and everything ran that has to.
    func run() async throws -> Int32 {
        say("program \(options.program), seed \(seed)")
        let scenarios = Scenario.all.filter { options.selects($0.name) }
        var isFailed = false
        if let reason = try await tracingLimitation() {
            for scenario in scenarios { isFailed = miss(scenario.name, reason) || isFailed }
            return isFailed ? 1 : 0
        }
        for (index, scenario) in scenarios.enumerated() {
            // Time that one scenario does not use goes to later ones.
            let weights = scenarios[index...].reduce(0) { $0 + $1.weight }
            let share = ContinuousClock.now.duration(to: end) * Double(scenario.weight) / Double(weights)
            isFailed = try await run(scenario, until: .now + share) || isFailed
        }
        if !isFailed { TemporaryDirectory.remove(directory) }
        return isFailed ? 1 : 0
    }

    /// Returns why strace cannot trace processes, which most of the faults need; nil if it can.
    private func tracingLimitation() async throws -> String? {
        let look = try attempt("look", seed: seed)
        defer { TemporaryDirectory.remove(look.directory) }
        do {
            try await look.tool("strace", "-o", "/dev/null", "true")
            return nil
        } catch {
            // Also where there is no strace.
            return "\(error)"
        }
    }

    /// Reports that something cannot run here.
    ///
    /// - Returns: True if that is a failure.
    private func miss(_ name: String, _ reason: String) -> Bool {
        let isAllowed = options.allowsMissing(name)
        say("not run  \(name): \(reason)\(isAllowed ? "" : "; a failure, unless --allow-missing names it")")
        return !isAllowed
    }

    /// - Returns: True if anything has failed.
    private func run(_ scenario: Scenario, until deadline: ContinuousClock.Instant) async throws -> Bool {
        let start = ContinuousClock.now
        let selection = selection(for: scenario.name)
        let look = try attempt("\(scenario.name).look", seed: seed)
        defer { TemporaryDirectory.remove(look.directory) }
        var cases: [Scenario.Case]
        let possible: [Scenario.Case]
        do {
            possible = try await scenario.cases(selection, look).filter(selection.selects)
            cases = possible
            if selection.isBrief, let count = scenario.sampleCount { cases = Array(cases.prefix(count)) }
        } catch let limitation as HarnessLimitation {
            return miss(scenario.name, limitation.reason)
        } catch {
            say("FAILED   \(scenario.name), before its cases: \(error)")
            return true
        }
        guard !cases.isEmpty else {
            if options.usesFailPoints != true { say("not run  \(scenario.name): only in the long form") }
            return false
        }
        let results = await results(of: cases, in: scenario, until: deadline)
        let failureCount = results.count(where: \.isFailed)
        let limited = results.filter { $0.limitation != nil }
        let missedCount = results.count(where: \.isNotStruck)
        // A call that depends on the time may not come. If none came, nothing was tried.
        let isUntried = missedCount > 0 && missedCount + limited.count == results.count
        let hasFailed = failureCount > 0 || isUntried
        let word = hasFailed ? "FAILED  " : limited.count == cases.count ? "not run " : "passed  "
        let kinds = Dictionary(grouping: possible, by: \.kind).mapValues(\.count).sorted { $0.key > $1.key }
        let tried = results.filter { $0.limitation == nil && !$0.isNotStruck }
        let counts = kinds.map { kind, count in "\(tried.count { $0.item.kind == kind }) of \(count) \(kind)" }
        var line = "\(word) \(scenario.name): \(counts.joined(separator: " and "))"
        line += ", \(results.reduce(0) { $0 + $1.faultCount }) faults, \(failureCount) failed"
        if missedCount > 0 { line += ", no fault struck in \(missedCount) more" }
        line += ", seed \(seed), \(start.duration(to: .now).components.seconds) s"
        if cases.count > results.count { line += "; out of time" }
        say(line)
        for result in results where result.isNotStruck {
            say("         no fault struck in \(Self.name(of: result.item, in: scenario.name))")
        }
        var isFailed = hasFailed
        for result in limited {
            guard let reason = result.limitation else { continue }
            isFailed = miss(Self.name(of: result.item, in: scenario.name), reason) || isFailed
        }
        return isFailed
    }

    /// Runs cases, as many at once as there are processors, until they are done or the time is over. The first one always
    /// runs, and if no fault has struck in it, also later ones.
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
                // On a slow machine the only case may be one whose call did not come.
                let mustGoOn = results.count < 8 && results.allSatisfy { $0.isNotStruck || $0.limitation != nil }
                if mustGoOn || ContinuousClock.now < deadline, let item = rest.popFirst() {
                    tasks.addTask { await self.result(of: item, in: scenario) }
                }
            }
            return results
        }
    }

    private func result(of item: Scenario.Case, in scenario: Scenario) async -> Result {
        let name = Self.name(of: item, in: scenario.name)
        do {
            let attempt = try attempt("\(name).\(item.seed)", seed: item.seed)
            do {
                try await item.run(attempt)
                TemporaryDirectory.remove(attempt.directory)
                return Result(
                    item: item, faultCount: attempt.faultCount, outcome: attempt.isMissed ? .notStruck : .held)
            } catch let limitation as HarnessLimitation {
                TemporaryDirectory.remove(attempt.directory)
                return Result(item: item, faultCount: 0, outcome: .impossible(limitation.reason))
            } catch {
                say(
                    """
                    failed   \(name): \(error)
                             repeat: Scripts/attack --only \(name) --seed \(item.seed)
                             kept: \(attempt.directory)
                    """)
                return Result(item: item, faultCount: attempt.faultCount, outcome: .failed)
            }
        } catch {
            say("failed   \(name): \(error)")
            return Result(item: item, faultCount: 0, outcome: .failed)
        }
    }

    private func attempt(_ name: String, seed: UInt64) throws -> Attempt {
        let place = "\(directory)/\(name)"
        try Attempt.makeDirectory(place)
        return try Attempt(program: options.program, directory: place, seed: seed)
    }

    private static func name(of item: Scenario.Case, in scenario: String) -> String {
        item.name.isEmpty ? scenario : scenario + "." + item.name
    }
}
