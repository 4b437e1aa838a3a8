import CoreAPI
import Testing

@testable import Coordination

@Suite("P13: what a push has")
struct PushTests {
    @Test("Values of the rule's size are accepted")
    func largest() throws {
        let payload = (0..<4096).map { UInt8(truncatingIfNeeded: $0) }
        let push = try Push(
            callID("1@x"), type: String(repeating: "a-0.", count: 16), account: String(repeating: "ü", count: 128),
            payload: payload)
        #expect(push.payload == payload)
        #expect(try Push(callID("1@x")) == Push(callID("1@x"), type: "message", account: "", payload: []))
    }

    @Test(
        "A type that is not 1 to 64 of a-z, 0-9, - and . is refused",
        arguments: ["", "Call", "a b", "a_b", "ä", "a\0", String(repeating: "a", count: 65)])
    func type(text: String) {
        #expect(throws: SharedCoreError.self) { try Push(callID("1@x"), type: text) }
    }

    @Test(
        "An account with control characters or of more than 256 bytes is refused",
        arguments: ["a\n", "\u{7f}", "\u{85}", "\0", String(repeating: "ü", count: 129)])
    func account(text: String) {
        #expect(throws: SharedCoreError.self) { try Push(callID("1@x"), account: text) }
    }

    @Test("A payload of more than 4 KiB is refused, and what is said has nothing of it")
    func payload() throws {
        #expect {
            try Push(callID("1@x"), payload: Array(repeating: UInt8(ascii: "S"), count: 4097))
        } throws: { error in
            (error as? SharedCoreError)?.code == .invalidArgument && !"\(error)".contains("SS")
        }
    }

    @Test("An Executor reads from its environment what its host was told; absent values are the defaults")
    func variables() throws {
        let push = try Push(callID("1@x"), type: "call", account: "a@b", payload: [0, 0xff, 0x0a, 0x80])
        #expect(push.variables["SHAREDCORE_PUSH_PAYLOAD"] == "AP8KgA==")
        for push in [push, try Push(callID("2@x"))] {
            let variables = push.variables
            #expect(variables.count == 4)
            #expect(Push { variables[$0].map { Array($0.utf8) } } == push)
        }
        #expect(try Push { $0 == "SHAREDCORE_CALL_ID" ? Array("1@x".utf8) : nil } == Push(callID("1@x")))
    }

    @Test(
        "Variables that are no push are none",
        arguments: [
            [:], ["CALL_ID": ""], ["CALL_ID": "1", "PUSH_TYPE": ""], ["CALL_ID": "1", "PUSH_PAYLOAD": "A"],
            ["CALL_ID": "1", "PUSH_ACCOUNT": "\n"], ["CALL_ID": "1", "PUSH_PAYLOAD": "AA=="].mapValues { $0 + "\n" },
        ])
    func noPush(variables: [String: String]) {
        let push = Push { name in variables[String(name.dropFirst("SHAREDCORE_".count))].map { Array($0.utf8) } }
        #expect(push == nil)
    }

    @Test("Base64 is that of RFC 4648, and any bytes come back")
    func base64() {
        for (text, encoded) in [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            #expect(Base64.encode(Array(text.utf8)) == encoded)
        }
        var random = SeededRandom(seed: 1)
        for count in 0..<300 {
            let bytes = (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) }
            #expect(Base64.decode(Base64.encode(bytes)) == bytes)
        }
        for text in [
            "A", "AA", "AAA", "=", "====", "A===", "AB==", "AAB=", "AA=A", "AA==AAAA", "AA-_", "AA\n=", " AAA",
        ] {
            #expect(Base64.decode(text) == nil, "\(text)")
        }
    }
}
