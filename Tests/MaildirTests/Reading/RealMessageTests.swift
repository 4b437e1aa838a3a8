internal import Coordination
internal import Testing

@testable internal import MaildirCore

/// Messages as programs really send them.
@Suite("A message's identifier, mailboxes and text are decoded for people")
struct RealMessageTests {
    @Test(arguments: samples)
    func isRead(_ sample: MailSample) async throws {
        let message = try await ReadingDesk().read(sample.bytes)
        #expect(message.callID.text == sample.callID)
        #expect(message.content.withoutDetails == .text(from: sample.from, to: sample.to, text: sample.text))
    }

    @Test("Line ends of the network are the same message", arguments: samples)
    func isReadWithCarriageReturns(_ sample: MailSample) async throws {
        var bytes: [UInt8] = []
        for byte in sample.bytes where byte != 0x0D {
            if byte == 0x0A { bytes.append(0x0D) }
            bytes.append(byte)
        }
        let message = try await ReadingDesk().read(bytes)
        #expect(message.callID.text == sample.callID)
        #expect(message.content.withoutDetails == .text(from: sample.from, to: sample.to, text: sample.text))
    }

    static let samples: [MailSample] = headers + characterSets + encodings + structures + oddities

    static let headers = [
        MailSample(
            "Call-ID before Message-ID",
            latin1(
                "From: ann@example.org\nTo: bob@example.org\nMessage-ID: <m@x>\nCall-ID: 84b4c76e66710@host\n\nhi\n"),
            callID: "84b4c76e66710@host", text: "hi"),
        MailSample(
            "folded identifiers and addresses",
            latin1(
                "From: Ann\n <ann@example.org>\nTo: Bob\n\t<bob@example.org>,\n  Cleo <cleo@example.org>\n"
                    + "Message-ID:\n <folded-identifier@example.org>\n\nhi\n"),
            callID: "folded-identifier@example.org", from: "Ann <ann@example.org>",
            to: "Bob <bob@example.org>, Cleo <cleo@example.org>", text: "hi"),
        MailSample(
            "encoded words in names, both kinds, split within a character's neighbours",
            latin1(
                "From: =?UTF-8?Q?J=C3=B6rg_M=C3=BCller?= <j@example.org>\n"
                    + "To: =?ISO-8859-1?B?R/xudGVy?= =?ISO-8859-1?Q?_Gr=FCn?= <g@example.org>\n"
                    + "Message-ID: <a@b>\n\nhi\n"),
            from: "Jörg Müller <j@example.org>", to: "Günter Grün <g@example.org>", text: "hi"),
        MailSample(
            "raw UTF-8 in headers (RFC 6532)",
            Array("From: Jörg <jörg@example.org>\nTo: 山田 <y@example.org>\nMessage-ID: <a@b>\n\nhi\n".utf8),
            from: "Jörg <jörg@example.org>", to: "山田 <y@example.org>", text: "hi"),
        MailSample(
            "raw Latin-1 in headers",
            latin1("From: J\u{F6}rg <j@example.org>\nTo: bob@example.org\nMessage-ID: <a@b>\n\nhi\n"),
            from: "Jörg <j@example.org>", text: "hi"),
        MailSample(
            "a quoted name with a comma",
            latin1("From: \"Doe, John\" <j@example.org>\nTo: bob@example.org\nMessage-ID: <a@b>\n\nhi\n"),
            from: "\"Doe, John\" <j@example.org>", text: "hi"),
        MailSample(
            "addresses of SIP",
            latin1("From: Ann <sip:ann@example.org>\nTo: sip:bob@example.org\nCall-ID: a@b\n\nhi\n"),
            from: "Ann <sip:ann@example.org>", to: "sip:bob@example.org", text: "hi"),
        MailSample(
            "no addresses", latin1("Message-ID: <a@b>\n\nhi\n"), from: "", to: "", text: "hi"),
        MailSample(
            "header names in any case", latin1("FROM: ann@example.org\nto: bob@example.org\nmessage-id: <a@b>\n\nhi\n"),
            text: "hi"),
    ]

    static let characterSets = [
        MailSample("no declaration, ASCII", rest: "\nhi\n", text: "hi"),
        MailSample(
            "ISO-8859-1", rest: "Content-Type: text/plain; charset=ISO-8859-1\n\ncaf\u{E9}\n", text: "café"),
        MailSample(
            "ISO-8859-1 that is Windows-1252 really",
            rest: "Content-Type: text/plain; charset=iso-8859-1\n\n\u{93}caf\u{E9}\u{94} \u{80}\n", text: "“café” €"),
        MailSample(
            "ISO-8859-15", rest: "Content-Type: text/plain; charset=\"iso-8859-15\"\n\n5 \u{A4}\n", text: "5 €"),
        MailSample(
            "Windows-1252", rest: "Content-Type: text/plain; charset=windows-1252\n\n\u{84}ja\u{93}\n", text: "„ja“"),
        MailSample(
            "UTF-8", Array((MailSample.head + "Content-Type: text/plain; charset=utf-8\n\nnaïve 😀\n").utf8),
            text: "naïve 😀"),
        MailSample(
            "UTF-8 undeclared", Array((MailSample.head + "\nnaïve 😀\n").utf8), text: "naïve 😀"),
        MailSample("Latin-1 undeclared", rest: "\ncaf\u{E9}\n", text: "café"),
        MailSample(
            "a character set that nobody knows",
            rest: "Content-Type: text/plain; charset=x-klingon\n\ncaf\u{E9}\n", text: "café"),
        MailSample(
            "UTF-8 with an error in it",
            rest: "Content-Type: text/plain; charset=utf-8\n\na\u{FF}b\n", text: "a\u{FFFD}b"),
        MailSample(
            "ISO-2022-JP",
            rest: "Content-Type: text/plain; charset=ISO-2022-JP\nContent-Transfer-Encoding: 7bit\n\n"
                + "\u{1B}$B$3$s$K$A$O\u{1B}(B\n", text: "こんにちは"),
        MailSample(
            "KOI8-R", rest: "Content-Type: text/plain; charset=koi8-r\n\n\u{F0}\u{D2}\u{C9}\u{D7}\u{C5}\u{D4}\n",
            text: "Привет"),
        MailSample(
            "UTF-16 in base64",
            rest: "Content-Type: text/plain; charset=utf-16le\nContent-Transfer-Encoding: base64\n\naADpACAArCA=\n",
            text: "hé €"),
    ]

