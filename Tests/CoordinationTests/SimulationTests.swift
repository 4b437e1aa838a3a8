import Platform
import Testing

@testable import Simulation

/// A few hundred schedules, quickly; `make simulate` runs a hundred thousand, and every mutant.
struct SimulationTests {
    @Test(
        "C1-C10, C13, C14, C16, C17, C23, C25, C26: no schedule of faults breaks a rule",
        arguments: 0..<8 as Range<UInt64>)
    func noScheduleBreaksARule(part: UInt64) async throws {
        let report = try await onThread { Campaign(seeds: part * 40..<(part + 1) * 40).run() }
        #expect(report.failures.map { "seed \($0.seed): \($0.violation)" } == [])
        // Schedules in which nothing happens prove nothing, so enough histories must differ.
        #expect(report.histories.count >= 39)
        #expect(report.coverage.taken().count > 100)
    }

    @Test("C16: the same seed gives the same history")
    func sameSeedSameHistory() {
        for seed in 0..<20 as Range<UInt64> {
            var coverage = Coverage()
            let first = Run(Schedule(seed: seed), coverage: &coverage, isTold: true)
            let second = Run(Schedule(seed: seed), coverage: &coverage, isTold: true)
            #expect(first.history == second.history)
            #expect(first.lines == second.lines)
            #expect(first.events == second.events)
        }
    }

    @Test(
        "a mutant is caught",
        arguments: [
            "an acquisition in place of an owner", "an owner that does not answer",
            "a holder that is believed while it is frozen",
            "a take-over that does not ask whether the challenge was answered", "a core that is not told to stop",
            "a call that expects what is there", "a core that acknowledges before it has stored",
            "a Main that does not wait for a core that is stopping", "a second take of one message",
            "an owner that overlooks what others expect",
            "an acknowledgement that remembers nothing",
            "a core that goes on before its resume", "a holder that does not wake",
            "a Main at rest that has no time to resume", "a participant that does not see the rest of a Main",
            "a baton that is applied without its record as the guard", "a baton that is applied and stays offered",
            "a release that does not offer the baton", "a core that starts and leaves the calls of former cores open",
            "a core that ends the calls of the baton that it gets", "a call that moves without its activity",
        ])
    func mutantIsCaught(name: String) async throws {
        let mutant = try #require(Mutant.every.first { $0.name == name })
        let report = try await onThread { Campaign(seeds: 0..<1_000, damagedBy: mutant, waitingTime: 1).run() }
        #expect(!report.failures.isEmpty, "a thousand schedules did not show the damage")
    }

    @Test("C16: a schedule in which nothing happens any more, and a participant still wants something, is a failure")
    func nothingHappensAnyMore() throws {
        let unmet = try #require(
            (0..<200 as Range<UInt64>).lazy.compactMap { seed -> Simulation? in
                var simulation = Simulation(Schedule(seed: seed))
                // Half of it, then everything that would happen is lost.
                for _ in 0..<200 {
                    guard let next = simulation.queue.next, let event = simulation.queue.removeFirst() else { break }
                    simulation.clock = max(simulation.clock, next)
                    simulation.happen(event)
                }
                return simulation.unmetWant() == nil || simulation.narrative.violation != nil ? nil : simulation
            }.first)
        var simulation = unmet
        simulation.queue = EventQueue()

        simulation.run()

        #expect(simulation.narrative.violation != nil)
    }

    @Test("C16: a schedule that breaks a rule is shrunk to a story that a person can read")
    func shrinks() async throws {
        let mutant = try #require(
            Mutant.all.first { $0.name == "a take-over that does not ask whether the challenge was answered" })
        let report = try await onThread { Campaign(seeds: 0..<1_000, damagedBy: mutant, waitingTime: 1).run() }
        let failure = try #require(report.failures.first)
        var coverage = Coverage()
        let schedule = Schedule(seed: failure.seed)

        let shrunk = schedule.shrunk { candidate in
            Run(candidate, damagedBy: mutant, coverage: &coverage).violation?.hasPrefix("C6") == true
        }

        let run = Run(shrunk, damagedBy: mutant, coverage: &coverage, isTold: true)
        #expect(run.violation?.hasPrefix("C6") == true)
        #expect(shrunk.incidents.count < 10)
        #expect(run.lines.count < 25)
    }

    /// Computes for seconds on a thread of its own, with the stack of a first thread: on one of the pool's few, the
    /// participants of other tests would wait.
    private func onThread(_ body: @escaping @Sendable () -> Campaign.Report) async throws -> Campaign.Report {
        try await withCheckedThrowingContinuation { continuation in
            do throws(SystemCallError) {
                try OwnedThread.start("simulation", stackByteCount: 8 << 20) { continuation.resume(returning: body()) }
            } catch {
                continuation.resume(throwing: error)
            }
        }
    }
}
