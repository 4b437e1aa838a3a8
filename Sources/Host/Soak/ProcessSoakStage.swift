internal import Coordination
internal import CoreAPI
internal import Glibc
internal import Platform
internal import ProgramOutput
internal import Subprocess

/// A soak with real processes: the slim Executor where it is there and knows the backend, and Main of this program.
struct ProcessSoakStage: SoakStage {
    let group: any SharedGroup
    let programs: DemoPrograms

    func push(
        _ callID: CallID, fate: SoakFate, as name: String,
        living body: @escaping @Sendable (any SoakVictim) async -> Void
    ) async throws -> SoakPushEnd {
        let configuration = programs.executor(for: callID, as: name, failPoint: fate.failPoint)
        let result = try await Subprocess.run(
            configuration, input: .none, output: .sequence, error: .currentStandardError
        ) { execution in
            try await withLife(of: execution.processIdentifier.value, body) {
                var last: ExecutorLine?
                for try await line in execution.standardOutput.strings() {
                    // What a process has not printed whole before its death, nobody has seen.
                    last = (try? ExecutorLine(printed: line)) ?? last
                }
                return last
            }
        }
        let status = result.terminationStatus
        var end = SoakPushEnd(line: result.closureResult)
        switch status {
        case .exited(0): break
        case .signaled(SIGKILL): end.wasKilled = true
        case .exited(let status): end.problem = "status \(status)"
        case .signaled(let signal): end.problem = "signal \(signal)"
        }
        return end
    }

    func main(
        as name: String, living body: @escaping @Sendable (any SoakVictim) async -> Void
    ) async throws -> String? {
        let result = try await Subprocess.run(
            programs.main(), input: .none, output: .sequence, error: .currentStandardError
        ) { execution in
            let victim = ProcessVictim(execution.processIdentifier.value)
            if let victim { await body(victim) }
            let wasThere = victim.map { !$0.hasEnded } ?? false
            // One that was killed hears nothing.
            try? execution.send(signal: .terminate)
            for try await _ in execution.standardOutput.strings() {}
            return wasThere
        }
        return switch result.terminationStatus {
        case .exited(0), .signaled(SIGKILL): nil
        // Asked to end on its way to the core, before it could say so or even hear it.
        case .exited(1) where result.closureResult, .signaled(SIGTERM) where result.closureResult: nil
        case .exited(let status): "status \(status)"
        case .signaled(let signal): "signal \(signal)"
        }
    }

    /// Lets `body` have the process while `work` goes on.
    private func withLife<Value: Sendable>(
        of pid: Int32, _ body: @escaping @Sendable (any SoakVictim) async -> Void,
        while work: () async throws -> Value
    ) async throws -> Value {
        let life = ProcessVictim(pid).map { victim in Task { await body(victim) } }
        do {
            let value = try await work()
            life?.cancel()
            await life?.value
            return value
        } catch {
            life?.cancel()
            await life?.value
            throw error
        }
    }
}

/// A process of a soak.
private final class ProcessVictim: SoakVictim {
    private let process: ProcessHandle

    /// Nil for one that has ended.
    init?(_ pid: Int32) {
        guard let identity = ProcessIdentity(of: pid), let process = try? ProcessHandle(identity) else { return nil }
        self.process = process
    }

    func isHolder(_ owner: GroupOwner) -> Bool { owner.process == process.identity && !process.hasEnded }

    var hasEnded: Bool { process.hasEnded }

    func kill() { signal(.kill) }

    func freeze() async {
        signal(.stop)
        while !process.hasEnded, process.identity.isStopped == false {
            try? await Task.sleep(for: .milliseconds(1))
            if Task.isCancelled { return }
        }
    }

    func thaw() { signal(.continue) }

    private func signal(_ signal: ProcessSignal) {
        // One that is gone hears nothing.
        _ = try? process.signal(signal)
    }
}
