internal import CoreAPI
internal import CoreAPITesting
internal import TestSupport
internal import Testing

@testable internal import MaildirCore

@Suite("Bytes become text for people")
struct TextTests {
    @Test("Lines end in one line feed, and nothing hangs on at the end")
    func lines() {
        #expect(MailText.lines(Array("a\r\nb\rc\n\nd \r\n\t\n".utf8)) == "a\nb\nc\n\nd")
        #expect(MailText.lines([]) == "")
        #expect(MailText.lines([0x0D, 0x0A, 0x0D]) == "")
        #expect(MailText.lines([0x61, 0x00, 0x0D, 0x00, 0x0A, 0x62]) == "a\n\nb")
    }

    @Test("A line has no control characters and single spaces")
    func line() {
        #expect(MailText.line("  a\r\n\tb\u{0}\u{85}c  ") == "a b c")
        #expect(MailText.line("") == "")
    }

    @Test(
        "HTML becomes its text",
        arguments: [
            ("<p>a</p><p>b", "a\n\nb"), ("a<br/>b<br>c", "a\nb\nc"), ("a <b>bold</b>  word", "a bold word"),
            ("<script>if (a < b) {}</script>x", "x"), ("<STYLE type='a'>p > q {}</STYLE >x", "x"),
            ("1 < 2 &amp;&amp; 3 > 2", "1 < 2 && 3 > 2"), ("&#169;&#xA9;&copy;&unknown;&", "©©©&unknown;&"),
            ("<!-- <p> -->x<!-- open", "x"), ("<ul><li>a</li><li>b</li></ul>", "a\nb"), ("<", "<"), ("x<a", "x"),
            ("", ""),
        ])
    func markup(_ document: String, _ text: String) {
        #expect(MarkupText.plain(document) == text)
    }

    @Test("Any bytes are some HTML", arguments: Seed.several(3))
    func anyMarkup(_ seed: Seed) {
        var random = SeededRandom(seed)
        let pieces = [
            "<", ">", "</", "<!--", "-->", "<script", "&", "#", ";", "&#x", "p", " ", "\n", "\u{0}", "é", "😀", "/", "!",
        ]
        for _ in 0..<500 {
            let document = (0..<40).map { _ in pieces[Int.random(in: 0..<pieces.count, using: &random)] }.joined()
            #expect(MarkupText.plain(document).utf8.count <= document.utf8.count)
        }
    }

    @Test("A name in cur is its name in new, without what stood behind it, and never too long")
    func names() {
        func kept(_ name: String, attempt: Int = 0) -> String {
            FileName(Array(name.utf8)).withoutInformation.adding(":2,S", attempt: attempt).description
        }
        #expect(kept("1.a.host") == "1.a.host:2,S")
        #expect(kept("1.a.host:2,RT") == "1.a.host:2,S")
        #expect(kept("1.a.host", attempt: 7) == "1.a.host_7:2,S")
        #expect(kept(String(repeating: "n", count: 255), attempt: 12).utf8.count == 255)
        #expect(kept(String(repeating: "n", count: 255), attempt: 12).hasSuffix("n_12:2,S"))
    }
}
