/// What happened in a simulation, for people, and the first rule that was broken.
///
/// A reference, so that what is told can look at the simulation that tells it.
final class Narrative {
    /// Whether anybody will read the sentences.
    let isTold: Bool
    private(set) var lines: [String] = []
    private(set) var violation: String?

    init(isTold: Bool) {
        self.isTold = isTold
    }

    func say(_ sentence: String, at nanoseconds: UInt64) {
        let milliseconds = String(nanoseconds / 1_000_000)
        let padding = String(repeating: " ", count: max(0, 6 - milliseconds.count))
        lines.append("\(padding)\(milliseconds) ms  \(sentence)")
    }

    func broke(_ sentence: String, at nanoseconds: UInt64) {
        guard violation == nil else { return }
        violation = sentence
        if isTold { say("BROKEN: " + sentence, at: nanoseconds) }
    }
}
