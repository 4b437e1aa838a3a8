internal import Wormholes

extension CommandFailure {
    /// What an error of a mailbox means for the command that met it.
    init(_ error: WormholeError) {
        if let cause = error.cause {
            self.init(cause)
        } else {
            self.init(.no, error.message)
        }
    }
}
