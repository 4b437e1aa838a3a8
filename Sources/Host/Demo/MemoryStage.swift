internal import Coordination
internal import CoreAPI
internal import ExecutorRun
internal import InMemoryBackend
internal import Platform
internal import ProgramOutput

/// The demo in one process: each Executor is a participant, and Main's death is simulated.
struct MemoryStage: DemoStage {
    let players: MemoryPlayers

    var group: any SharedGroup { players.group }

    func push(
        _ callID: CallID, as name: String, hear: @escaping @Sendable (ExecutorLine) async throws -> Void
    ) async throws -> String? {
        let handle = try await players.enter(.executor, as: name)
        _ = try await ExecutorRun.run(players.request(for: callID), in: handle) { report in
            try await hear(try ExecutorLine(printed: report.json.line))
        }
        await handle.close()
        return nil
    }

    func withMain<Value: Sendable>(_ body: (any DemoMain) async throws -> Value) async throws -> Value {
        let handle = try await players.enter(.main, as: "demo main")
        let witness = players.mortalWitness()
        let main = try players.main(in: handle, seenBy: witness)
        do {
            try await main.start()
            let value = try await body(MainInMemory(handle: handle, witness: witness))
            await main.stop()
            await handle.close()
            return value
        } catch {
            await main.stop()
            await handle.close()
            throw error
        }
    }
}

/// A Main of the demo in this process.
private struct MainInMemory: DemoMain {
    let handle: MemoryGroup
    let witness: MortalWitness

    func kill() async throws -> BootInstant {
        let now = SystemClock().now()
        witness.die()
        handle.simulateKill()
        return now
    }
}
