internal import Testing

@testable internal import SharedCoreHost

@Suite("Values in a terminal")
struct ValueTextTests {
    @Test(
        "No value ends a line or commands the terminal",
        arguments: ["a\nb", "a\r\nb", "\u{1b}[2Jx", "tab\there", "a\u{85}b", "\u{7f}", "\u{202e}x", "\u{2028}"])
    func escapes(text: String) {
        let shown = ValueText.oneLine(Array(text.utf8))
        #expect(shown.unicodeScalars.allSatisfy { $0.isASCII && $0.properties.generalCategory != .control })
        #expect(shown != text)
    }

    @Test("A plain text is shown as it is, and what is no text in Base64")
    func shows() {
        #expect(ValueText.oneLine(Array("größe “x” 明日".utf8)) == "größe “x” 明日")
        #expect(ValueText.oneLine([0xff, 0x00]) == "base64:/wA=")
    }
}
