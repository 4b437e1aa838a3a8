internal import CoreAPI
internal import CoreAPITesting
internal import FoundationEssentials
internal import ProgramOutput
internal import TestSupport
internal import Testing

@testable internal import SharedCoreHost

@Suite("Arguments that are JSON, by RFC 8259")
struct JSONGrammarTests {
    @Test(
        "Every value of RFC 8259 is",
        arguments: [
            "0", "-0", "-1.5e+10", "1E400", "18446744073709551616", "true", "false", "null", "\"\"",
            "\"\\u00e9\\n\\/\"",
            "[]", "{}", " [ 1 , {\"a\":[]} ]\r\n\t", "{\"a\":{\"a\":1},\"a\":2}", "\"\u{7f}é😀\u{2028}\"",
            String(repeating: "[", count: 500) + String(repeating: "]", count: 500),
        ])
    func accepted(text: String) {
        #expect(JSONGrammar.accepts(Array(text.utf8)))
    }

    @Test(
        "Nothing else is, however generous decoders are",
        arguments: [
            "", " ", "[1,]", "{\"a\":1,}", "[,]", "[1 2]", "{\"a\"}", "{a:1}", "{\"a\":}", "01", "+1", "1.", ".5", "1e",
            "-",
            "NaN", "Infinity", "0x1", "'a'", "\"a", "\"\n\"", "\"\u{0}\"", "\"\\x\"", "\"\\u12g4\"", "tru", "nulll",
            "1 1",
            "[1]]", "// no\n1", "\u{feff}1", "[", "{\"a\":1", String(repeating: "[", count: 1_000_000),
            String(repeating: "[", count: 501) + String(repeating: "]", count: 501),
        ])
    func refused(text: String) {
        #expect(!JSONGrammar.accepts(Array(text.utf8)))
    }

    @Test("Bytes that are no UTF-8 are none")
    func encoding() {
        #expect(!JSONGrammar.accepts([0x22, 0xff, 0x22]))
        #expect(!JSONGrammar.accepts([0x22, 0xed, 0xa0, 0x80, 0x22]))
    }

    @Test("Every accepted text is read by a decoder", arguments: Seed.several(4))
    func decoded(seed: Seed) {
        var random = SeededRandom(seed)
        let pieces = [
            "[", "]", "{", "}", ",", ":", "\"a\"", "\"\\n\"", "1", "-", "0", ".5", "e3 ", "true", "null", " ",
        ]
        var accepted = 0
        for _ in 0..<40_000 {
            let text = (0..<Int.random(in: 1...7, using: &random)).map { _ in
                pieces[Int.random(in: 0..<pieces.count, using: &random)]
            }.joined()
            guard JSONGrammar.accepts(Array(text.utf8)) else { continue }
            accepted += 1
            #expect(throws: Never.self, "\(text)") { try JSONDecoder().decode(JSONField.self, from: Data(text.utf8)) }
        }
        #expect(accepted > 100)
    }
}
