internal import Coordination
internal import CoreAPI
internal import ExecutorRun
internal import Platform
internal import ProgramOutput
internal import ServiceLifecycle
internal import SharedCoreConfiguration
internal import Synchronization
internal import Wormholes

/// A command as a service: a signal cancels it, and it keeps its outcome for the caller.
final class CommandService: Service {
    private let work: @Sendable () async throws -> Void
    private let ending = Mutex<Result<Void, CommandFailure>>(.success(()))

    init(_ work: @escaping @Sendable () async throws -> Void) {
        self.work = work
    }

    /// How the command ended.
    var result: Result<Void, CommandFailure> { ending.withLock { $0 } }

    func run() async throws {
        let outcome = await cancelWhenGracefulShutdown { [work] () -> Result<Void, CommandFailure> in
            do {
                try await work()
                return .success(())
            } catch {
                return Self.outcome(of: error, wasInterrupted: Task.isShuttingDownGracefully)
            }
        }
        ending.withLock { $0 = outcome }
    }

    private static func outcome(of error: any Error, wasInterrupted: Bool) -> Result<Void, CommandFailure> {
        switch error {
        // After an interruption, an error of the command is only a consequence, for example because its children have
        // ended too.
        case let failure as CommandFailure where wasInterrupted && failure.status == .no: .failure(failure)
        // The command has done its work, and only its output failed. So the status is not that of “not done”, after
        // which a script would repeat the command.
        case let error as OutputFailed:
            .failure(CommandFailure(.output, "\(error.cause.location): \(error.cause.text)"))
        case let failure as ExecutorFailure where failure.status == .output: .failure(CommandFailure(failure))
        case is OutputClosed where wasInterrupted: .success(())
        case _ where wasInterrupted: .failure(CommandFailure(.no, "interrupted"))
        case let failure as CommandFailure: .failure(failure)
        case let failure as ConfigurationFailure: .failure(CommandFailure(failure))
        case let end as Interrupted: .failure(CommandFailure(end.status, end.message))
        // The reader has closed the pipe, which it may do at any time, so the command succeeds.
        case is OutputClosed: .success(())
        case let failure as ExecutorFailure: .failure(CommandFailure(failure))
        case let error as CoordinationError: .failure(CommandFailure(error))
        case let error as SharedCoreError where error.code == .cancelled:
            .failure(CommandFailure(.no, "interrupted"))
        case let error as SharedCoreError: .failure(CommandFailure(error))
        case let error as WormholeError where error.cause?.code == .cancelled:
            .failure(CommandFailure(.no, "interrupted"))
        case let error as WormholeError: .failure(CommandFailure(error))
        case let error as SystemCallError:
            .failure(CommandFailure(.unavailable, "\(error.location): \(error.text)"))
        case is CancellationError: .failure(CommandFailure(.no, "interrupted"))
        default: .failure(CommandFailure(.unavailable, "\(error)"))
        }
    }
}
