package import CoreAPI
package import CoreAPITesting

/// A harness that states a high cost of commits, so that cases make fewer of them. A rule that takes minutes with the
/// numbers of its title is then tried in seconds.
package struct BriefHarness: ConformanceHarness {
    private let harness: any ConformanceHarness

    package init(_ harness: any ConformanceHarness) {
        self.harness = harness
    }

    package var name: String { harness.name }
    package var peer: PeerProgram? { harness.peer }
    package var failPoints: FailPointSet { harness.failPoints }
    package var stopLimitation: HarnessLimitation? { harness.stopLimitation }
    package var promisesOfParticipants: Set<Capability> { harness.promisesOfParticipants }
    package var commitCost: CommitCost { .high }

    package func makeGroup(_ settings: GroupSettings) async throws -> any ConformanceGroup {
        try await harness.makeGroup(settings)
    }
}
