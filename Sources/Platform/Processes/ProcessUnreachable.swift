/// Why a process could not be opened.
package enum ProcessUnreachable: Error, Hashable, Sendable {
    /// It has ended; its number may belong to another process by now.
    case dead
    /// Nothing can be said about it from here.
    case unknown(SystemCallError)
}
