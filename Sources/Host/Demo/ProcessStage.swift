internal import Coordination
internal import CoreAPI
internal import Platform
internal import ProgramOutput
internal import Subprocess

/// The demo with real processes: the slim Executor where it is there and knows the backend, and Main of this program.
struct ProcessStage: DemoStage {
    let group: any SharedGroup
    let programs: DemoPrograms

    func push(
        _ callID: CallID, as name: String, hear: @escaping @Sendable (ExecutorLine) async throws -> Void
    ) async throws -> String? {
        let configuration = programs.executor(for: callID, as: name)
        let result = try await Subprocess.run(
            configuration, input: .none, output: .sequence, error: .currentStandardError
        ) { execution in
            for try await line in execution.standardOutput.strings() {
                try await hear(try ExecutorLine(printed: line))
            }
        }
        return switch result.terminationStatus {
        case .exited(ExitStatus.success.rawValue), .exited(ExitStatus.no.rawValue): nil
        case .exited(let status): "status \(status)"
        case .signaled(let signal): "signal \(signal)"
        }
    }

    func withMain<Value: Sendable>(_ body: (any DemoMain) async throws -> Value) async throws -> Value {
        try await Subprocess.run(
            programs.main(), input: .none, output: .sequence, error: .currentStandardError
        ) { execution in
            var lines = execution.standardOutput.strings().makeAsyncIterator()
            guard try await lines.next() != nil else {
                throw CommandFailure(.unavailable, "Main ended before it owned")
            }
            let main = MainProcess(signal: { try execution.send(signal: $0) })
            let value = try await body(main)
            if !main.isKilled { try execution.send(signal: .terminate) }
            while try await lines.next() != nil {}
            return value
        }.takeClosureResult()
    }
}
