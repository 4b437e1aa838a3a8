internal import Glibc

/// A write to a program that has ended is an error here, as it is in sharedcore, and does not end the tests.
enum BrokenPipes {
    /// By a handler: what is ignored would be ignored by the programs that tests start, too.
    static let areErrors: Void = {
        signal(SIGPIPE) { _ in }
    }()
}
