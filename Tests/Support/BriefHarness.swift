package import CoreAPITesting

/// A harness whose cases make fewer commits, as on a backend where each costs much: so a rule is tried in seconds that
/// takes minutes with the numbers of its title.
package struct BriefHarness: ConformanceHarness {
    private let harness: any ConformanceHarness

    package init(_ harness: any ConformanceHarness) {
        self.harness = harness
    }

    package var name: String { harness.name }
    package var peer: PeerProgram? { harness.peer }
    package var failPoints: FailPointSet { harness.failPoints }
    package var stopLimitation: HarnessLimitation? { harness.stopLimitation }
    package var commitCost: CommitCost { .high }

    package func makeGroup(_ settings: GroupSettings) async throws -> any ConformanceGroup {
        try await harness.makeGroup(settings)
    }
}
