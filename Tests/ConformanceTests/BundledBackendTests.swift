import CoreAPITesting
import Testing

/// Every case on every backend of the package.
@Suite("Conformance", .serialized)
struct BundledBackendTests {
    @Test("memory", arguments: ConformanceSuite.cases)
    func memory(conformanceCase: ConformanceCase) async throws {
        try await judge(conformanceCase, on: .memory)
    }

    @Test("files", arguments: ConformanceSuite.cases)
    func files(conformanceCase: ConformanceCase) async throws {
        try await judge(conformanceCase, on: .files)
    }

    @Test("files on disk", arguments: ConformanceSuite.cases)
    func filesOnDisk(conformanceCase: ConformanceCase) async throws {
        try await judge(conformanceCase, on: .filesOnDisk)
    }

    private func judge(_ conformanceCase: ConformanceCase, on backend: BundledBackend) async throws {
        let result = try await backend.withHarness { await conformanceCase.run(on: $0) }
        switch result.outcome {
        case .passed: break
        case .failed(let message): Issue.record("\(message)")
        case .unsupported(let reason), .skipped(let reason):
            #expect(
                BundledBackend.expectedGaps[backend]?.contains(conformanceCase.id) == true,
                "\(result.outcome.word): \(reason)")
        }
    }
}

extension BundledBackend {
    /// The cases that a backend cannot be tried on, each for a reason that its row gives. No other may be left out.
    static let expectedGaps: [BundledBackend: Set<String>] = [:]
}
