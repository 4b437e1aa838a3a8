/// An answer of a peer that is no success.
package struct PeerRefusal: Error, CustomStringConvertible {
    package let answer: String

    init(_ answer: String) {
        self.answer = answer
    }

    package var description: String { "the peer answered: \(answer)" }
}
