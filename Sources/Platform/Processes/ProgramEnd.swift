/// How a program ended.
package enum ProgramEnd: Hashable, Sendable {
    case exited(Int32)
    case killed(by: Int32)
}