    static let encodings = [
        MailSample(
            "quoted-printable with soft breaks",
            rest: "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: quoted-printable\n\n"
                + "Gr=C3=BC=C3=9Fe aus K=\n=C3=B6ln=20=\n\n", text: "Grüße aus Köln"),
        MailSample(
            "base64 over several lines",
            rest: "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64\n\n"
                + "R3LDvMOf\nZSBhdXMg\nS8O2bG4NCg==\n", text: "Grüße aus Köln"),
        MailSample(
            "an unknown encoding is taken as it is",
            rest: "Content-Type: text/plain\nContent-Transfer-Encoding: x-fancy\n\nhi\n", text: "hi"),
        MailSample("white space at the end", rest: "\nhi  \nyou \n\n \n", text: "hi  \nyou"),
        MailSample("an empty body", rest: "\n", text: ""),
        MailSample("no body at all", rest: "", text: ""),
    ]

    static let structures = [
        MailSample(
            "alternatives: the plain one",
            rest: "Content-Type: multipart/alternative; boundary=x\n\n--x\nContent-Type: text/html\n\n<b>rich</b>\n"
                + "--x\nContent-Type: text/plain\n\nplain\n--x--\n", text: "plain"),
        MailSample(
            "only HTML",
            rest: "Content-Type: text/html; charset=utf-8\n\n<html><head><title>t</title><style>p{}</style></head>"
                + "<body><p>One &amp; two</p><p>three<br>four &lt;5&#x21;</p><!-- no --></body></html>\n",
            text: "One & two\n\nthree\nfour <5!"),
        MailSample(
            "nested: mixed, related, alternative",
            rest: "Content-Type: multipart/mixed; boundary=a\n\npreamble\n--a\n"
                + "Content-Type: multipart/related; boundary=b\n\n--b\n"
                + "Content-Type: multipart/alternative; boundary=c\n\n--c\n"
                + "Content-Type: text/plain; charset=iso-8859-1\nContent-Transfer-Encoding: quoted-printable\n\n=FCber\n"
                + "--c\nContent-Type: text/html\n\n<i>x</i>\n--c--\n--b\nContent-Type: image/png\n\nPNG\n--b--\n--a\n"
                + "Content-Type: application/pdf\nContent-Disposition: attachment\n\nPDF\n--a--\nepilogue\n",
            text: "über"),
        MailSample(
            "attachments only",
            rest: "Content-Type: multipart/mixed; boundary=a\n\n--a\nContent-Type: text/plain\n"
                + "Content-Disposition: attachment; filename=log.txt\n\nnot for show\n--a\nContent-Type: image/png\n\nPNG\n"
                + "--a--\n", text: ""),
        MailSample("one attachment as the message", rest: "Content-Type: application/pdf\n\nPDF\n", text: ""),
        MailSample(
            "a forwarded message is not this one's text",
            rest: "Content-Type: multipart/mixed; boundary=a\n\n--a\nContent-Type: message/rfc822\n\n"
                + "Message-ID: <inner@x>\n\ninner\n--a\nContent-Type: text/plain\n\nouter\n--a--\n", text: "outer"),
        MailSample(
            "missing end boundary",
            rest: "Content-Type: multipart/mixed; boundary=a\n\n--a\nContent-Type: text/plain\n\ncut off\n",
            text: "cut off"),
        MailSample(
            "a boundary that never comes",
            rest: "Content-Type: multipart/mixed; boundary=a\n\nno part in sight\n", text: ""),
    ]

    static let oddities = [
        MailSample("NUL in the text", rest: "\none\u{0}two\n", text: "onetwo"),
        MailSample("a mark of byte order", Array((MailSample.head + "\n\u{FEFF}hi\n").utf8), text: "hi"),
        MailSample(
            "a line of a million bytes", rest: "\n" + String(repeating: "x", count: 1_000_000) + "\n",
            text: String(repeating: "x", count: 1_000_000)),
        MailSample(
            "a long header",
            rest: "X-Long: " + String(repeating: "y", count: 300_000) + "\n\nhi\n", text: "hi"),
        MailSample("an mbox line in front", latin1("From ann Sat Nov 21\n" + MailSample.head + "\nhi\n"), text: "hi"),
    ]
}
