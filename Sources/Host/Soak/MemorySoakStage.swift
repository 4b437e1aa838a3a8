internal import Coordination
internal import CoreAPI
internal import CoreAPITesting
internal import ExecutorRun
internal import FoundationEssentials
internal import InMemoryBackend
internal import MaildirCore
internal import ProgramOutput
internal import Synchronization

/// A soak in one process: its participants' deaths and stops are simulated.
struct MemorySoakStage: SoakStage {
    let group: any SharedGroup

    private let space = MemorySpace()
    private let witness = MemoryWitness()
    private let maildir: String
    private let startDuration: Duration
    private let options: CoordinationOptions

    private static let name = "soak"

    init(maildir: String, startDuration: Duration, options: CoordinationOptions) async throws {
        self.maildir = maildir
        self.startDuration = startDuration
        self.options = options
        group = try await space.open(Self.name, as: SessionDescription(role: .tool, name: "soak"))
    }

    func push(
        _ callID: CallID, fate: SoakFate, as name: String,
        living body: @escaping @Sendable (any SoakVictim) async -> Void
    ) async throws -> SoakPushEnd {
        let handle = try await space.open(Self.name, as: SessionDescription(role: .executor, name: name))
        let victim = MemoryVictim(handle, MortalWitness(witness))
        let request = ExecutorRequest(
            callID: callID, deadline: DemoPlay.deadline, maildir: maildir, startDuration: startDuration,
            options: options, witness: victim.witness)
        let line = Box<ExecutorLine?>(nil)
        let life = Task { await body(victim) }
        var end = SoakPushEnd()
        do {
            let report = try await ExecutorRun.run(request, in: handle) { report in
                // What a dead process prints, nobody sees.
                guard !victim.isDead else { return }
                let printed = try JSONDecoder().decode(ExecutorLine.self, from: Data(report.json.line.utf8))
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
        let handle = try await space.open(Self.name, as: SessionDescription(role: .main, name: name))
        let victim = MemoryVictim(handle, MortalWitness(witness))
        let main = try MainParticipant(
            of: handle, options: options, environment: CoordinationEnvironment(witness: victim.witness)
        ) { [maildir, startDuration] in
            MaildirCore(directory: maildir, startDuration: startDuration)
        }
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
