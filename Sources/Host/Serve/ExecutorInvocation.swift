/// A program to start as an Executor.
struct ExecutorInvocation: Hashable, Sendable {
    /// The absolute path of the program.
    let path: String
    let arguments: [String]
    /// The variables of its environment that are added to this process's, or differ from them.
    let variables: [String: String]
    /// True if it waits for a byte on its standard input before it begins.
    var isHeld = false
    /// True if it waits for another byte on its standard input before it acknowledges the message that it has printed.
    var isConfirmed = false
}
