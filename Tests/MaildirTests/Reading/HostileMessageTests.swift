internal import Coordination
internal import CoreAPI
internal import CoreAPITesting
internal import Glibc
internal import Platform
internal import TestSupport
internal import Testing

@testable internal import MaildirCore

@Suite("E2: nothing that stands in a file stops the program or costs it more than it should", .serialized)
struct HostileMessageTests {
    @Test("An empty file, other data, and messages without an identifier are refused for what they are")
    func refusals() async throws {
        let desk = try ReadingDesk()
        #expect(try await desk.refusal(of: "")?.reason == .empty)
        for noMessage in ["\n", "just a line\n", "just words", "\u{0}", "{\"json\": true}\n"] {
            let reason = try await desk.refusal(of: noMessage)?.reason
            #expect(reason == .noMessage || reason == .noIdentifier, "\(noMessage)")
        }
        #expect(try await desk.refusal(of: latin1("\u{89}PNG\r\n\u{1A}\n\0\0\0\rIHDR\0\0\u{FF}"))?.folder == .malformed)
        #expect(try await desk.refusal(of: "Subject: no identifier\n\nhi\n")?.reason == .noIdentifier)
        for value in ["", "   ", "<>", "< >"] {
            #expect(try await desk.refusal(of: "Message-ID: \(value)\n\nhi\n")?.reason == .noIdentifier, "\(value)")
        }
        #expect(try await desk.refusal(of: latin1("Call-ID: \u{FF}\u{FE}\n\nhi\n"))?.reason == .noIdentifier)
        // A carriage return alone ends no line (RFC 5322, 2.2): all of it is one header.
        #expect(try await desk.refusal(of: "Subject: x\rCall-ID: a@b\r\rhi\r")?.reason == .noIdentifier)
    }

    @Test("An identifier in the wrong form of Call-ID falls back on the Message-ID")
    func emptyCallID() async throws {
        let message = try await ReadingDesk().read("Call-ID:\nMessage-ID: <m@x>\n\nhi\n")
        #expect(message.callID.text == "m@x")
    }

    @Test("P10: an identifier with control characters, which no push can announce, is refused")
    func controlCharacters() async throws {
        let desk = try ReadingDesk()
        for value in ["a\u{1}b", "a\u{7f}b", "a\u{85}b"] {
            let refusal = try await desk.refusal(of: "Call-ID: \(value)\n\nhi\n")
            #expect(refusal?.folder == .malformed && refusal?.callID == nil, "\(value.utf8.map { $0 })")
        }
    }

    @Test("Identifiers have up to 998 bytes")
    func longIdentifiers() async throws {
        let desk = try ReadingDesk()
        for count in [512, 513, 998] {
            let id = String(repeating: "i", count: count)
            #expect(try await desk.read("Call-ID: \(id)\n\nhi\n").callID.text == id)
        }
        for count in [999, 1_000_000] {
            let refusal = try await desk.refusal(of: "Call-ID: \(String(repeating: "i", count: count))\n\nhi\n")
            #expect(refusal?.reason == .identifierTooLong(maximum: 998))
        }
    }

    @Test("Encoded line ends in a name make no line, and no header")
    func noLinesInNames() async throws {
        let message = try await ReadingDesk().read(
            "From: =?utf-8?q?Ann=0D=0ACall-ID:_evil=00=1B[2J?= <ann@example.org>\nTo: =?utf-8?q?=0A?=\nCall-ID: a@b\n\nhi\n"
        )
        #expect(message.content.kind == .text)
        #expect(message.callID.text == "a@b")
        #expect(!message.content.sender.unicodeScalars.contains { $0.properties.generalCategory == .control })
    }

