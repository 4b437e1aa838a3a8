internal import Coordination
internal import CoreAPI
internal import CoreAPITesting
internal import ExecutorRun
internal import InMemoryBackend
internal import ProgramOutput
internal import Synchronization

/// A soak in one process: its participants' deaths and stops are simulated.
struct MemorySoakStage: SoakStage {
    let players: MemoryPlayers

    var group: any SharedGroup { players.group }

    func push(
        _ callID: CallID, fate: SoakFate, as name: String,
        living body: @escaping @Sendable (any SoakVictim) async -> Void
    ) async throws -> SoakPushEnd {
        let handle = try await players.enter(.executor, as: name)
        let victim = MemoryVictim(handle, players.mortalWitness())
        let request = players.request(for: callID, seenBy: victim.witness)
        let line = Box<ExecutorLine?>(nil)
        let life = Task { await body(victim) }
        var end = SoakPushEnd()
        do {
            let report = try await ExecutorRun.run(request, in: handle) { report in
                // What a dead process prints, nobody sees.
                guard !victim.isDead else { return }
                let printed = try ExecutorLine(printed: report.json.line)
                line.update { $0 = printed }
            }
            if report.status != .success { end.problem = report.reason }
        } catch {
            end.problem = "\(error)"
        }
        life.cancel()
        await life.value
        end.line = line.value
        end.wasKilled = victim.isDead
        await handle.close()
        return end
    }

    func main(
        as name: String, living body: @escaping @Sendable (any SoakVictim) async -> Void
    ) async throws -> String? {
        let handle = try await players.enter(.main, as: name)
        let victim = MemoryVictim(handle, players.mortalWitness())
        let main = try players.main(in: handle, seenBy: victim.witness)
        let start = Task { () async -> String? in
            do throws(CoordinationError) {
                try await main.start()
                return nil
            } catch {
                return victim.isDead || error.code == .closed ? nil : "\(error)"
            }
        }
        await body(victim)
        await main.stop()
        await handle.close()
        return await start.value
    }
}

/// A participant of a soak in this process.
private final class MemoryVictim: SoakVictim {
    let witness: MortalWitness
    private let handle: MemoryGroup
    private let dead = Atomic(false)

    init(_ handle: MemoryGroup, _ witness: MortalWitness) {
        self.handle = handle
        self.witness = witness
    }

    var isDead: Bool { dead.load(ordering: .acquiring) }

    func isHolder(_ owner: GroupOwner) -> Bool { owner.session == handle.session.id && !isDead }

    func kill() {
        dead.store(true, ordering: .releasing)
        witness.die()
        handle.simulateKill()
    }

    func freeze() { handle.simulateStop() }

    func thaw() { handle.simulateContinue() }
}
