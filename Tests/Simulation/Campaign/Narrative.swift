/// The events of a simulation as sentences, and the first rule that was broken.
///
/// A reference type, so that the closures that make sentences can read the simulation that narrates.
final class Narrative {
    /// True if the sentences are recorded.
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
