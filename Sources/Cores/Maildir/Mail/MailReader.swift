internal import Coordination
internal import Platform

/// Reads a file as a message, and decodes its texts for users.
struct MailReader: Sendable {
    let library: MimeLibrary
    var limits: MailLimits

    /// Reads a message.
    ///
    /// - Throws: The reason why the file is no message that can be delivered. No content of a file causes any other
    ///   error.
    func read(_ file: OpenFile, byteCount: Int) throws(MailRefusal) -> InboxMessage {
        var contents = MailContents(file, byteCount: byteCount, library: library, limits: limits)
        let head = try head(of: &contents, byteCount: byteCount)
        let callID = try identifier(in: head)
        guard head.isReadable else { throw MailRefusal(.tooIntricate, callID: callID) }
        guard let message = MimeMessage(head, library: library) else { throw MailRefusal(.noMessage, callID: callID) }
        do throws(MailRefusal) {
            guard byteCount <= limits.messageByteCount else { throw MailRefusal(.tooLarge) }
            return try read(message, head, &contents, callID: callID)
        } catch {
            throw MailRefusal(error.reason, callID: error.callID ?? callID).between(people(of: message))
        }
    }

    /// Reads the identifier of a message, and no more of the file than necessary.
    ///
    /// - Throws: The reason why it has no identifier.
    func identifier(of file: OpenFile, byteCount: Int) throws(MailRefusal) -> CallID {
        var contents = MailContents(file, byteCount: byteCount, library: library, limits: limits)
        let head = try head(of: &contents, byteCount: byteCount)
        let callID = try identifier(in: head)
        guard !head.isPlain else { return callID }
        do throws(MailRefusal) {
            return try read(file, byteCount: byteCount).callID
        } catch {
            return error.callID ?? callID
        }
    }

    /// Returns the refusal of a message that must not be read: with the identifier that its headers show without GMime.
    func refusal(_ reason: MailRefusal.Reason, of file: OpenFile, byteCount: Int) -> MailRefusal {
        var contents = MailContents(file, byteCount: byteCount, library: library, limits: limits)
        return MailRefusal(
            reason, callID: (try? head(of: &contents, byteCount: byteCount)).flatMap { try? identifier(in: $0) })
    }

    private func head(of contents: inout MailContents, byteCount: Int) throws(MailRefusal) -> MailHead {
        guard byteCount > 0 else { throw MailRefusal(.empty) }
        let head = try contents.readHead(keeping: MailHead.ofMessages)
        guard !head.isForeign else { throw MailRefusal(.noMessage) }
        return head
    }

    private func identifier(in head: MailHead) throws(MailRefusal) -> CallID {
        guard let callID = head.identifier else { throw MailRefusal(.noIdentifier) }
        try require(callID)
        return callID
    }

    private func read(
        _ message: MimeMessage, _ head: MailHead, _ contents: inout MailContents, callID: CallID
    ) throws(MailRefusal) -> InboxMessage {
        let declared = message.decodedHeader("X-SharedCore-Kind").map(MailText.line).flatMap(MailKind.init)
        switch declared ?? MailKind(contentType: message.root?.contentType ?? "text/plain") {
        case .nothingToShow:
            return InboxMessage(callID: callID, content: .nothingToShow)
        case .invitation:
            let document = try contents.find(.document(ConferenceInformation.contentType), under: head)
            return try invitation(message, document: document, callID: callID)
        case .text:
            let shown = try contents.find(.text, under: head)
            var content = InboxMessage.Content.text(
                from: sender(of: message), to: recipient(of: message), text: try text(of: shown))
            content.time = message.time
            content.contentType = shown?.namedType
            return InboxMessage(callID: callID, content: content)
        }
    }

    private func people(of message: MimeMessage) -> MailRefusal.People {
        MailRefusal.People(from: sender(of: message), to: recipient(of: message), time: message.time)
    }

    private func require(_ callID: CallID) throws(MailRefusal) {
        // No valid identifier has control characters (RFC 3261, 25.1; RFC 5322, 3.6.4), and no push can announce one
        // that has: no Executor would wait for it.
        guard !callID.text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
            throw MailRefusal(.refusedIdentifier("it has control characters"))
        }
        guard callID.text.utf8.count <= limits.identifierByteCount else {
            throw MailRefusal(.identifierTooLong(maximum: limits.identifierByteCount))
        }
    }

    private func sender(of message: MimeMessage) -> String {
        addresses(message.sender, orHeader: "From", of: message)
    }

    private func recipient(of message: MimeMessage) -> String {
        addresses(message.recipient, orHeader: "To", of: message)
    }

    /// Returns the mailboxes that the library parsed. If it found none, or the header has a SIP address, which is not a
    /// mailbox of RFC 5322, returns the header's text.
    private func addresses(_ mailboxes: String?, orHeader name: String, of message: MimeMessage) -> String {
        let header = MailText.line(message.decodedHeader(name) ?? "")
        guard let mailboxes, !MailAddress.isURI(header) else { return header }
        return MailText.line(mailboxes)
    }

    private func invitation(
        _ message: MimeMessage, document: MailContent?, callID: CallID
    ) throws(MailRefusal) -> InboxMessage {
        let conference = try document.map { content throws(MailRefusal) in
            ConferenceInformation(document: try decodedText(of: content))
        }
        let address = message.decodedHeader("X-SharedCore-Conference").map(MailText.line) ?? conference?.address
        let subject = message.decodedHeader("Subject").map(MailText.line) ?? conference?.subject ?? ""
        let name = address.flatMap(CallID.init) ?? callID
        try require(name)
        var content = InboxMessage.Content.invitation(
            from: sender(of: message), subject: subject, localAddress: MailAddress.bare(recipient(of: message)))
        content.time = message.time
        content.contentType = document?.namedType
        return InboxMessage(callID: name, content: content)
    }

    /// Returns the text to show: the plain text, else the text of the HTML, else an empty text.
    private func text(of content: MailContent?) throws(MailRefusal) -> String {
        guard let content else { return "" }
        let text = try decodedText(of: content)
        return content.part.contentType == "text/html" ? MarkupText.plain(text) : text
    }

    private func decodedText(of content: MailContent) throws(MailRefusal) -> String {
        let bytes = CharacterSet(content.part.characterSet).decode(content) ?? []
        guard bytes.count <= content.limit else { throw MailRefusal(.tooLarge) }
        let text = MailText.lines(bytes)
        guard text.utf8.count <= limits.textByteCount else { throw MailRefusal(.tooLarge) }
        return text
    }
}

extension MailContent {
    /// The content type of the mail, if a header names a valid one for a message.
    fileprivate var namedType: String? {
        let type = part.contentType
        let isUsable = InboxMessage.Content.isLine(type, upTo: InboxMessage.Content.maximumLineByteCount)
        return isTyped && isUsable ? type : nil
    }
}
