internal import Coordination
internal import CoreAPI
internal import ExecutorRun
internal import FoundationEssentials
internal import InMemoryBackend
internal import MaildirCore
internal import Platform
internal import ProgramOutput

/// The demo in one process: each Executor is a participant, and Main's death is simulated.
struct MemoryStage: DemoStage {
    let group: any SharedGroup

    private let space = MemorySpace()
    private let witness = MemoryWitness()
    private let maildir: String
    private let startDuration: Duration
    private let options: CoordinationOptions

    private static let name = "demo"

    init(maildir: String, startDuration: Duration, options: CoordinationOptions) async throws {
        self.maildir = maildir
        self.startDuration = startDuration
        self.options = options
        group = try await space.open(Self.name, as: SessionDescription(role: .tool, name: "demo"))
    }

    func push(
        _ callID: CallID, as name: String, hear: @escaping @Sendable (ExecutorLine) async throws -> Void
    ) async throws -> String? {
        let handle = try await space.open(Self.name, as: SessionDescription(role: .executor, name: name))
        let request = ExecutorRequest(
            callID: callID, deadline: DemoPlay.deadline, maildir: maildir, startDuration: startDuration,
            options: options,
            witness: witness)
        _ = try await ExecutorRun.run(request, in: handle) { report in
            try await hear(try JSONDecoder().decode(ExecutorLine.self, from: Data(report.json.line.utf8)))
        }
        await handle.close()
        return nil
    }

    func withMain<Value: Sendable>(_ body: (any DemoMain) async throws -> Value) async throws -> Value {
        let handle = try await space.open(Self.name, as: SessionDescription(role: .main, name: "demo main"))
        let mortal = MortalWitness(witness)
        let main = try MainParticipant(
            of: handle, options: options, environment: CoordinationEnvironment(witness: mortal)
        ) { [maildir, startDuration] in
            MaildirCore(directory: maildir, startDuration: startDuration)
        }
        do {
            try await main.start()
            let value = try await body(MainInMemory(handle: handle, witness: mortal))
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
