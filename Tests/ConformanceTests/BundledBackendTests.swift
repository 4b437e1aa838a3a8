import CoreAPITesting
import CoreAPITestingAdapters
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
        let gaps = BundledBackend.expectedGaps[backend] ?? [:]
        try await backend.withHarness { await conformanceCase.test(on: $0, leavingOut: gaps) }
    }
}

extension BundledBackend {
    /// Why a case cannot be tried on a backend. No other may be left out.
    static let expectedGaps: [BundledBackend: [String: String]] = [
        .memory: [
            "S3c": "it is gone when everybody has left",
            "S6c": "it lives in one process",
            "S6d": "it lives in one process",
            "S8j": "it is gone when everybody has left",
            "S8k": "it is gone when everybody has left",
            "S10h": "it is gone when everybody has left",
            "S14b": "it lives in one process",
        ]
    ]
}