    @Test(
        "Up to 100 levels of parts are read, more are refused with the identifier",
        arguments: [1, 99, 100, 101, 900, 20_000])
    func nesting(_ depth: Int) async throws {
        let refusal = try await ReadingDesk().refusal(of: Self.nested(depth))
        if depth <= 100 {
            #expect(refusal == nil)
        } else {
            #expect(refusal == MailRefusal(.nestedTooDeep(maximum: 100), callID: CallID("a@b")))
        }
    }

    static func nested(_ depth: Int) -> String {
        var text = "Call-ID: a@b\n"
        for level in 0..<depth {
            text += "Content-Type: multipart/mixed; boundary=\"b\(level)\"\n\n--b\(level)\n"
        }
        return text + "Content-Type: text/plain\n\ndeep\n"
    }

    @Test(
        "A part of a header that is repeated twenty thousand times is read or refused",
        arguments: ["g:", "(", "<", "\"", "=?utf-8?q?", "@a,", "[", "\\", "a@b,", ";", "g:\n ", "<a@b> "])
    func repetition(_ unit: String) async throws {
        let desk = try ReadingDesk()
        let value = String(repeating: unit, count: 20_000)
        for header in ["From", "to", "Reply-To", "Subject", "Content-Type", "Content-Disposition", "Message-ID"] {
            _ = try await desk.refusal(of: "Call-ID: a@b\n\(header): \(value)\n\nhi\n")
        }
        _ = try await desk.refusal(of: "Call-ID: a@b\nContent-Type: text/plain; charset=\(value)\n\nhi\n")
        _ = try await desk.refusal(
            of: "Call-ID: a@b\nContent-Type: multipart/mixed; boundary=\(value)\n\n--\(value)\nhi\n")
    }

    @Test("Groups of addresses that would use up the stack are refused with the identifier, or not read at all")
    func nestedGroups() async throws {
        let desk = try ReadingDesk()
        let groups = String(repeating: "g:", count: 20_000)
        let folded = String(repeating: "g:\r\n ", count: 20_000)
        for bomb in ["From: \(groups)", "to : \(groups)", "To:\r\n\t\(folded)"] {
            let refusal = MailRefusal(.tooIntricate, callID: CallID("a@b"))
            #expect(try await desk.refusal(of: bomb + "\nCall-ID: a@b\n\nhi\n") == refusal)
        }
        let long = String(repeating: "g", count: 10_000) + ":"
        for bomb in [
            "Reply-to : \(groups)", "X-Resent-Bcc:\(groups)", "\u{FEFF}CC: \(groups)", "To\0x: \(groups)",
            "To: " + String(repeating: long, count: 500),
        ] {
            #expect(try await desk.refusal(of: "Call-ID: a@b\n\(bomb)\n\nhi\n") == nil)
            let inside =
                "Call-ID: a@b\nContent-Type: multipart/mixed; boundary=x\n\n\(String(repeating: "x", count: 300_000))\n"
                + "--x\nContent-Type: message/rfc822\n\n\(bomb)\n\nhi\n"
            #expect(try await desk.refusal(of: inside) == nil)
        }
        let many = (1...399).map { "sip:\($0)@example.org" }.joined(separator: ", ")
        #expect(try await desk.refusal(of: "Call-ID: a@b\nTo: \(many)\n\nhi\n") == nil)
    }

    @Test(
        "A flood of headers, parts or addresses hides neither the identifier nor the text",
        arguments: [
            "X: y\n", "X:\n", "To: a@b\n", "Content-Type: text/plain; a=b\n", "Cc: a@b,\n", "X: y\n folded\n",
            "Call-ID: other\n",
        ])
    func repeatedLines(_ unit: String) async throws {
        let text = "Call-ID: a@b\n" + String(repeating: unit, count: 250_000) + "\nhi\n"
        let message = try await ReadingDesk().read(text)
        #expect(message.callID.text == "a@b")
        #expect(message.content.kind == .text && message.content.text == "hi", "\(message)")
    }

