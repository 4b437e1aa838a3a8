internal import Coordination
internal import ExecutorRun
internal import ProgramOutput

extension CommandFailure {
    /// What an error of a participant means for the command that met it.
    init(_ error: CoordinationError) {
        switch error.code {
        case .cancelled: self.init(.no, "interrupted")
        case .refused, .timeout, .fenced, .superseded: self.init(.no, error.message)
        case .coreFailed: self.init(.unavailable, "the core failed: \(error.message)")
        default:
            if let cause = error.cause {
                self.init(cause)
            } else {
                self.init(.unavailable, error.message)
            }
        }
    }

    /// What it means that an Executor could not do its job.
    init(_ failure: ExecutorFailure) {
        self.init(failure.status, failure.message)
    }
}
