import Coordination
import CoreAPI
import CoreAPITesting
import InMemoryBackend
import SharedCoreTesting
import TestSupport
import Testing

/// A hundred pushes at once.
@Suite(.serialized)
struct BurstScenarios {
    private static let count = 100

    /// Lets a hundred Executors ask for a hundred messages. Returns the number acknowledged of each call-id.
    private func serve(
        _ world: World, meanwhile: @escaping @Sendable ([TestParticipant<ExecutorParticipant>]) async throws -> Void
    ) async throws -> [CallID: Int] {
        var participants: [TestParticipant<ExecutorParticipant>] = []
        for number in 0..<Self.count { participants.append(try await world.executor("executor-\(number)")) }
        let executors = participants
        let acknowledged = Box<[CallID: Int]>([:])
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, executor) in executors.enumerated() {
                group.addTask {
                    do {
                        let answer = try await executor.participant.message(
                            forCallID: .of("call-\(number)"), timeout: .seconds(240))
                        let taken = try #require(answer.taken)
                        #expect(taken.message == (try .text("call-\(number)", "text \(number)")))
                        if try await executor.participant.acknowledge(taken) {
                            acknowledged.update { $0[taken.message.callID, default: 0] += 1 }
                        }
                    } catch let error as CoordinationError where error.code == .fenced {
                        // Killed by the test: its push is served by the next request.
                        #expect(executor.process.hasEnded)
                        let again = try await world.executor("again-\(number)")
                        let answer = try await again.participant.message(
                            forCallID: .of("call-\(number)"), timeout: .seconds(240))
                        if let taken = answer.taken, try await again.participant.acknowledge(taken) {
                            acknowledged.update { $0[taken.message.callID, default: 0] += 1 }
                        }
                    }
                }
            }
            group.addTask { try await meanwhile(executors) }
            try await group.waitForAll()
        }
        return acknowledged.value
    }

    private func receiveAll(_ world: World) throws {
        for number in (0..<Self.count).reversed() {
            world.server.receive(try .text("call-\(number)", "text \(number)"))
        }
    }

    @Test("C9, scenario 24: 100 pushes at once: one core start, 100 right messages, each acknowledged once")
    func burst() async throws {
        let world = World()
        let observer = try await world.observer()

        let acknowledged = try await serve(world) { _ in
            try await eventually("all wait", timeout: TestTimeout.long) {
                try await observer.list(".sharedcore/expectations").entries.count == Self.count
            }
            try self.receiveAll(world)
        }

        #expect(acknowledged.count == Self.count)
        #expect(acknowledged.values.allSatisfy { $0 == 1 })
        #expect(world.gauge.starts.count == 1)
        let (report, _) = try await world.report()
        #expect(report.isClean, "\(report.violations)")
    }

    @Test("C9, scenario 24: the same with the running owner killed: one more start, nothing lost")
    func burstWithKilledOwner() async throws {
        let world = World()
        let observer = try await world.observer()

        let acknowledged = try await serve(world) { executors in
            try await eventually("all wait and one owns", timeout: TestTimeout.long) {
                let waiting = try await observer.list(".sharedcore/expectations").entries.count
                return try await world.owner()?.state == .running && waiting == Self.count
            }
            let owner = try #require(try await world.owner())
            executors.first { $0.process.identity == owner.process }?.process.kill()
            try self.receiveAll(world)
        }

        #expect(acknowledged.count == Self.count)
        #expect(acknowledged.values.allSatisfy { $0 == 1 })
        #expect(world.gauge.starts.count == 2)
        let (report, _) = try await world.report()
        #expect(report.isClean, "\(report.violations)")
    }

    @Test("C6, C9, scenario 24: the same with the running owner frozen, Main or Executor", arguments: [true, false])
    func burstWithFrozenOwner(mainOwns: Bool) async throws {
        var options = CoordinationOptions.patient
        options.answerBound = .seconds(1)
        let world = World(options: options)
        let observer = try await world.observer()
        let main = mainOwns ? try await world.main() : nil
        try await main?.participant.start()
        let frozen = Box<SimulatedProcess?>(nil)

        let acknowledged = try await serve(world) { executors in
            try await eventually("all wait and one owns", timeout: TestTimeout.long) {
                let waiting = try await observer.list(".sharedcore/expectations").entries.count
                return try await world.owner()?.state == .running && waiting == Self.count
            }
            let owner = try #require(try await world.owner())
            let process = main?.process ?? executors.first { $0.process.identity == owner.process }?.process
            process?.freeze()
            frozen.update { $0 = process }
            try self.receiveAll(world)
            try await eventually("all others are served", timeout: TestTimeout.long) {
                world.server.pending.isEmpty
            }
            process?.thaw()
        }

        #expect(acknowledged.count == Self.count)
        #expect(acknowledged.values.allSatisfy { $0 == 1 })
        #expect(world.processes.killed.isEmpty)
        let (report, _) = try await world.report()
        #expect(report.isClean, "\(report.violations)")
    }
}
