/// An answer of a peer that is no success.
struct PeerRefusal: Error, CustomStringConvertible {
    let answer: String

    var description: String { "the peer answered: \(answer)" }
}
