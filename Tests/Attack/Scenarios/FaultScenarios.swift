internal import CoreAPI
internal import CoreAPITesting
internal import Glibc
internal import Platform
internal import Synchronization
internal import TestSupport

/// Each system call that the backend makes on the group's directory fails once, and is once the place of a kill. A
/// call that changes something is also once the place where the process is stopped.
///
/// A run without faults counts the calls. Then each one is struck alone, in a group of its own, and all of a kind
/// together for as long as the program runs. Then come pairs of the last ones, of which the second may be a kill.
enum FaultScenarios {
    /// Something that the program does while the faults strike.
    private struct Operation: Sendable {
        let name: String
        /// The operation's part of the time.
        let weight: Int
        /// Makes the state before it.
        let prepare: @Sendable (Attempt) async throws -> Void
        /// Does it below strace.
        let run: @Sendable (Attempt, _ strace: [String]) async throws -> Void
        /// The fail point by which a feature of the file system is missing; a release build has none.
        var failPoint: String?
        /// True if other processes can continue while the process of the operation is stopped.
        var isPassedOver = true
        /// The number of its pairs that are possible cases; nil for all of them.
        var pairCount: Int? = 100
        /// The directories that it writes to.
        var directories: @Sendable (Attempt) -> [String] = { [$0.group] }

        init(
            name: String, weight: Int, prepare: @escaping @Sendable (Attempt) async throws -> Void,
            run: @escaping @Sendable (Attempt, _ strace: [String]) async throws -> Void,
            with change: (inout Self) -> Void = { _ in }
        ) {
            self.name = name
            self.weight = weight
            self.prepare = prepare
            self.run = run
            change(&self)
        }
    }

    static var all: [Scenario] {
        [
            opening, put, commit, roll, compaction, takeOver, handOver, waiting, serving, backup, restoration, renaming,
        ].map { operation in
            Scenario("faults-\(operation.name)", weight: operation.weight, sampleCount: 6) { selection, look in
                try await cases(of: operation, selection, look)
            }
        }
    }

    private static let opening = Operation(name: "first-opening", weight: 3) { _ in
    } run: { attempt, strace in
        try await attempt.put("faulted", number: 1, through: ["strace", "-D"] + strace, mayBeKilled: true)
    }

    private static let put = Operation(name: "opening", weight: 2) { attempt in
        try await putTwo(attempt)
    } run: { attempt, strace in
        try await attempt.put("faulted", number: 1, through: ["strace", "-D"] + strace, mayBeKilled: true)
    }

    private static let commit = Operation(name: "commit", weight: 1) { attempt in
        try await putTwo(attempt)
    } run: { attempt, strace in
        _ = try await attempt.putLate("faulted", number: 1, byteCount: 20_000, strace: strace, mayBeKilled: true)
    } with: {
        $0.pairCount = nil
    }

    /// A journal is replaced: an earlier writer is stopped inside its commit, so that the order goes on in a new one.
    private static let roll = Operation(name: "roll", weight: 2) { attempt in
        try await putTwo(attempt)
    } run: { attempt, strace in
        let frozen = try await attempt.frozenWriter()
        defer { frozen.signal(.kill) }
        try await attempt.put("faulted", number: 1, through: ["strace", "-D"] + strace, mayBeKilled: true)
    } with: {
        $0.pairCount = nil
    }

    /// The log is long, since its writers end before their compactions. A participant that goes on after its commits
    /// compacts.
    private static let compaction = Operation(name: "compaction", weight: 4) { attempt in
        for _ in 1...2 {
            try await attempt.demand("--durability", "disk", "mailbox", "send", "jobs", "1", "--queue")
        }
        let slow = [Fault(call: "fdatasync", kind: .delay(1_000_000), occurrence: nil)]
        for number: UInt64 in 1...13 {
            let answer = try await attempt.put(
                "large", number: number, byteCount: 100_000, options: ["--durability", "process"],
                through: ["strace", "-D"] + Fault.arguments(for: slow, output: "/dev/null"))
            try expect(answer.isSuccess, answer.summary)
        }
    } run: { attempt, strace in
        try await attempt.run(
            ["--durability", "disk", "mailbox", "take", "jobs", "--count", "3", "--timeout", "1s"],
            through: ["strace", "-D"] + strace, mayBeKilled: true)
    } with: {
        $0.pairCount = nil
    }

    private static let takeOver = Operation(name: "take-over", weight: 3) { attempt in
        try await putTwo(attempt)
        let owner = try await attempt.own("executor")
        try await attempt.kill(owner)
    } run: { attempt, strace in
        try await ownBriefly(attempt, strace)
    }

