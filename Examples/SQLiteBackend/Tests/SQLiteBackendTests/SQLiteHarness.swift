import CoreAPI
import CoreAPITesting
import Foundation
import LogBackend
import SQLiteBackend

/// The suite's access to this backend.
struct SQLiteHarness: ConformanceHarness {
    let name = "sqlite"

    /// Each is a transaction of the database.
    let commitCost = CommitCost.high

    let stopLimitation: HarnessLimitation? = HarnessLimitation("a stopped process may hold the database's lock")

    /// Built beside the tests.
    var peer: PeerProgram? {
        let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? CommandLine.arguments[0]
        return PeerProgram(path: URL(filePath: bundle).deletingLastPathComponent().path + "/sqlite-peer")
    }

    func makeGroup(_ settings: GroupSettings) async throws -> any ConformanceGroup {
        let directory = FileManager.default.temporaryDirectory.appending(path: "sqlite-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        return SQLiteTestGroup(place: directory, settings: settings)
    }
}

private struct SQLiteTestGroup: ConformanceGroup {
    let place: URL
    let settings: GroupSettings

    var directory: String? { place.path }

    var address: String { place.appending(path: "group.sqlite").path }

    func open(
        _ description: SessionDescription, requiring requirements: Requirements
    ) async throws(SharedCoreError) -> any SharedGroup {
        try await SQLiteGroup.open(path: address, as: description, options: options(requiring: requirements))
    }

    func openToRead(_ description: SessionDescription) async throws -> any SharedGroup {
        try await SQLiteGroup.openToRead(path: address, as: description, options: options(requiring: .none))
    }

    private func options(requiring requirements: Requirements) -> LogGroupOptions {
        var options = LogGroupOptions.sqlite
        options.requirements = requirements
        if let limits = settings.limits { options.limits = limits }
        if let byteCount = settings.historyByteCount { options.historyByteCount = byteCount }
        if let clock = settings.clock { options.clock = clock }
        return options
    }

    func remove() async {
        try? FileManager.default.removeItem(at: place)
    }
}
