internal import Coordination
internal import Testing

@testable internal import MaildirCore

@Suite("C11, C12: what a message is for decides what is delivered")
struct KindTests {
    @Test(
        "C11: a kind without anything to show is delivered as such",
        arguments: [
            "X-SharedCore-Kind: nothing\n\nhidden\n",
            "x-sharedcore-kind:  NOTHING \n\nhidden\n",
            "Content-Type: multipart/report; report-type=delivery-status; boundary=r\n\n--r\n\nYour message was "
                + "delivered.\n--r\nContent-Type: message/delivery-status\n\nAction: delivered\n--r--\n",
            "Content-Type: message/disposition-notification\n\nDisposition: displayed\n",
            "Content-Type: message/imdn+xml\n\n<imdn/>\n",
            "Content-Type: application/im-iscomposing+xml\n\n<isComposing/>\n",
        ])
    func nothingToShow(_ rest: String) async throws {
        let message = try await ReadingDesk().read(MailSample.head + rest)
        #expect(message == InboxMessage(callID: try #require(CallID("a@b")), content: .nothingToShow))
    }

    @Test("The kind that a message names takes precedence over its content type")
    func declaredKindWins() async throws {
        let report = "X-SharedCore-Kind: text\nContent-Type: multipart/report; boundary=r\n\n--r\n\nshown\n--r--\n"
        let message = try await ReadingDesk().read(MailSample.head + report)
        #expect(message.content.withoutDetails == .text(from: "ann@example.org", to: "bob@example.org", text: "shown"))
    }

    @Test("A kind that is unknown is no kind")
    func unknownKind() async throws {
        let message = try await ReadingDesk().read(MailSample.head + "X-SharedCore-Kind: surprise\n\nshown\n")
        #expect(message.content.withoutDetails == .text(from: "ann@example.org", to: "bob@example.org", text: "shown"))
    }

    static let document = """
        <?xml version="1.0"?>
        <conference-info xmlns="urn:ietf:params:xml:ns:conference-info" entity="sip:room-1@conf.example.org;a=1&amp;b">
        <conference-description><subject>Tea &amp; cake</subject></conference-description></conference-info>
        """

    @Test("C12: an invitation is found by its conference's address and carries inviter, subject and local address")
    func invitation() async throws {
        let message = try await ReadingDesk().read(
            "From: Ann <sip:ann@example.org>\nTo: Bob <sip:bob@example.org>\nCall-ID: a@b\n"
                + "Subject: =?utf-8?q?Caf=C3=A9?=\nContent-Type: application/conference-info+xml\n\n" + Self.document)
        #expect(message.callID.text == "sip:room-1@conf.example.org;a=1&b")
        #expect(
            message.content.withoutDetails
                == .invitation(
                    from: "Ann <sip:ann@example.org>", subject: "Café", localAddress: "sip:bob@example.org"))
    }

    @Test("C12: an invitation without a Subject header has the document's subject")
    func invitationWithSubjectInside() async throws {
        let message = try await ReadingDesk().read(
            MailSample.head + "Content-Type: application/conference-info+xml\n\n" + Self.document)
        #expect(
            message.content.withoutDetails
                == .invitation(from: "ann@example.org", subject: "Tea & cake", localAddress: "bob@example.org"))
    }

    @Test("C12: headers alone make an invitation too")
    func invitationByHeaders() async throws {
        let message = try await ReadingDesk().read(
            MailSample.head + "X-SharedCore-Kind: invitation\nX-SharedCore-Conference: sip:room@x\nSubject: Tea\n\n")
        #expect(message.callID.text == "sip:room@x")
        #expect(
            message.content.withoutDetails
                == .invitation(from: "ann@example.org", subject: "Tea", localAddress: "bob@example.org"))
    }

    @Test("E2, C12: a conference's address has up to 998 bytes, as any identifier")
    func longAddress() async throws {
        let desk = try ReadingDesk()
        let head = MailSample.head + "X-SharedCore-Kind: invitation\nX-SharedCore-Conference: "
        let longest = "sip:" + String(repeating: "r", count: 994)
        #expect(try await desk.read(head + longest + "\n\n").callID.text == longest)
        let refusal = try await desk.refusal(of: head + longest + "r\n\n")
        #expect(refusal?.reason == .identifierTooLong(maximum: 998))
        #expect(refusal?.callID?.text == "a@b", "whoever waits for the message itself is answered")
    }

    @Test("C12: an invitation that names no conference keeps its message's identifier")
    func invitationWithoutAddress() async throws {
        let message = try await ReadingDesk().read(
            MailSample.head + "Content-Type: application/conference-info+xml\n\n<conference-info>\n")
        #expect(message.callID.text == "a@b")
        #expect(
            message.content.withoutDetails
                == .invitation(from: "ann@example.org", subject: "", localAddress: "bob@example.org"))
    }

    @Test(
        "C20: a text has the time of its Date header and the content type of the part that is shown, where it has them")
    func details() async throws {
        let desk = try ReadingDesk()
        let page = try await desk.read(
            MailSample.head + "Date: Tue, 14 Nov 2023 23:13:20 +0100\nContent-Type: multipart/mixed; boundary=b\n\n"
                + "--b\nContent-Type: application/pdf\n\nx\n--b\nContent-Type: Text/HTML; charset=utf-8\n\n<p>Tea\n--b--\n"
        )
        #expect(page.content.text == "Tea")
        #expect(page.content.time == .seconds(1_700_000_000))
        #expect(page.content.contentType == "text/html")
        let plain = try await desk.read(MailSample.head + "\nTea\n")
        #expect(plain.content.time == nil && plain.content.contentType == nil)
        #expect(try await desk.read(MailSample.head + "Date: at noon\n\nTea\n").content.time == nil)
        // A content type that is too long for the inbox does not prevent the delivery.
        let long = "text/" + String(repeating: "x", count: 300)
        let message = try await desk.read(MailSample.head + "Content-Type: \(long)\n\nTea\n")
        #expect(message.content.text == "Tea" && message.content.contentType == nil)
    }

    @Test("C12, C20: an invitation has its inviter, its time and its content type")
    func invitationDetails() async throws {
        let message = try await ReadingDesk().read(
            MailSample.head + "Date: 14 Nov 2023 22:13:20 GMT\nContent-Type: application/conference-info+xml\n\n"
                + Self.document)
        #expect(message.content.kind == .invitation && message.content.sender == "ann@example.org")
        #expect(message.content.time == .seconds(1_700_000_000))
        #expect(message.content.contentType == "application/conference-info+xml")
    }
}