    @Test("Up to 10,000 parts are passed over until one is shown, more are refused with the identifier")
    func parts() async throws {
        func message(_ count: Int) -> String {
            "Call-ID: a@b\nContent-Type: multipart/mixed; boundary=b\n"
                + String(repeating: "\n--b\nContent-Type: a/b\n", count: count) + "\n--b\n\nhi\n"
        }
        let desk = try ReadingDesk()
        #expect(try await desk.read(message(9_999)).content.withoutDetails == .text(from: "", to: "", text: "hi"))
        #expect(try await desk.refusal(of: message(10_000)) == MailRefusal(.tooIntricate, callID: CallID("a@b")))
    }

    @Test(
        "A field is cut at 8 KiB, or at a 3,072th of the memory that there is",
        arguments: [(24 << 10, 8 << 10), (6 << 10, 2 << 10), (1, 1 << 10), (1 << 30, 64 << 10)] as [(UInt64, Int)])
    func longFields(kibibytes: UInt64, count: Int) async throws {
        let desk = try ReadingDesk(limits: MailLimits(memory: kibibytes << 10, valueByteCount: 1 << 20))
        let to = (0..<10_000).map { "n\($0)@example.org" }.joined(separator: ",\n ")
        let content = try await desk.read("Call-ID: a@b\nTo: \(to)\n\nhi\n").content
        #expect(content.kind == .text)
        #expect((count * 7 / 8...count).contains(content.recipient.utf8.count))
    }

    @Test("A text has at most a 24th of the memory that there is, and the limits are those of the documentation")
    func textOfMemory() {
        let limits = MailLimits(memory: 24 << 20, valueByteCount: 1 << 20)
        #expect(limits == MailLimits())
        #expect(limits.messageByteCount == 32 << 20 && limits.fieldByteCount == 8 << 10)
        #expect(limits.textByteCount == 1 << 20 && limits.identifierByteCount == 998)
        #expect(limits.nesting == 100 && limits.partCount == 10_000 && MailAttempts.limit == 3)
        #expect(MailLimits(memory: nil, valueByteCount: 7).textByteCount == 7)
        #expect(MailLimits(memory: 24 << 20, valueByteCount: 16 << 20).textByteCount == 1 << 20)
    }

    @Test("A message that another program cuts while it is read is read as far as it goes")
    func cutWhileRead() async throws {
        let desk = try ReadingDesk()
        let bytes = Array("Call-ID: a@b\n\nhi\n".utf8)
        let lines = try await desk.lines(of: bytes, upTo: bytes.count + 1_000_000)
        #expect(lines.map(\.start) == [0, 13, 14])
    }

    @Test("Text that only looks like headers and boundaries is text")
    func harmlessLookalikes() async throws {
        let log = (0..<20_000).map { "12:00:\($0 % 60) from: someone, to: a, b; c\n-- \n" }.joined()
        let message = try await ReadingDesk().read("Call-ID: a@b\n\n" + log)
        #expect(message.content.withoutDetails == .text(from: "", to: "", text: String(log.dropLast(2))))
    }

    @Test("Messages within messages, a hundred thousand deep, are read or refused")
    func nestedMessages() async throws {
        let messages = String(repeating: "Content-Type: message/rfc822\n\n", count: 100_000)
        _ = try await ReadingDesk().refusal(of: "Call-ID: a@b\n" + messages)
    }

    @Test("Lines are the same however a file falls into pieces", arguments: Seed.several(4))
    func linesInPieces(_ seed: Seed) async throws {
        var random = SeededRandom(seed)
        let desk = try ReadingDesk()
        for _ in 0..<10 {
            // Around the size of the buffer of 64 KiB, so that pieces begin everywhere in them.
            var expected: [(start: Int, bytes: [UInt8])] = []
            var bytes: [UInt8] = []
            while bytes.count < 400_000 {
                let count =
                    [Int.random(in: 0...100, using: &random), Int.random(in: 65_500...65_600, using: &random), 140_000]
                    .randomElement(using: &random) ?? 0
                let line = [UInt8](repeating: UInt8(ascii: "x"), count: count)
                expected.append((bytes.count, Array(line.prefix(64 << 10))))
                bytes += line + [UInt8(ascii: "\n")]
            }
            let lines = try await desk.lines(of: bytes, upTo: bytes.count)
            #expect(lines.map(\.start) == expected.map(\.start))
            #expect(lines.map(\.bytes) == expected.map(\.bytes))
        }
    }

