internal import CoreAPI
internal import Glibc
internal import Platform
internal import ProgramOutput

/// The error with which the program ends without success.
struct BenchFailure: Error {
    let status: ExitStatus
    /// One line without the program's name; nil if there is nothing to say.
    let message: String?

    init(_ status: ExitStatus, _ message: String?) {
        self.status = status
        self.message = message
    }

    /// - Returns: Nil when the error is no failure, such as a closed standard output.
    init?(endedBy error: any Error) {
        switch error {
        case let failure as BenchFailure: self = failure
        case let end as Interrupted: self.init(end.status, end.message)
        case let error as SystemCallError where error.location == "standard output":
            if error.number == EPIPE { return nil }
            self.init(.output, "\(error.location): \(error.text)")
        case let error as SystemCallError: self.init(.unavailable, "\(error.location): \(error.text)")
        case let error as SharedCoreError: self.init(ExitStatus(error.code), error.sentence)
        default: self.init(.unavailable, "\(error)")
        }
    }
}
