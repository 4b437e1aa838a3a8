import CoreAPITesting
import CoreAPITestingAdapters
import TestSupport
import Testing

/// Every rule on every backend of the package. Backends are tried one after the other in two rows, which use two cores.
@Suite("Conformance")
struct BundledBackendTests {
    @Suite("in one place", .serialized)
    struct PlaceTests {
        @Test("memory", arguments: TestScope.casesInMemory)
        func memory(conformanceCase: ConformanceCase) async throws {
            try await BundledBackendTests.judge(conformanceCase, on: .memory)
        }

        @Test("files", arguments: Cases.inFiles)
        func files(conformanceCase: ConformanceCase) async throws {
            try await BundledBackendTests.judge(conformanceCase, on: .files)
        }

        @Test("files on disk", .enabled(if: TestScope.isCheck), arguments: Cases.ofOtherFlavours)
        func filesOnDisk(conformanceCase: ConformanceCase) async throws {
            try await BundledBackendTests.judge(conformanceCase, on: .filesOnDisk)
        }
    }

    @Suite("through a hub", .serialized)
    struct HubTests {
        @Test("a hub on files", arguments: TestScope.casesOfCostlyCommits)
        func hubOnFiles(conformanceCase: ConformanceCase) async throws {
            try await BundledBackendTests.judge(conformanceCase, on: .hubOnFiles)
        }

        @Test(
            "a hub on memory, over TCP with CURVE", .enabled(if: TestScope.isCheck), arguments: Cases.ofOtherFlavours)
        func hubOnMemoryOverTCP(conformanceCase: ConformanceCase) async throws {
            try await BundledBackendTests.judge(conformanceCase, on: .hubOnMemoryOverTCP)
        }

        @Test("a hub on files, within the process", .enabled(if: TestScope.isCheck), arguments: Cases.ofOtherFlavours)
        func hubWithinProcess(conformanceCase: ConformanceCase) async throws {
            try await BundledBackendTests.judge(conformanceCase, on: .hubWithinProcess)
        }

        @Test("a hub on memory", .enabled(if: Cases.areOfAllFlavours), arguments: Cases.ofOtherFlavours)
        func hubOnMemory(conformanceCase: ConformanceCase) async throws {
            try await BundledBackendTests.judge(conformanceCase, on: .hubOnMemory)
        }

        @Test(
            "a hub on files, over TCP with CURVE", .enabled(if: Cases.areOfAllFlavours),
            arguments: Cases.ofOtherFlavours)
        func hubOverTCP(conformanceCase: ConformanceCase) async throws {
            try await BundledBackendTests.judge(conformanceCase, on: .hubOverTCP)
        }

        @Test(
            "a hub on memory, within the process", .enabled(if: Cases.areOfAllFlavours),
            arguments: Cases.ofOtherFlavours)
        func hubOnMemoryWithinProcess(conformanceCase: ConformanceCase) async throws {
            try await BundledBackendTests.judge(conformanceCase, on: .hubOnMemoryWithinProcess)
        }
    }

    /// The cases that a backend is tried on.
    private enum Cases {
        static let all = TestScope.cases

        /// `make test` tries each case on memory or on files. On files it tries also the cases that memory cannot run.
        static let inFiles =
            all
            + TestScope.casesInMemory.filter { conformanceCase in
                BundledBackend.expectedGaps[.memory]?[conformanceCase.id] != nil
                    && !all.contains { $0.id == conformanceCase.id }
            }

        /// Here the other backends run one case of each rule, and the last three hubs run only where tests run at
        /// length. Each transport and each store runs all cases above.
        static let ofOtherFlavours = areOfAllFlavours ? all : TestScope.casesOnce

        static let areOfAllFlavours = TestScope.chosenCases != nil || TestScope.isAtLength
    }

    private static func judge(_ conformanceCase: ConformanceCase, on backend: BundledBackend) async throws {
        let gaps = BundledBackend.expectedGaps[backend] ?? [:]
        try await backend.withHarness { await conformanceCase.test(on: TestScope.harness($0), leavingOut: gaps) }
    }
}