    @Test(
        "A push is announced by the identifier under which its message is delivered or refused",
        arguments: Seed.several(2))
    func announced(_ seed: Seed) async throws {
        var random = SeededRandom(seed)
        let desk = try ReadingDesk()
        let samples =
            RealMessageTests.samples.map(\.bytes).filter { $0.count < 10_000 }
            + [
                "X-SharedCore-Kind: invitation\nX-SharedCore-Conference: sip:r@x\n\n",
                "Content-Type: application/conference-info+xml\n\n" + KindTests.document,
                "X-SharedCore-Kind: nothing\nContent-Type: Application/Conference-Info+XML\n\n" + KindTests.document,
            ].map { Array((MailSample.head + $0).utf8) }
        for round in 0..<300 {
            var bytes = try #require(samples.randomElement(using: &random))
            if round > 50 { mutate(&bytes, with: &random) }
            let delivered: String?
            do {
                delivered = try await desk.read(bytes).callID.text
            } catch let refusal as MailRefusal {
                delivered = refusal.callID?.text
            }
            let announced = try? await desk.identifier(of: bytes)
            #expect(announced == delivered)
        }
    }

    @Test("Names of character sets reach no converter unless they are plain")
    func characterSetNames() async throws {
        let desk = try ReadingDesk()
        let names = [
            "utf-8//TRANSLIT", "../../../etc/passwd", "/etc/passwd", "%s%n", "\"a b\"",
            String(repeating: "x", count: 5000),
        ]
        for name in names {
            let message = try await desk.read("Call-ID: a@b\nContent-Type: text/plain; charset=\(name)\n\nhi\n")
            #expect(message.content.withoutDetails == .text(from: "", to: "", text: "hi"))
        }
    }

    /// Returns true if this process has loaded the system's converter for a character set.
    private static func isLoaded(_ name: String) throws -> Bool {
        let file = try OpenFile(path: "/proc/self/maps", .read)
        var maps: [UInt8] = []
        while true {
            let part = try file.read(count: 64 << 10, at: maps.count)
            if part.isEmpty { return String(decoding: maps, as: UTF8.self).contains("/\(name).so") }
            maps += part
        }
    }

    @Test("Character sets of parameters, and those in headers whose names are not plain, open no converter")
    func characterSetsOfHeaders() async throws {
        let desk = try ReadingDesk()
        // No other test uses one of them.
        let (foreign, plain) = ("IBM1390", "EUC-TW")
        let parameters = [
            "name*=\(foreign)''%E9", "name=\"=?\(foreign)?q?=E9?=\"", "name*0*=\(foreign)''%E9; name*1=x",
            "name (x) * (y) = (z) \"\(foreign)''%E9\"", "boundary*=\(foreign)''%E9",
            "charset*=\(foreign)''utf-8%E9", "name=\"=\\?\(foreign)?q?=E9?=\"",
        ]
        let word = "?\(foreign)//TRANSLIT?q?=E9?="
        let words = [
            "=\(word)", "\"=\(word)\"", "\"=\\\(word)\"", "(=\(word))", "=\"\"\(word)", "x=\(word)",
            "=?utf-8?q?=\(word)?=", "=?x//?q?=\(word)",
        ]
        let headers =
            parameters.flatMap { ["Content-Type: text/plain; \($0)", "Content-Disposition: inline; \($0)"] }
            + words.flatMap { word in
                ["Subject: \(word)", "X-SharedCore-Conference: \(word)", "From: \(word) <a@b>", "To: a@b (\(word))"]
                    .map { "X-SharedCore-Kind: invitation\n" + $0 }
                    + ["Content-Disposition: \(word)", "Content-Transfer-Encoding: \(word)", "From: \(word)"]
            }
        for header in headers {
            _ = try await desk.refusal(of: "Call-ID: a@b\n\(header)\n\nhi\n")
            #expect(try !Self.isLoaded(foreign), "\(header)")
        }
        // The mapping that is looked for would be seen, where the system has converters.
        let converter = iconv_open("UTF-8", plain)
        let isThere = Int(bitPattern: converter) != -1
        #expect(try Self.isLoaded(plain) == isThere)
        if isThere { iconv_close(converter) }
    }

