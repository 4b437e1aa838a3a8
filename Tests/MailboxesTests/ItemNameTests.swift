import CoreAPI
import CoreAPITesting
import Mailboxes
import TestSupport
import Testing

@Suite("Names of a queue's items (S2, C10)")
struct ItemNameTests {
    private static let hostile = [
        "", "a", "A", "a/b", "a%2Fb", "a%2fb", "a%252Fb", "/", "//", "%", "%%", "%2F", "..", ".", "a ", "a", " a",
        "a\u{0}b", "a\u{0}", "a%00b", "é", "e\u{301}", "😀", "m", "t", "%sends",
        "%n0000000000000001-0000000000000001",
        String(repeating: "x", count: 255), String(repeating: "x", count: 256), String(repeating: "x", count: 257),
        String(repeating: "x", count: 100_000), String(repeating: "/", count: 85), String(repeating: "/", count: 86),
        "%sha256-" + SHA256(of: "".utf8).hexadecimal,
        "%sha256-" + SHA256(of: String(repeating: "x", count: 257).utf8).hexadecimal,
    ]

    @Test("different texts have different names, with any characters")
    func noCollision() {
        var texts: [[UInt8]: String] = [:]
        for text in Self.hostile { texts[Array(text.utf8)] = text }
        let names = Set(texts.values.map { ItemName($0).text })
        #expect(names.count == texts.count)
    }

    @Test("a name is one part of a path, of 1 to 256 bytes of printable ASCII", arguments: hostile)
    func shape(text: String) throws {
        let name = ItemName(text).text.utf8
        #expect((1...ItemName.maximumByteCount).contains(name.count))
        #expect(name.allSatisfy { (0x21...0x7e).contains($0) && $0 != UInt8(ascii: "/") })
    }

    @Test("the longest path and the longest name are a key together")
    func fitsIntoKey() async throws {
        let keys = try QueueKeys(path: String(repeating: "p", count: QueueKeys.maximumPathByteCount))
        let name = ItemName(String(repeating: "x", count: ItemName.maximumByteCount))
        #expect(try keys.key(of: .message, for: name).text.utf8.count == Key.maximumByteCount)
        #expect(
            try await code {
                try QueueKeys(path: String(repeating: "p", count: QueueKeys.maximumPathByteCount + 1))
            } == .invalidArgument)
    }

    @Test("random texts: equal names have equal bytes", arguments: Seed.several(4))
    func randomTexts(seed: Seed) {
        var random = SeededRandom(seed)
        let alphabet: [Unicode.Scalar] = ["%", "/", "2", "F", "f", "5", "\u{0}", "é", "n", "-"]
        var texts: [String: [UInt8]] = [:]
        for _ in 0..<20_000 {
            var text = String.UnicodeScalarView()
            for _ in 0..<Int.random(in: 0...6, using: &random) {
                text.append(alphabet[Int.random(in: 0..<alphabet.count, using: &random)])
            }
            let bytes = Array(String(text).utf8)
            let name = ItemName(String(text)).text
            #expect(texts[name, default: bytes] == bytes)
            texts[name] = bytes
        }
    }

    @Test("numbered names are in ascending order, and differ from the names of texts")
    func numbered() {
        let names = (0..<100).map { _ in ItemName.numbered(by: SessionID(rawValue: 7)) }
        #expect(names == names.sorted())
        #expect(Set(names).count == 100)
        for name in names { #expect(ItemName(name.text) != name) }
    }
}

@Suite("SHA-256 (FIPS 180-4)")
struct SHA256Tests {
    @Test(
        "gives the digests of the standard's examples",
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
            (
                "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
                "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"
            ),
        ])
    func standardExamples(message: String, digest: String) {
        #expect(SHA256(of: message.utf8).hexadecimal == digest)
    }

    @Test("gives the standard's digest of a million letters")
    func longExample() {
        let message = repeatElement(UInt8(ascii: "a"), count: 1_000_000)
        #expect(
            SHA256(of: message).hexadecimal == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
    }

    @Test("pads every length from 0 to 200 bytes as another implementation does")
    func everyLength() {
        let digests = (0...200).flatMap { count in
            SHA256(of: (0..<count).map { UInt8(truncatingIfNeeded: $0 * 7 + count) }).digest
        }
        #expect(SHA256(of: digests).hexadecimal == "e673d33f6940a6d3856d0d305fd88363ae0ba3b96e2411d8ddd5e0dd443f4525")
    }
}
