internal import CoreAPI
internal import CoreAPITesting
internal import Foundation
internal import Glibc
internal import Platform
internal import TestSupport
internal import Testing

/// A short soak of the program itself, as a user runs a long one.
@Suite(.serialized)
struct SoakTests {
    /// The line that scripts rely on.
    private struct Summary: Decodable {
        let event: String
        let pushes, delivered, lost, duplicates, coreStarts, kills, freezes, mains: Int
        let overlaps, supersededOverlaps, violations: Int
        let ok: Bool
    }

    @Test(
        "C1-C15: `soak` kills, freezes and pushes at random, loses nothing and says what it did",
        .enabled(if: TestScope.isCheck),
        .timeLimit(.minutes(10)), arguments: ["memory", "file", "zmq"])
    func soak(backend: String) async throws {
        let program = try ChildProcess(
            ChildProcess.built("sharedcore"), ["--backend", backend, "--json", "soak", "--minutes", "0.1"])

        #expect(await program.end() == .exited(0), "\(program.lines)")

        let line = try #require(program.lines.last)
        let summary = try JSONDecoder().decode(Summary.self, from: Data(line.utf8))
        #expect(summary.event == "summary")
        #expect(summary.ok, "\(line)")
        #expect(summary.lost == 0 && summary.duplicates == 0 && summary.overlaps == 0 && summary.violations == 0)
        #expect(summary.delivered > 0 && summary.pushes >= summary.delivered && summary.coreStarts > 0, "\(line)")
        #expect(summary.kills > 0 && summary.freezes > 0, "\(line)")
    }

    @Test(
        "Interrupted, `soak` finishes its round and says what it did", .timeLimit(.minutes(10)),
        arguments: [(SIGINT, 130), (SIGTERM, 143)] as [(Int32, Int32)])
    func interrupted(signal: Int32, status: Int32) async throws {
        let program = try await startedSoak()
        kill(program.pid, signal)
        #expect(await program.end() == .exited(status), "\(program.lines)")
        let summary = try JSONDecoder().decode(Summary.self, from: Data(try #require(program.lines.last).utf8))
        #expect(summary.ok && summary.delivered > 0 && summary.lost == 0, "\(summary)")
    }

    @Test("A second signal ends `soak` at once, and its status is not that of a loss", .timeLimit(.minutes(10)))
    func interruptedTwice() async throws {
        let program = try await startedSoak()
        kill(program.pid, SIGINT)
        kill(program.pid, SIGTERM)
        // The system may hand over the later one first.
        #expect([.exited(130), .exited(143)].contains(await program.end()), "\(program.lines)")
    }

    @Test(
        "L3: nothing is left of `soak` when it is killed, also of participants that are frozen",
        .timeLimit(.minutes(10))
    )
    func killed() async throws {
        let program = try await startedSoak()
        var children: Set<ProcessIdentity> = []
        // As the soak itself does at random moments: it knows of a child when that leads its session. A child that is
        // stopped before its first instruction, when nothing ties it yet, would end only when it is continued.
        try await eventually("a participant is frozen", timeout: TestTimeout.long) {
            children.formUnion(ProcessIdentity.children(of: program.pid).filter { getsid($0.pid) == $0.pid })
            for child in children { _ = try? ProcessHandle(child).signal(.stop) }
            return children.contains { $0.isStopped == true }
        }
        program.signal(.kill)
        #expect(await program.end() == .killed(by: SIGKILL))
        try await eventually("its participants are gone") { children.allSatisfy { $0.liveness == .dead } }
    }

    /// Starts one that has a participant.
    private func startedSoak() async throws -> ChildProcess {
        let program = try ChildProcess(
            ChildProcess.built("sharedcore"), ["--backend", "file", "--json", "soak", "--minutes", "60"])
        try await eventually("a participant was started") {
            !ProcessIdentity.children(of: program.pid).isEmpty
        }
        return program
    }
}
