/// How a program ended.
package enum ProgramEnd: Hashable, Sendable {
    case exited(status: Int32)
    case killed(signal: Int32)
}
