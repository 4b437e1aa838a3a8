internal import FoundationEssentials
internal import ProgramOutput
internal import Testing

@Suite("JSON lines")
struct JSONLineTests {
    @Test("Every text is one line that a JSON reader reads back as the same")
    func texts() throws {
        let scalars =
            (0...0x2100).compactMap { Unicode.Scalar($0 as UInt32) } + ["\u{ffff}", "\u{1f600}", "\u{10ffff}"]
        for scalar in scalars {
            let text = "a\(scalar)b"
            let line = (["text": .text(text)] as JSONObject).line
            let object = try JSONDecoder().decode([String: String].self, from: Data(line.utf8))
            #expect(object["text"].map { Array($0.utf8) } == Array(text.utf8))
            #expect(!line.contains { $0.isNewline })
        }
    }

    @Test("Fields keep their order, and values their type")
    func order() {
        let object: JSONObject = [
            "z": 1, "a": "x", "m": .null, "f": true, "n": .natural(.max), "i": .integer(.min),
            "list": .array([1, "two", .number(0.5), .number(.infinity)]), "object": .object(["k": "v"]),
        ]
        #expect(
            object.line
                == #"{"z":1,"a":"x","m":null,"f":true,"n":18446744073709551615,"i":-9223372036854775808,"#
                + #""list":[1,"two",0.5,null],"object":{"k":"v"}}"#)
    }
}
