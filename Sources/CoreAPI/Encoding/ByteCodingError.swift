/// Why bytes could not be read.
package enum ByteCodingError: Error, Hashable, Sendable {
    /// They end before what they announce.
    case truncated
    /// They are not what a writer makes.
    case malformed
}
