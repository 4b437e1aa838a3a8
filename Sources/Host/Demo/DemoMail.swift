internal import Coordination
internal import CoreAPI
internal import FoundationEssentials
internal import Platform

/// A message of the demo on its server: RFC 5322, in one of the usual encodings of mail.
struct DemoMail: Sendable {
    let number: Int
    let callID: CallID
    /// The text that the Executor must print for it.
    let text: String

    private static let texts = [
        "Are you there?", "Réunion à 14 h, salle “Éole”.", "The parcel has arrived.", "明日の会議は十時からです。",
        "Call me back, please.", "Grüße aus Köln!", "Lunch at twelve?", "Увидимся в пятницу.", "The build is green.",
        "Ça marche, à demain.",
    ]

    init?(_ number: Int) {
        guard let callID = CallID("\(number).demo@sharedcore.example") else { return nil }
        self.number = number
        self.callID = callID
        self.text = "\(number): " + Self.texts[(number - 1) % Self.texts.count]
    }

    /// The name of its file.
    var fileName: String { "\(number).\(ProcessIdentity.current.pid).demo" }

    /// The bytes of its file.
    var content: String {
        ([
            "From: =?utf-8?Q?Zo=C3=AB?= <zoe@sharedcore.example>", "To: Demo <demo@sharedcore.example>",
            "Subject: Message \(number) of the demo", "Date: Mon, 02 Mar 2026 12:00:00 +0000",
            "Message-ID:\r\n <\(callID.text)>", "MIME-Version: 1.0",
        ] + encodedBody).joined(separator: "\r\n") + "\r\n"
    }

    /// The last headers and the body: quoted-printable, Base64, or an alternative of plain text and HTML.
    private var encodedBody: [String] {
        switch number % 3 {
        case 0:
            [
                "Content-Type: text/plain; charset=utf-8", "Content-Transfer-Encoding: quoted-printable", "",
                quotedPrintable,
            ]
        case 1: ["Content-Type: text/plain; charset=utf-8", "Content-Transfer-Encoding: base64", "", base64]
        default:
            [
                "Content-Type: multipart/alternative; boundary=\"part\"", "", "--part",
                "Content-Type: text/plain; charset=utf-8", "Content-Transfer-Encoding: base64", "", base64, "--part",
                "Content-Type: text/html; charset=utf-8", "Content-Transfer-Encoding: 8bit", "",
                "<p><b>\(text)</b></p>", "--part--",
            ]
        }
    }

    private var base64: String { Data(text.utf8).base64EncodedString() }

    private var quotedPrintable: String {
        text.utf8.map { byte in
            if (0x20...0x7e).contains(byte), byte != UInt8(ascii: "=") { return String(UnicodeScalar(byte)) }
            return "=" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }.joined()
    }
}
