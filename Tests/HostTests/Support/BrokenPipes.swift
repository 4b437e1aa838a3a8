internal import Glibc

/// A write to a program that has ended is an error here, as it is in sharedcore, and does not end the tests.
enum BrokenPipes {
    /// By a handler: an ignored signal would stay ignored in the programs that tests start.
    static let areErrors: Void = {
        signal(SIGPIPE) { _ in }
    }()
}
