internal import Coordination
internal import ProgramOutput
internal import TestSupport
internal import Testing

@testable internal import CommandCore

@Suite("The lines of a core's program")
struct MessageTests {
    @Test(
        "A line that is no object of JSON-RPC 2.0 ends the core",
        arguments: [
            "", " ", "hello", "1", "[]", "[{\"jsonrpc\":\"2.0\",\"method\":\"report\"}]", "{}",
            "{\"method\":\"report\"}",
            "{\"jsonrpc\":\"1.0\",\"method\":\"report\"}", "{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"report\"}",
            "{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"report\"}",
            "{\"jsonrpc\":\"2.0\",\"id\":1e999,\"method\":\"report\"}",
            "{\"jsonrpc\":\"2.0\",\"id\":18446744073709551616,\"method\":\"report\"}",
            "{\"jsonrpc\":\"2.0\",\"id\":true,\"method\":\"report\"}",
            "{\"jsonrpc\":\"2.0\",\"id\":1}", "{\"jsonrpc\":\"2.0\",\"method\":1}",
            "{\"jsonrpc\":\"2.0\",\"method\":\"a\"",
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"method\":\"report\"}",
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

    @Test("An id is null, a text or an integer of 64 bits, and is the answer's as it was written")
    func ids() throws {
        let ids: [(String, JSONValue)] = [
            ("null", .null), ("\"1\"", .text("1")), ("-9223372036854775808", .integer(.min)),
            ("18446744073709551615", .natural(.max)),
        ]
        for (text, id) in ids {
            let line = "{\"jsonrpc\":\"2.0\",\"id\":\(text),\"method\":\"report\"}"
            guard case .request(let request) = try ProgramMessage(Array(line.utf8)) else { throw NoRequest() }
            #expect(request.id == id)
            let answer = String(decoding: ProgramMessage.answer(.success([:]), to: request.id), as: UTF8.self)
            #expect(answer.contains("\"id\":\(text)"))
        }
    }

    private func call(_ method: String, _ parameters: String) throws -> ProgramCall {
        let line = "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"\(method)\",\"params\":\(parameters),\"more\":1}"
        guard case .request(let request) = try ProgramMessage(Array(line.utf8)) else { throw NoRequest() }
        #expect(request.id == .text("x"))
        return try ProgramCall(request)
    }

    private struct NoRequest: Error {}

    @Test("A program is told of every request, and of no other")
    func methods() throws {
        for method in ProgramCall.methods {
            #expect(throws: Refusal.self) { try call(method, "[]") }
            let refusal = #expect(throws: Refusal.self) { try call(method, "{}") }
            #expect(refusal?.number == -32602, "\(method)")
        }
    }

    @Test("Messages of each kind are read; members that this version does not know are passed over")
    func deliver() throws {
        let contents: [(String, InboxMessage.Content)] = [
            (#""kind":"text","from":"a","to":"b","text":"é😀\n","new":[1]"#, .text(from: "a", to: "b", text: "é😀\n")),
            (
                #""kind":"invitation","from":"a","subject":"s","localAddress":"l""#,
                .invitation(from: "a", subject: "s", localAddress: "l")
            ),
            (#""kind":"too-large","from":"a","to":"b""#, .tooLarge(from: "a", to: "b")),
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

    @Test("All that a message may carry is read (C20, C21), and each of it may be missing or null")
    func openMessage() throws {
        let fields = """
            "kind":"reaction","from":"a","to":"b","text":"é","account":"work","conversation":"tea","timeMs":-1500,
            "contentType":"application/json","body":"AP8=","fields":{"emoji":"👍","x.y-1":""},"sequence":"7.INVITE_-"
            """
        let line = fields.split(separator: "\n").joined()
        let content = InboxMessage.Content(
            kind: try #require(InboxMessage.Kind("reaction")), sender: "a", recipient: "b", text: "é",
            contentType: "application/json", body: [0, 255], account: "work", conversation: "tea",
            time: .milliseconds(-1500), fields: ["emoji": "👍", "x.y-1": ""])
        let callID = try #require(CallID("c"))
        let message = InboxMessage(id: try #require(MessageID(callID, sequence: "7.INVITE_-")), content: content)
        for method in ["deliver", "update"] {
            switch try call(method, "{\"callID\":\"c\",\(line)}") {
            case .deliver(let read) where method == "deliver": #expect(read == message)
            case .update(let read) where method == "update": #expect(read == message)
            default: Issue.record("another call than \(method)")
            }
        }
        let none = #""account":null,"conversation":null,"timeMs":null,"contentType":null,"body":null,"fields":null"#
        guard
            case .deliver(let text) = try call(
                "deliver", #"{"callID":"c","sequence":null,"from":"a","to":"b","text":"t",\#(none)}"#),
            case .deliver(let bare) = try call("deliver", #"{"callID":"c","kind":"read-receipt"}"#),
            case .withdraw(let id) = try call("withdraw", #"{"callID":"c","sequence":"1"}"#)
        else { throw NoRequest() }
        #expect(text == InboxMessage(callID: callID, content: .text(from: "a", to: "b", text: "t")))
        #expect(bare.content == InboxMessage.Content(kind: try #require(InboxMessage.Kind("read-receipt"))))
        #expect(id == MessageID(callID, sequence: "1"))
    }

    @Test(
        "A value of a message that breaks its rule (C20, C21) is refused, and the number says so",
        arguments: [
            (#""kind":"Picture""#, #""kind":"picture""#), (#""kind":1"#, #""kind":"a""#),
            (
                #""account":"\#(String(repeating: "a", count: 257))""#,
                #""account":"\#(String(repeating: "a", count: 256))""#
            ),
            (#""account":"a\n""#, #""account":"a""#),
            (#""contentType":"\#(String(repeating: "a", count: 257))""#, #""contentType":"text/plain""#),
            (
                #""conversation":"\#(String(repeating: "é", count: 257))""#,
                #""conversation":"\#(String(repeating: "é", count: 256))""#
            ),
            (#""timeMs":1.5"#, #""timeMs":9007199254740992"#), (#""timeMs":"1""#, #""timeMs":-9007199254740992"#),
            (#""timeMs":9007199254740993"#, #""timeMs":0"#), (#""timeMs":-9223372036854775808"#, #""timeMs":-1"#),
            (#""body":"AP8""#, #""body":"AP8=""#), (#""body":[0]"#, #""body":"""#),
            (#""fields":["a"]"#, #""fields":{}"#), (#""fields":{"a":1}"#, #""fields":{"a":"1"}"#),
            (#""fields":{"A":"1"}"#, #""fields":{"a.-0":"1"}"#), (#""fields":{"":"1"}"#, #""fields":{}"#),
            (
                #""fields":{"a":"\#(String(repeating: "a", count: 1025))"}"#,
                #""fields":{"a":"\#(String(repeating: "a", count: 1024))"}"#
            ),
            (MessageTests.fields(33), MessageTests.fields(32)),
            (#""sequence":"""#, #""sequence":"1""#), (#""sequence":"1 INVITE""#, #""sequence":"1""#),
            (
                #""sequence":"\#(String(repeating: "1", count: 65))""#,
                #""sequence":"\#(String(repeating: "1", count: 64))""#
            ),
        ])
    func boundedMessage(wrong: String, right: String) throws {
        let needed = #"{"callID":"c","from":"a","to":"b","text":"t","#
        for method in ["deliver", "update"] {
            let refusal = #expect(throws: Refusal.self) { try call(method, needed + wrong + "}") }
            #expect(refusal?.number == -32602)
            _ = try call(method, needed + right + "}")
        }
    }

    private static func fields(_ count: Int) -> String {
        #""fields":{"# + (1...count).map { #""f\#($0)":"""# }.joined(separator: ",") + "}"
    }

    @Test("Calls are read with all that may be left out, and without (C23)")
    func calls() throws {
        let id = try #require(CallID("c"))
        let all = """
            {"callID":"c","direction":"outgoing","from":"a","to":"b","account":"work","media":["video"],"state":"ringing"}
            """
        guard case .beginCall(let full, .ringing) = try call("beginCall", all),
            case .beginCall(let bare, .incoming) = try call(
                "beginCall", #"{"callID":"c","direction":"incoming","from":"a","to":"b"}"#)
        else { throw NoRequest() }
        #expect(
            full == CallDescription(id, .outgoing, from: "a", to: "b", account: "work", media: .video))
        #expect(bare == CallDescription(id, .incoming, from: "a", to: "b"))
        let states: [(String, Call.State)] = [
            ("incoming", .incoming), ("ringing", .ringing), ("answered", .answered), ("held", .held),
            ("remotelyHeld", .remotelyHeld),
        ]
        for (word, state) in states {
            guard
                case .changeCall(id, state, media: nil) = try call("changeCall", #"{"callID":"c","state":"\#(word)"}"#)
            else {
                throw NoRequest()
            }
        }
        guard case .changeCall(id, nil, media: []) = try call("changeCall", #"{"callID":"c","media":[]}"#),
            case .changeCall(id, .held, media: .video) = try call(
                "changeCall", #"{"callID":"c","state":"held","media":["video"]}"#)
        else { throw NoRequest() }
        let reasons: [Call.EndReason] = [
            .hungUp, .remoteHungUp, .declined, .missed, .answeredElsewhere, .busy, .failed("no line"),
        ]
        for reason in reasons {
            let parameters = #"{"callID":"c","reason":"\#(reason)","text":"no line"}"#
            guard case .changeCall(id, .ended(reason), media: nil) = try call("endCall", parameters) else {
                throw NoRequest()
            }
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
            ("endActivity", #"{"id":"1"}"#), ("update", #"{"callID":"c"}"#), ("withdraw", "{}"),
            ("beginCall", #"{"callID":"c","from":"a","to":"b"}"#),
            ("beginCall", #"{"callID":"c","direction":"both","from":"a","to":"b"}"#),
            ("beginCall", #"{"callID":"c","direction":"incoming","to":"b"}"#),
            ("beginCall", #"{"callID":"c","direction":"incoming","from":"a","to":"b","media":"audio"}"#),
            (
                "beginCall", #"{"callID":"c","direction":"incoming","from":"a","to":"b","media":["smell"]}"#
            ),
            ("beginCall", #"{"callID":"c","direction":"incoming","from":"a","to":"b","state":"ended"}"#),
            (
                "beginCall",
                #"{"callID":"c","direction":"incoming","from":"a","to":"\#(String(repeating: "é", count: 257))"}"#
            ),
            ("changeCall", #"{"callID":"c"}"#), ("changeCall", #"{"callID":"c","state":"lost"}"#),
            ("changeCall", #"{"callID":"c","media":"audio"}"#),
            ("changeCall", #"{"callID":"c","state":"held","media":["smell"]}"#),
            ("endCall", #"{"callID":"c"}"#), ("endCall", #"{"callID":"c","reason":"lost"}"#),
            (
                "endCall",
                #"{"callID":"c","reason":"failed","text":"\#(String(repeating: "é", count: 257))"}"#
            ),
            ("deliver", #"{"callID":"x\ud800","from":"a","to":"b","text":"t"}"#), ("withdraw", #"{"callID":"\udfff"}"#),
            ("endCall", #"{"callID":"c\udfff","reason":"missed"}"#),
            ("beginActivity", #"{"kind":"call","id":"\ud83d"}"#),
            ("endActivity", #"{"kind":"call","id":"\ud83d"}"#),
            (
                "deliver", #"{"callID":"c","from":"a","to":"b","text":"t","fields":{"x\ud800":"1","x\ud801":"2"}}"#
            ),
            ("withdraw", #"{"callID":""}"#), ("withdraw", #"{"callID":"c","sequence":7}"#),
        ])
    func refused(method: String, parameters: String) {
        let refusal = #expect(throws: Refusal.self) { try call(method, parameters) }
        #expect(refusal?.number == -32602)
    }

    @Test("Half a character in a text that names nothing is stored as U+FFFD, and U+FFFD itself may stand in a name")
    func halfInText() throws {
        guard case .deliver(let message) = try call("deliver", #"{"callID":"c","from":"a","to":"b","text":"\ud800!"}"#)
        else {
            Issue.record("no message")
            return
        }
        #expect(message.content.text == "\u{fffd}!")
        _ = try call("withdraw", #"{"callID":"c\ufffd"}"#)
    }

    @Test(
        "An object that has a name twice is refused: readers differ in which of the two they take",
        arguments: [
            #"{"problem":"a","problem":"b"}"#, #"{"problem":"a","\u0070roblem":"b"}"#,
            #"{"problem":"a","more":[{"x":1,"x":1}]}"#,
        ])
    func repeated(parameters: String) throws {
        let refusal = #expect(throws: Refusal.self) { try call("report", parameters) }
        #expect(refusal?.message.hasSuffix("twice.") == true)
        // Names are bytes: the composed and the decomposed letter are two.
        _ = try call("report", #"{"problem":"a","\u00e9":1,"e\u0301":1}"#)
    }

    @Test(
        "Control characters in the texts of activities and calls are refused",
        arguments: [
            ("beginCall", #"{"callID":"a\nb","direction":"incoming","from":"x","to":"y"}"#),
            ("beginCall", #"{"callID":"c","direction":"incoming","from":"x\u001b[2J","to":"y"}"#),
            ("beginCall", #"{"callID":"c","direction":"incoming","from":"x","to":"y\u0085"}"#),
            ("beginCall", #"{"callID":"c","direction":"incoming","from":"x","to":"y","account":"\u007f"}"#),
        ])
    func controls(method: String, parameters: String) throws {
        let refusal = #expect(throws: Refusal.self) { try call(method, parameters) }
        #expect(refusal?.message.hasSuffix("control characters.") == true)
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