    @Test("Only so many words of a message's headers are converted, the others are shown as they stand")
    func manyWords() throws {
        var words = EncodedWords()
        let word = "=?koi8-r?q?=C1?= =?utf-8*ru?q?=D0=B0?= "
        let flood = Array(String(repeating: word, count: EncodedWords.convertedCount + 5).utf8)
        let left = Array(String(repeating: word.replacing("=?koi", with: "= ?koi"), count: 5).utf8)
        #expect(words.checked(flood[...]) == flood.dropLast(5 * word.utf8.count) + left)
        // Text that only looks like a word stays as it is.
        var none = EncodedWords(convertedCount: 0)
        for text in ["why=? really?", "a=?b@c, \"d=?\" e?=", "=?", "=??", "=???", "=????", "=", "", "\\=\\"] {
            let expected = text == "=????" ? "= ????" : text
            #expect(none.checked(Array(text.utf8)[...]) == Array(expected.utf8), "\(text)")
        }
    }

    @Test(
        "An invitation whose texts are characters without an end is read", .timeLimit(.minutes(10)),
        arguments: ["\u{1F1E6}", "\u{301}", "\u{200D}\u{1F468}", "&", "&#x1F1E6;", "<subject", " entity="])
    func endlessCharacters(_ unit: String) async throws {
        let long = String(repeating: unit, count: (TestScope.isCheck ? 900_000 : 200_000) / unit.utf8.count)
        let desk = try ReadingDesk()
        let head = MailSample.head + "Content-Type: application/conference-info+xml\n\n"
        for document in [
            "<conference-info entity=\"\(long)\">", "<conference-info\(long)>",
            "<conference-info><subject>\(long)</subject>",
        ] {
            // An address of that length is refused.
            _ = try await desk.refusal(of: head + document)
        }
        for text in ["From: \(long)", "To: \(long) <\(long)>"] {
            _ = try await desk.refusal(of: text + "\nCall-ID: a@b\nX-SharedCore-Kind: invitation\n\n")
        }
        let refusal = MailRefusal(.tooLarge).between(MailRefusal.People(from: long, to: "b"))
        #expect(refusal.notice.hasShortSender)
    }

    @Test("A text larger than a value is refused with the identifier, in any encoding")
    func largeTexts() async throws {
        var limits = MailLimits()
        limits.textByteCount = 1000
        let desk = try ReadingDesk(limits: limits)
        func message(_ count: Int, encoding: String = "7bit", unit: String = "x") -> String {
            "Call-ID: a@b\nContent-Type: text/plain\nContent-Transfer-Encoding: \(encoding)\n\n"
                + String(repeating: unit, count: count)
        }
        #expect(try await desk.refusal(of: message(1000)) == nil)
        #expect(try await desk.refusal(of: message(1000, encoding: "quoted-printable", unit: "=78")) == nil)
        // Line ends are one byte each when the text is measured.
        #expect(try await desk.refusal(of: message(500, unit: "x\r\n")) == nil)
        let tooLarge = MailRefusal(.tooLarge, callID: CallID("a@b"), people: .init(from: "", to: ""))
        #expect(try await desk.refusal(of: message(1001)) == tooLarge)
        #expect(try await desk.refusal(of: message(1_000_000)) == tooLarge)
        #expect(try await desk.refusal(of: message(3_000, encoding: "base64", unit: "QUJD\n")) == tooLarge)
        // A part that decodes to nothing for more than a block is not its end.
        let late = message(30_000, encoding: "base64", unit: "\n") + "aGk=\n"
        #expect(try await desk.read(late).content.withoutDetails == .text(from: "", to: "", text: "hi"))
        #expect(try await desk.refusal(of: message(1001, encoding: "quoted-printable", unit: "=78")) == tooLarge)
    }

