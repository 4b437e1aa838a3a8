internal import ProgramOutput
internal import TestSupport
internal import Testing

@Suite("Suggestions for misspelt words")
struct SpellingTests {
    @Test(
        "The nearest word is proposed",
        arguments: [
            ("flie", "file"), ("memroy", "memory"), ("zqm", "zmq"), ("FILE", "file"), ("etc", "etcd"),
        ])
    func proposes(word: String, meant: String) {
        #expect(Spelling.nearest(to: word, among: ["memory", "file", "zmq", "etcd"]) == meant)
    }

    @Test("No name is proposed for a word that resembles no known name", arguments: ["redis", "x", "postgres"])
    func keepsSilent(word: String) {
        #expect(Spelling.nearest(to: word, among: ["memory", "file", "zmq", "etcd"]) == nil)
    }

    @Test("Up to three similar words are listed, the nearest first, and none that differs in more than half")
    func lists() {
        let words = ["inbox", "index", "indent", "infix", "etcd"]
        #expect(Spelling.similar(to: "indix", among: words) == ["index", "infix", "inbox"])
        #expect(Spelling.similar(to: "redis", among: ["memory", "file"]).isEmpty)
    }

    @Test("A word of any length is compared with those alone that it may be near to")
    func passesOverOtherLengths() {
        // Ten million steps for each comparison.
        let candidates = [String](repeating: String(repeating: "y", count: 1_000), count: 300)
        let time = processorTime {
            #expect(Spelling.nearest(to: String(repeating: "x", count: 10_000), among: candidates) == nil)
        }
        #expect(time < .seconds(60))
    }

    @Test(
        "The distance counts insertions, deletions, replacements and swaps",
        arguments: [("", "abc", 3), ("abc", "", 3), ("abc", "abc", 0), ("abc", "acb", 1), ("abcd", "bc", 2)])
    func measures(left: String, right: String, distance: Int) {
        #expect(Spelling.distance(left, right) == distance)
    }
}