extension BundledBackend {
    /// The reasons for which cases cannot be tried on a backend. No other may be left out.
    static let expectedGaps: [BundledBackend: [String: String]] = [
        .memory: gaps("a group in memory is gone when everybody has left", "S3c", "S8j", "S8k", "S10h", "C10d").merging(
            gaps(
                "a group in memory is of one process", "S4f", "S6c", "S6d", "S9b", "S9c", "S9d", "S14b", "S15b", "S15c",
                "S15d",
                "W1j", "N1c", "N3d", "N4c", "N9a", "N9b", "L1e", "L1f", "L1g", "L2b", "L3b", "L3d", "C3b", "M4d",
                "M6f")
        ) { first, _ in first }.merging(ofOneMachine) { first, _ in first }
            .merging(withoutFiles) { first, _ in first }.merging(serverFaults) { first, _ in first },
        .files: simulatedFaults.merging(ofOneMachine) { first, _ in first }.merging(serverFaults) { first, _ in first },
        .filesOnDisk: simulatedFaults.merging(ofOneMachine) { first, _ in first }
            .merging(serverFaults) { first, _ in first },
        .hubOnMemory: simulatedFaults.merging(goneWithHub) { first, _ in first }
            .merging(killedHub) { first, _ in first },
        .hubOnFiles: simulatedFaults,
        .hubOverTCP: stoppedHub.merging(simulatedFaults) { first, _ in first }.merging(leases) { _, second in second }
            .merging(serverFaults) { first, _ in first },
        .hubOnMemoryOverTCP: stoppedHub.merging(simulatedFaults) { first, _ in first }
            .merging(leases) { _, second in second }.merging(goneWithHub) { first, _ in first }
            .merging(serverFaults) { first, _ in first },
        .hubWithinProcess: withinProcess.merging(serverFaults) { first, _ in first },
        .hubOnMemoryWithinProcess: withinProcess.merging(goneWithHub) { first, _ in first }
            .merging(serverFaults) { first, _ in first },
    ]

    /// Tried behind the hub on files, at a unix socket.
    private static let serverFaults = faultGaps { _ in true }

    private static let killedHub = faultGaps { [.restart, .full].contains($0) }

    private static func faultGaps(_ isLeftOut: (ServerFault) -> Bool) -> [String: String] {
        Dictionary(
            uniqueKeysWithValues: ConformanceSuite.cases.filter { $0.fault.map(isLeftOut) ?? false }
                .map { ($0.id, "no such server or connection is broken here") })
    }

    private static let leases = gaps(
        "over a network a death is noticed when the lease runs out, which is tried in ZMQTests", "L1d", "L1e", "L1f",
        "L1g", "L3a", "L3b", "L3d", "C3b", "C6a", "C8e", "C8g", "C9e", "C10b", "C23c", "C24c", "C24d", "C25b",
        "P13a", "M6f"
    ).merging(
        gaps(
            "over tcp a stopped process is not seen, and an owner waited for as long as its lease, which is tried in ZMQTests",
            "C3c", "C4b", "C6b", "C6c", "C6d", "C6e", "C8f", "C9f", "C9h", "C14c", "C24e")
    ) { first, _ in first }.merging(
        gaps(
            "a process that sleeps cannot renew its lease, so no Main rests: `rest()` throws `unsupported`", "C26a",
            "C26b",
            "C26c", "C26d", "C26e", "C26f", "C26g")
    ) { first, _ in first }

    private static let goneWithHub = gaps(
        "in front of memory, the group is gone with its hub", "S3c", "S8j", "S8k", "S10h", "C10d"
    ).merging(withoutFiles) { first, _ in first }

    private static let withoutFiles = gaps("a group in memory has no files", "L4e")

    /// Within a process there is no second one.
    private static let withinProcess = stoppedHub.merging(simulatedFaults) { first, _ in first }.merging(
        ofOneMachine
    ) { first, _ in first }.merging(
        gaps(
            "deaths and stops of participants are neither simulated nor tried on processes within one", "C3c", "C4b",
            "C5a", "C6b", "C6c", "C6d", "C6e", "C8f", "C9f", "C9h", "C14c", "C23c", "C24c", "C24d", "C24e", "C25b",
            "C25d", "C26b", "C26c", "C26d", "C26f")
    ) { first, _ in first }.merging(
        gaps(
            "a name within a process is for this process alone", "S4f", "S6c", "S6d", "S9b", "S9c", "S9d", "S14b",
            "W1j", "N1c", "N3d", "N4c", "N9a", "N9b", "L1e", "L1f", "L1g", "L2b", "L3b", "L3d", "C3b", "C6a", "C8e",
            "C8g", "C9e", "C10b", "P13a", "M4d", "M6f")
    ) { first, _ in first }

    /// Only a hub with sockets carries a baton to another machine.
    private static let ofOneMachine = gaps(
        "all participants are on one machine, where a baton needs no hub", "C25e", "C25f", "C25g")

    private static let stoppedHub = gaps(
        "a hub that is stopped holds up all participants; that stopped clients hold up none is tried over ipc and in ZMQTests",
        "S15a", "S15b", "S15c", "S15d")

    private static let simulatedFaults = gaps(
        "deaths and stops of processes are not simulated, but tried on real ones", "S15a", "L1d", "L3a")

    private static func gaps(_ reason: String, _ ids: String...) -> [String: String] {
        Dictionary(uniqueKeysWithValues: ids.map { ($0, reason) })
    }
}
