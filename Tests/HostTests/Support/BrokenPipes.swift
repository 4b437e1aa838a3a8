internal import Glibc

/// Makes a write to a program that has ended an error, as it is in sharedcore, so that it does not end the tests.
enum BrokenPipes {
    /// With a handler: an ignored signal would stay ignored in the programs that tests start.
    static let areErrors: Void = {
        signal(SIGPIPE) { _ in }
    }()
}
