internal import Coordination
internal import ProgramOutput
internal import TestSupport
internal import Testing

@testable internal import CommandCore

@Suite("The lines of a core's program")
struct MessageTests {
    @Test(
        "What is no object of JSON-RPC 2.0 ends the core",
        arguments: [
            "", " ", "hello", "1", "[]", "[{\"jsonrpc\":\"2.0\",\"method\":\"report\"}]", "{}",
            "{\"method\":\"report\"}",
            "{\"jsonrpc\":\"1.0\",\"method\":\"report\"}", "{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"report\"}",
            "{\"jsonrpc\":\"2.0\",\"id\":1}", "{\"jsonrpc\":\"2.0\",\"method\":1}",
            "{\"jsonrpc\":\"2.0\",\"method\":\"a\"",
            "{\"jsonrpc\":\"2.0\",\"method\":\"a\",\"params\":" + String(repeating: "[", count: 64)
                + String(repeating: "]", count: 64) + "}",
        ])
    func malformed(line: String) {
        let error = #expect(throws: CommandCoreError.self) { try ProgramMessage(Array(line.utf8)) }
        #expect(error?.code == .malformed)
    }

    @Test("Bytes that are no text are shown escaped, and no more than 80 of them")
    func shown() {
        let error = #expect(throws: CommandCoreError.self) {
            try ProgramMessage([0xff, 0x1b] + Array(repeating: 0x61, count: 100))
        }
        #expect(error?.message.contains("“\\xff\\u{1B}" + String(repeating: "a", count: 78) + "…”") == true)
    }

    private func call(_ method: String, _ parameters: String) throws -> ProgramCall {
        let line = "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"\(method)\",\"params\":\(parameters),\"more\":1}"
        guard case .request(let request) = try ProgramMessage(Array(line.utf8)) else { throw NoRequest() }
        #expect(request.id == .text("x"))
        return try ProgramCall(request)
    }

    private struct NoRequest: Error {}

    @Test("Messages of each kind are read; members that this version does not know are passed over")
    func deliver() throws {
        let contents: [(String, InboxMessage.Content)] = [
            (#""kind":"text","from":"a","to":"b","text":"é😀\n","new":[1]"#, .text(from: "a", to: "b", text: "é😀\n")),
            (
                #""kind":"invitation","from":"a","subject":"s","localAddress":"l""#,
                .invitation(from: "a", subject: "s", localAddress: "l")
            ),
            (#""kind":"tooLarge","from":"a","to":"b""#, .tooLarge(from: "a", to: "b")),
            (#""kind":"nothing""#, .nothingToShow),
        ]
        for (text, content) in contents {
            guard case .deliver(let message) = try call("deliver", "{\"callID\":\"c\",\(text)}") else {
                Issue.record("no delivery")
                continue
            }
            #expect(message.callID.text == "c")
            #expect(message.content == content)
        }
    }

    @Test(
        "Parameters that are missing or wrong are refused, and the number says so",
        arguments: [
            ("deliver", "[]"), ("deliver", "{}"), ("deliver", #"{"callID":1,"kind":"nothing"}"#),
            ("deliver", #"{"callID":"c","kind":"text","from":"a","to":"b"}"#), ("report", "{}"),
            ("beginActivity", #"{"kind":"sync","id":"1"}"#),
            ("beginActivity", #"{"kind":"call","id":"1","expectedEndMs":-1}"#),
            ("beginActivity", #"{"kind":"call","id":"1","expectedEndMs":9000000000000000000}"#),
            ("endActivity", #"{"id":"1"}"#),
        ])
    func refused(method: String, parameters: String) {
        let refusal = #expect(throws: Refusal.self) { try call(method, parameters) }
        #expect(refusal?.number == -32602)
    }

    @Test(
        "Texts are read with their escapes, and half a character becomes U+FFFD",
        arguments: [
            (#""\u00e9\ud83d\ude00\"\\\/\b\f\n\r\t""#, "é😀\"\\/\u{8}\u{c}\n\r\t"), (#""\ud83d""#, "\u{fffd}"),
            (#""\ud83dx\ude00\u0041""#, "\u{fffd}x\u{fffd}A"), (#""\ud83d\u0041""#, "\u{fffd}A"),
            ("\"\u{2028}\"", "\u{2028}"),
        ])
    func texts(json: String, text: String) {
        #expect(JSONGrammar.value(of: Array(json.utf8)) == .text(text))
    }

    @Test("A text of escapes takes time by its length: the longest line holds up no stop")
    func longText() {
        let count = CoreProgram.lineByteCount / 2 - 1
        let json = Array("\"".utf8) + Array(repeating: Array("\\n".utf8), count: count).joined() + Array("\"".utf8)
        var value: JSONValue?
        let time = processorTime { value = JSONGrammar.value(of: json) }
        #expect(value == .text(String(repeating: "\n", count: count)))
        // Measured: 0.4 s without optimization; 19 s where each escape is appended to a text.
        #expect(time < .seconds(8))
    }

    @Test(
        "Numbers are read as what they are",
        arguments: [
            ("-9223372036854775808", JSONValue.integer(.min)), ("18446744073709551615", .natural(.max)),
            ("1.5e3", .number(1500)),
            ("0", .integer(0)),
        ])
    func numbers(json: String, value: JSONValue) {
        #expect(JSONGrammar.value(of: Array(json.utf8)) == value)
    }
}
