import Coordination
import CoreAPI
internal import Platform
import TestSupport
import Testing

@testable import CoreAPITesting

/// The notes of the suite's own witness.
struct NotingWitnessTests {
    @Test("C15: a core that ran beside another is noted regardless of the end of its process; one that ends is not")
    func endedLater() async throws {
        let server = try SharedServer.make()
        defer { server.remove() }
        let process = try ChildProcess("sleep", ["3600"])
        let (first, second, third) = (Revision(rawValue: 1), Revision(rawValue: 2), Revision(rawValue: 3))
        server.noteCore(of: first, pid: process.pid)
        let hold = try FileWitness(path: server.witnessPath).begin(epoch: first)
        let witness = NotingWitness(at: server, in: SimulatedLife())

        try witness.begin(epoch: second).end()
        process.signal(.kill)
        _ = await process.end()
        try witness.begin(epoch: third).end()

        #expect(try server.sights() == [OverlapSight(epoch: second, other: first)])
        hold.end()
    }

    @Test("A core that waits at a gate of a server that is gone waits no more")
    func goneServer() async throws {
        let server = try SharedServer.make()
        let pass = Task { try await server.pass("stop") }
        server.remove()
        try await withTimeout(TestTimeout.usual, "it passes") { try await pass.value }
    }
}
