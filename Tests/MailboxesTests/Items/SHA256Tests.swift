import Mailboxes
import Testing

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
