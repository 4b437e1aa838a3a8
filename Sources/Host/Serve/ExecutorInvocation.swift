/// A program that is to be started as an Executor.
struct ExecutorInvocation: Hashable, Sendable {
    /// Its absolute path.
    let path: String
    let arguments: [String]
    /// What its environment has more or otherwise than this process's.
    let variables: [String: String]
    /// Whether it waits for a byte on its standard input before it does anything.
    var isHeld = false
    /// Whether it waits for a byte there, behind that one, before it acknowledges the message that it has printed.
    var isConfirmed = false
}
