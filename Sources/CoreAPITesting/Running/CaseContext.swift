package import CoreAPI

/// The context of a case: groups of the backend under test, a seed, and notes about the run.
package final class CaseContext: Sendable {
    package let harness: any ConformanceHarness
    /// The seed of the random choices of the case.
    package let seed: Seed
    private let fault: ServerFault?
    private let notes = Box<[String]>([])
    private let ranWith = Box<[String]>([])
    private let groups = Box<[TestGroup]>([])

    init(harness: any ConformanceHarness, seed: Seed, fault: ServerFault? = nil) {
        self.harness = harness
        self.seed = seed
        self.fault = fault
    }

    /// Returns a generator with a sequence that follows from the seed of the run.
    package func random() -> SeededRandom { SeededRandom(seed) }

    /// Runs a part of a case on a fresh group, then closes every handle that was opened in it and removes the group.
    package func withGroup<Result>(
        _ settings: GroupSettings = GroupSettings(), _ body: (TestGroup) async throws -> Result
    ) async throws -> Result {
        var settings = settings
        settings.fault = fault
        let group = TestGroup(try await harness.makeGroup(settings), in: self)
        groups.update { $0.append(group) }
        let result = try await body(group)
        await group.end()
        return result
    }

    /// Records a line that is shown if the case fails.
    package func note(_ line: String) {
        notes.update { $0.append(line) }
    }

    /// Remarks on conditions of the run that differ from the case's title, such as a smaller number.
    var remarks: [String] { ranWith.value }

    /// Returns one of two numbers, by the cost of a commit. The result of the case has a remark if it is the one for
    /// costly commits.
    ///
    /// - Parameter what: The subject of the number: "posts in each commit".
    package func number<Number: BinaryInteger>(
        _ usual: Number, whereCommitsCost costly: Number, of what: String
    ) -> Number {
        guard harness.commitCost == .high else { return usual }
        let remark = "\(costly) \(what) instead of \(usual): commits cost much here"
        ranWith.update { $0.append(remark) }
        note(remark)
        return costly
    }

    /// Ends the groups of a case that failed or was abandoned.
    func end() async {
        for group in groups.value { await group.end() }
    }

    /// Returns the text that is shown with a failure.
    func report(seed: UInt64) -> String {
        let lines = notes.value.suffix(100)
        return " [seed \(seed)]" + (lines.isEmpty ? "" : "\n" + lines.joined(separator: "\n"))
    }
}

extension CaseContext {
    /// Runs a scenario of Mains and Executors in a fresh group, and checks it at its end by the timeline and the
    /// witness.
    ///
    /// - Parameter superseded: The least number of cores that must run beside a newer one that has superseded them; nil
    ///   if none may.
    package func withTestCluster(
        _ settings: GroupSettings = GroupSettings(), superseded: Int? = nil,
        _ body: (TestCluster) async throws -> Void
    ) async throws {
        try await withGroup(settings) { group in
            let server = try SharedServer.make()
            defer { server.remove() }
            let testCluster = try await TestCluster(in: group, at: server, by: harness, clock: settings.clock)
            try await body(testCluster)
            try await testCluster.judge(superseded: superseded)
        }
    }
}

extension CaseContext {
    /// Runs a part of a case for each of some fault places, on a fresh group; a failure names the place.
    ///
    /// - Throws: ``HarnessLimitation`` when there is no place.
    func atEach(
        _ places: [String], _ body: (_ place: String, _ group: TestGroup) async throws -> Void
    ) async throws {
        guard !places.isEmpty else {
            throw HarnessLimitation("this build of “\(harness.name)” has no places at which a process stops or dies")
        }
        for place in places {
            do {
                try await withGroup { group in try await body(place, group) }
            } catch let limitation as HarnessLimitation {
                throw limitation
            } catch {
                throw FailureAtPlace(place: place, cause: error)
            }
        }
    }
}

/// A failure of a case at one of several fail points, with the name of the fail point.
private struct FailureAtPlace: Error, CustomStringConvertible {
    let place: String
    let cause: any Error

    var description: String { "At \(place): \(cause)" }
}