    /// The owner lives and hands over, or is ended.
    private static let handOver = Operation(name: "hand-over", weight: 3) { attempt in
        try await putTwo(attempt)
    } run: { attempt, strace in
        let owner = try await attempt.own("executor")
        try await ownBriefly(attempt, strace)
        owner.signal(.terminate)
        _ = try await attempt.end(of: owner, ["exclusive"], mayBeKilled: true)
    }

    /// A core that takes the witness's lock and ends.
    private static func ownBriefly(_ attempt: Attempt, _ strace: [String]) async throws {
        try await attempt.run(
            ["--durability", "disk", "exclusive", "--role", "main", "--"] + attempt.witness.shortCommand,
            through: ["strace", "-D"] + strace, mayBeKilled: true)
    }

    /// An observer that a post wakes, that reports that it cannot wait, or that ends at its time limit.
    private static let waiting = Operation(name: "waiting", weight: 2) { attempt in
        try await putTwo(attempt)
    } run: { attempt, strace in
        let words = ["notify", "observe", "news", "--count", "1", "--timeout", "5s"]
        let observer = try attempt.start(words, through: ["strace", "-D"] + strace)
        try await eventually("the observer's post") {
            if observer.ended == nil { try await attempt.demand("notify", "post", "news") }
            return observer.ended != nil
        }
        _ = try await attempt.end(of: observer, words, mayBeKilled: true)
    }

    /// A host that is told to end once it serves.
    private static let serving = Operation(name: "serving", weight: 2) { attempt in
        try await putTwo(attempt)
    } run: { attempt, strace in
        let host = try attempt.start(["serve"], through: ["strace", "-D"] + strace)
        // Faults may prevent that.
        try? await eventually("the host serves", timeout: .seconds(10)) {
            host.ended != nil || attempt.hasPushSocket
        }
        let answer = try await attempt.put("beside", number: 1)
        try expect(answer.isSuccess, "others go on; \(answer.summary)")
        host.signal(.terminate)
        _ = try await attempt.end(of: host, ["serve"], mayBeKilled: true)
    }

    /// A backup counts only if it is complete.
    private static let backup = Operation(name: "backup", weight: 2) { attempt in
        try await putTwo(attempt)
    } run: { attempt, strace in
        let answer = try await attempt.run(
            ["backup", "\(attempt.directory)/copy"], through: ["strace", "-D"] + strace, mayBeKilled: true)
        if answer.isSuccess { try await attempt.demand("salvage", "\(attempt.directory)/copy") }
    } with: {
        $0.directories = { [$0.group, $0.directory + "/copy"] }
    }

    /// The group differs from its backup in a changed, a new and a deleted key. Afterwards it is all of the one or all
    /// of the other, and the backup where that was acknowledged.
    private static let restoration = Operation(name: "restoration", weight: 2) { attempt in
        try await putTwo(attempt)
    } run: { attempt, strace in
        try await attempt.demand("backup", "\(attempt.directory)/copy")
        let old = try attempt.log.copy(path: attempt.newPath("old-log"))
        let changes = [
            try await attempt.put("before1", number: 3), try await attempt.put("after", number: 1),
            try await attempt.delete("before2"),
        ]
        for change in changes { try expect(change.isSuccess, change.summary) }
        let answer = try await attempt.run(
            ["restore", "\(attempt.directory)/copy"], through: ["strace", "-D"] + strace, mayBeKilled: true)
        let found = try await attempt.entries()
        if answer.isSuccess || (try? attempt.log.verify(found)) == nil { attempt.log.adopt(old) }
        try attempt.log.verify(found)
    } with: {
        $0.isPassedOver = false
    }

    /// A first opening where each new file needs a name, and is renamed when it is whole.
    private static let renaming = Operation(name: "renaming", weight: 2) { _ in
    } run: { attempt, strace in
        try await attempt.put(
            "faulted", number: 1, through: ["strace", "-D"] + strace, mayBeKilled: true)
    } with: {
        $0.failPoint = "openat(O_TMPFILE):fail=95*"
    }

    private static func putTwo(_ attempt: Attempt) async throws {
        for number: UInt64 in 1...2 {
            let answer = try await attempt.put("before\(number)", number: number)
            try expect(answer.isSuccess, answer.summary)
        }
    }

