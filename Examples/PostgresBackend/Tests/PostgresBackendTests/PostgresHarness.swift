import CoreAPI
import CoreAPITesting
import Foundation
import LogBackend
import PostgresBackend

/// The suite's access to this backend.
struct PostgresHarness: ConformanceHarness {
    let name = "postgres"

    /// Each is a transaction of the server.
    let commitCost = CommitCost.high

    let failPoints = FailPointSet(beforePublication: ["append"], afterPublication: ["appended"])

    /// Built beside the tests.
    var peer: PeerProgram? { PeerProgram(path: BuiltProgram.path(of: "postgres-peer")) }

    func makeGroup(_ settings: GroupSettings) async throws -> any ConformanceGroup {
        PostgresTestGroup(name: "conformance-\(UUID().uuidString)", settings: settings)
    }
}

private struct PostgresTestGroup: ConformanceGroup {
    let name: String
    let settings: GroupSettings

    var address: String { "sharedcore \(name) \(TestServer.connection)" }

    func open(
        _ description: SessionDescription, requiring requirements: Requirements
    ) async throws(SharedCoreError) -> any SharedGroup {
        try await PostgresGroup.open(
            try TestServer.place(of: name), as: description, options: options(requiring: requirements))
    }

    func openToRead(_ description: SessionDescription) async throws -> any SharedGroup {
        try await PostgresGroup.openToRead(
            try TestServer.place(of: name), as: description, options: options(requiring: .none))
    }

    private func options(requiring requirements: Requirements) -> LogGroupOptions {
        var options = LogGroupOptions.postgres
        options.requirements = requirements
        if let limits = settings.limits { options.limits = limits }
        if let byteCount = settings.historyByteCount { options.historyByteCount = byteCount }
        if let clock = settings.clock { options.clock = clock }
        return options
    }

    /// Kills the server with all its processes.
    func restartServer() async throws {
        try TestServer.signal(SIGKILL)
        while true {
            do { return try TestServer.start() } catch {
                // Its memory is released when the last of its processes has ended.
                try await Task.sleep(for: .milliseconds(100))
            }
        }
    }

    /// The group stays on the server, which is made for the tests.
    func remove() async {}
}
