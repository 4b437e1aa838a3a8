internal import FoundationEssentials
internal import ProgramOutput
internal import Testing

@testable internal import SharedCoreHost

@Suite("The part of an Executor's line that is kept")
struct PrintedLineTests {
    @Test("A line that fits is kept as it is, without what follows it")
    func whole() {
        #expect(PrintedLine(Array("a b\nc\n".utf8), hadMore: false) == PrintedLine(Array("a b\n".utf8), hadMore: true))
        #expect(PrintedLine(Array("\n\na".utf8), hadMore: false)?.text == "a")
        #expect(PrintedLine(Array("a".utf8), hadMore: false)?.isCut == false)
        #expect(PrintedLine([], hadMore: false) == nil && PrintedLine([10, 10], hadMore: false) == nil)
    }

    @Test("JSON that is cut at any byte is JSON again, with all that was whole")
    func anywhere() throws {
        let text =
            #"{"event":"message","from":"Zoë \u0041 😀 \ud83d\ude00","n":[1,{"a":true},-2.5e3],"text":"ab \"c\" d"}"#
        let bytes = Array(text.utf8)
        for count in bytes.indices.dropFirst(#"{"event":"m"#.utf8.count) {
            let line = try #require(PrintedLine(Array(bytes[..<count]), hadMore: true))
            #expect(line.isCut)
            #expect(JSONGrammar.accepts(Array(line.text.utf8)), "\(count): \(line.text)")
            #expect(line.text.hasPrefix(#"{"event":""#) && !line.text.contains("\u{fffd}"), "\(line.text)")
            struct Event: Decodable { let event: String }
            #expect(throws: Never.self) { try JSONDecoder().decode(Event.self, from: Data(line.text.utf8)) }
        }
    }

    @Test("A text that is cut has no half of a character at its end")
    func text() {
        let bytes = Array("größe 😀".utf8)
        for count in bytes.indices.dropFirst() {
            let line = PrintedLine(Array(bytes[..<count]), hadMore: true)
            #expect(line?.text.contains("\u{fffd}") == false, "\(count)")
        }
    }

    @Test("The alert of a long message is titled with its sender and has the beginning of its text")
    func alert() throws {
        let report = #"{"event":"message","callID":"1","from":"Zoë","text":""# + String(repeating: "x", count: 70_000)
        let line = try #require(PrintedLine(Array(report.utf8.prefix(65_536)), hadMore: true))
        let alert = try #require(Alert(printedIn: line))
        #expect(alert.title == "Zoë" && alert.text.hasPrefix("xxx") && alert.text.hasSuffix("x…"))
    }
}
