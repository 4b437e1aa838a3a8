internal import CoreAPI

extension SharedCoreError {
    /// What a keeper's refusal is for its Main (contract E1).
    init(_ problem: KeeperProblem, at location: String) {
        let code: Code =
            switch problem.code {
            case .malformed, .noSocket, .unknown: .invalidArgument
            case .tooLong, .tooMany: .limitExceeded
            case .notMain: .forbidden
            case .busy: .unavailable
            case .system: .system
            }
        self.init(code, "The keeper refuses: \(problem.message).", at: location)
    }
}