    private static func cases(
        of operation: Operation, _ selection: Scenario.Selection, _ look: Attempt
    ) async throws -> [Scenario.Case] {
        let hasFailPoints = try await hasFailPoints(look)
        guard hasFailPoints || operation.failPoint == nil else { return [missing("unnamed-files", selection)] }
        try await operation.prepare(look)
        let template = look.newPath("template")
        try Attempt.makeDirectory(template)
        if !look.names.isEmpty { try await look.tool("cp", "-a", look.group, template) }
        let known = try look.log.copy(path: look.newPath("template-log"))

        let trace = look.newPath("trace")
        try await operation.run(
            look, SystemCalls.arguments(output: trace) + Fault.environment(of: [operation.failPoint].compactMap(\.self))
        )
        let calls = SystemCalls(trace: trace, in: operation.directories(look))
        try expect(!calls.places.isEmpty, "strace sees the calls of the program")
        let counts = Dictionary(grouping: calls.places, by: \.call).map { "\($0.key) \($0.value.count)" }.sorted()
        say(
            "         \(operation.name): \(calls.count) calls at \(calls.places.count) places: \(counts.joined(separator: ", "))"
        )

        // The program of a commit runs before the faults begin, so it gets no fail points.
        let takesFailPoints = hasFailPoints && operation.name != commit.name
        var random = SeededRandom(seed: selection.seed)
        // In another order each time, so that the cases left out for lack of time vary.
        var singles = singles(of: calls, operation, withFailPoints: takesFailPoints).shuffled(using: &random)[...]
        func item(_ kind: String, _ faults: [Fault]) -> Scenario.Case {
            Scenario.Case(
                faults.map(\.description).joined(separator: "+"), seed: selection.seed, kind: kind,
                needsFailPoints: operation.failPoint != nil || faults.contains(where: \.kind.needsFailPoints)
            ) { attempt in
                if !TemporaryDirectory.names(in: template).isEmpty {
                    try await attempt.tool("cp", "-a", template + "/default", attempt.groups)
                }
                attempt.log.adopt(known)
                try await strike(faults, operation, attempt)
                try await attempt.verifyRecovery()
            }
        }
        // Of those that were asked for, so that the sample is as large as it can be.
        let allPairs = pairs(of: calls, withFailPoints: takesFailPoints).shuffled(using: &random)
            .map { item("pairs", $0) }.filter(selection.selects)
        var pairs = allPairs.prefix(selection.isSingle ? allPairs.count : operation.pairCount ?? allPairs.count)
        var items = hasFailPoints ? [] : [missing("short-writes", selection)]
        // A pair after every second single while time is short, and the remaining ones of either at the end.
        while !singles.isEmpty || !pairs.isEmpty {
            let count = selection.form == .whole ? max(2, singles.count) : 2
            items += singles.prefix(count).map { item("single faults", $0) }
            singles = singles.dropFirst(count)
            if let pair = pairs.popFirst() { items.append(pair) }
        }
        return items
    }

    /// The stand-in for the cases that a build without fail points does not have.
    private static func missing(_ name: String, _ selection: Scenario.Selection) -> Scenario.Case {
        Scenario.Case(name, seed: selection.seed, needsFailPoints: true) { _ in
            throw HarnessLimitation("a release build has no fail points")
        }
    }

    /// Runs the operation while the faults strike. If they stop it, other processes continue meanwhile.
    private static func strike(_ faults: [Fault], _ operation: Operation, _ attempt: Attempt) async throws {
        let trace = attempt.newPath("trace")
        let arguments = Fault.arguments(
            for: faults, output: trace, in: operation.directories(attempt), beside: operation.failPoint)
        if faults.contains(where: { $0.kind == .stop }) {
            let hasEnded = Atomic(false)
            async let running: Void = {
                defer { hasEnded.store(true, ordering: .releasing) }
                try await operation.run(attempt, arguments)
            }()
            try await eventually("the process stands still, or has ended") {
                hasEnded.load(ordering: .acquiring) || !SystemCalls.stoppedThreads(trace: trace).isEmpty
            }
            var problem: (any Error)?
            do {
                let answer = try await attempt.put("passing", number: 1)
                try expect(answer.isSuccess, "others go on beside a process that stands still; \(answer.summary)")
                try await attempt.demand("status")
            } catch {
                problem = error
            }
            var count = 0
            // Another thread of the process may come to such a call later.
            try await eventually("the process goes on and ends", timeout: .seconds(90)) {
                let threads = SystemCalls.stoppedThreads(trace: trace)
                if let thread = threads.last, threads.count > count {
                    count = threads.count
                    kill(thread, SIGCONT)
                }
                return hasEnded.load(ordering: .acquiring)
            }
            try await running
            if let problem { throw problem }
        } else {
            try await operation.run(attempt, arguments)
        }
        let directories = operation.directories(attempt)
        // strace writes down the end of a process when the process's parent knows of it already.
        try? await eventually("a fault has struck", timeout: .seconds(1)) {
            Fault.struckCount(of: faults, trace: trace, in: directories) > 0
        }
        let count = Fault.struckCount(of: faults, trace: trace, in: directories)
        count > 0 ? attempt.countFaults(count) : attempt.noteMissed()
    }

