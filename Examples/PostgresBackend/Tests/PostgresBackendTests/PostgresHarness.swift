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
    /// The connections of the handles, in a case that breaks them.
    let connections = FaultyConnections()

    var address: String { "sharedcore \(name) \(TestServer.connection)" }

    func open(
        _ description: SessionDescription, requiring requirements: Requirements
    ) async throws(SharedCoreError) -> any SharedGroup {
        guard [.cut, .delay].contains(settings.fault) else {
            return try await PostgresGroup.open(
                try TestServer.place(of: name), as: description, options: options(requiring: requirements))
        }
        let (connection, place) = try TestServer.faultyConnection(for: name)
        let group = try await PostgresGroup.open(place, as: description, options: options(requiring: requirements))
        connections.add([connection], of: group)
        return group
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

    func cut(_ handle: any SharedGroup) async throws { try connections.cut(handle) }
    func mend(_ handle: any SharedGroup) async throws { try connections.mend(handle) }
    func delay(_ handle: any SharedGroup, by time: Duration) async throws { try connections.delay(handle, by: time) }

    func restartServer() async throws { try await TestServer.restart() }
    func fillServer() async throws { try TestServer.fill() }
    func emptyServer() async throws { try TestServer.empty() }

    /// The group stays on the server, which is made for the tests.
    func remove() async { connections.end() }
}