    @Test("A file beyond the limit is not looked through, but its identifier is found")
    func largeFiles() async throws {
        var limits = MailLimits()
        limits.messageByteCount = 10_000
        let desk = try ReadingDesk(limits: limits)
        let long = MailSample.head + "\n" + String(repeating: "x", count: 10_000)
        let people = MailRefusal.People(from: "ann@example.org", to: "bob@example.org")
        #expect(
            try await desk.refusal(of: long) == MailRefusal(.tooLarge, callID: CallID("a@b"), people: people))
        let hidden = "X: \(String(repeating: "x", count: 10_000))\n" + long
        #expect(try await desk.refusal(of: hidden) == MailRefusal(.noIdentifier))
    }

    @Test("A large attachment stays on the disk")
    func largeAttachment() async throws {
        let desk = try ReadingDesk()
        let attachment = String(repeating: "QUJD", count: 19) + "\n"
        let text =
            MailSample.head + "Content-Type: multipart/mixed; boundary=a\n\n--a\n\nsee there\n--a\n"
            + "Content-Type: application/octet-stream\nContent-Transfer-Encoding: base64\n\n"
            + String(repeating: attachment, count: 300_000) + "--a--\n"
        let message = try await desk.read(text)
        #expect(
            message.content.withoutDetails == .text(from: "ann@example.org", to: "bob@example.org", text: "see there"))
    }

    @Test("Any change of any byte gives a message or a refusal, and leaks nothing", arguments: Seed.several(4))
    func byteFlips(_ seed: Seed) async throws {
        var random = SeededRandom(seed)
        let desk = try ReadingDesk()
        let samples = RealMessageTests.samples.map(\.bytes).filter { $0.count < 10_000 }
        let descriptors = OwnResources.descriptorCount
        var read = 0
        for _ in 0..<1_000 {
            var bytes = try #require(samples.randomElement(using: &random))
            for _ in 0..<Int.random(in: 1...8, using: &random) { mutate(&bytes, with: &random) }
            let refusal = try await desk.refusal(of: bytes)
            if refusal == nil { read += 1 }
        }
        // Most changes hit bytes that do not matter, so both outcomes are frequent.
        #expect(read > 100)
        #expect(read < 1_000)
        // Other tests of this process come and go meanwhile.
        #expect(OwnResources.descriptorCount < descriptors + 200)
    }

    private func mutate(_ bytes: inout [UInt8], with random: inout SeededRandom) {
        guard !bytes.isEmpty else { return }
        let place = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<6, using: &random) {
        case 0: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 1: bytes[place] = UInt8.random(in: 0...255, using: &random)
        case 2: bytes.remove(at: place)
        case 3: bytes.insert(contentsOf: random.bytes(Int.random(in: 1...16, using: &random)), at: place)
        case 4: bytes.removeSubrange(place...)
        default:
            let part = bytes[place..<min(bytes.count, place + 40)]
            bytes.insert(contentsOf: part, at: Int.random(in: 0...bytes.count, using: &random))
        }
    }
}

extension InboxMessage.Content {
    /// True for a message that is too large, with a sender that was cut to at most 256 bytes and a mark of the cut.
    fileprivate var hasShortSender: Bool {
        kind == .tooLarge && (250...259).contains(sender.utf8.count)
    }
}