    /// Returns true if the program has fail points: told to, it then exits at its first write.
    private static func hasFailPoints(_ look: Attempt) async throws -> Bool {
        let answer = try await look.run(
            ["--group", "probe", "store", "put", "never", "put"],
            through: ["env", "SHAREDCORE_FAIL_POINT=pwrite:exit=97"])
        return answer.end == .exited(97)
    }

    /// Each place with each error, a kill and a stop, and all calls of a kind together. Each write takes a part of its bytes
    /// once, and once the disk is full behind that part.
    private static func singles(
        of calls: SystemCalls, _ operation: Operation, withFailPoints: Bool
    ) -> [[Fault]] {
        var faults: [Fault] = []
        for place in calls.distinctPlaces {
            faults += Fault.errors(of: place.call).map { Fault(.error($0), at: place) }
            faults.append(Fault(.kill, at: place))
            // A process that stands still at a read has changed no more than at its next change.
            if operation.isPassedOver, place.isChanging { faults.append(Fault(.stop, at: place)) }
        }
        for call in Set(calls.places.map(\.call)).sorted() {
            // From its first lock on: before it, a descriptor may be duplicated by this call.
            let first =
                call == "fcntl" ? calls.places.filter { $0.call == call && $0.isNamed }.map(\.occurrence).min() : nil
            faults += Fault.lastingErrors(of: call).map { error in
                first.map {
                    Fault(
                        .error(error), at: SystemCalls.Place(call: call, occurrence: $0, isNamed: true), isLasting: true
                    )
                } ?? Fault(.error(error), always: call)
            }
        }
        let writes = withFailPoints ? Array(calls.placeCountsBeforeWrites.indices) : []
        return faults.map { [$0] } + writes.flatMap { shorts(at: $0 + 1).map { [$0] } }
    }

    private static func shorts(at write: Int) -> [Fault] {
        [false, true].map { Fault(call: "pwrite64", kind: .short(isFull: $0), occurrence: write) }
    }

    /// The pairs of the last 20 places: two errors, and an error or a short write with a kill behind it.
    private static func pairs(of calls: SystemCalls, withFailPoints: Bool) -> [[Fault]] {
        let changing = pairs(of: calls.places.filter { !$0.isGeneral }.suffix(20))
        // Of two calls that read, both can be struck alone as well.
        let named = pairs(of: calls.namedPlaces.suffix(20)).filter { first, second in
            (first.isGeneral || second.isGeneral) && (first.isChanging || second.isChanging)
        }
        var plans = (changing + named).flatMap { first, second in
            let error = Fault(.error(Fault.errors(of: first.call)[0]), at: first)
            let other = Fault(.error(Fault.errors(of: second.call)[0]), at: second)
            // strace knows one fault for each kind of call.
            return [[error, other]] + (first.call == second.call ? [] : [[error, Fault(.kill, at: second)]])
        }
        guard withFailPoints else { return plans }
        for call in Fault.failPoints.keys.sorted() {
            let numbers = 1..<(calls.counts[call] ?? 0) + 1
            for first in numbers.suffix(20) {
                for later in numbers.suffix(20) where later > first {
                    plans.append([Fault(call: call, kind: .errorThenKill(after: later - first), occurrence: first)])
                }
            }
        }
        let start = max(0, calls.places.count - 20)
        for (number, before) in calls.placeCountsBeforeWrites.enumerated() where before >= start {
            for later in calls.places[before...] {
                plans += shorts(at: number + 1).map { [$0, Fault(.kill, at: later)] }
            }
        }
        return plans
    }

    /// Each place with each later one.
    private static func pairs(
        of places: some Collection<SystemCalls.Place>
    ) -> [(first: SystemCalls.Place, second: SystemCalls.Place)] {
        let places = Array(places)
        return places.indices.flatMap { first in places[(first + 1)...].map { (places[first], $0) } }
    }
}
