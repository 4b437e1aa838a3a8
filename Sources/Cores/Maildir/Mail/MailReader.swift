internal import Coordination
internal import Platform

/// Reads a file as a message, with everything decoded for people.
struct MailReader: Sendable {
    let library: MimeLibrary
    var limits: MailLimits

    /// Reads a message.
    ///
    /// - Throws: What makes the file no message that can be delivered. Nothing that stands in a file is any other error.
    func read(_ file: OpenFile, byteCount: Int) throws(MailRefusal) -> InboxMessage {
        guard byteCount > 0 else { throw MailRefusal(.empty) }
        guard byteCount <= limits.messageByteCount else {
            throw try refusal(.tooLarge, atHeadOf: file)
        }
        guard try passesScreen(file, byteCount: byteCount) else { throw try refusal(.tooIntricate, atHeadOf: file) }
        guard let message = MimeMessage(file, byteCount: byteCount, library: library) else {
            throw MailRefusal(.noMessage)
        }
        guard let callID = try identifier(of: message) else { throw MailRefusal(.noIdentifier) }
        do throws(MailRefusal) {
            return try read(message, callID: callID)
        } catch {
            throw error.between(people(of: message))
        }
    }

    private func read(_ message: MimeMessage, callID: CallID) throws(MailRefusal) -> InboxMessage {
        let root = message.root
        let declared = message.decodedHeader("X-SharedCore-Kind").map(MailText.line).flatMap(MailKind.init)
        switch declared ?? MailKind(contentType: root?.contentType ?? "text/plain") {
        case .nothingToShow:
            return InboxMessage(callID: callID, content: .nothingToShow)
        case .invitation:
            return try invitation(message, root: root, callID: callID)
        case .text:
            let content = InboxMessage.Content.text(
                from: sender(of: message), to: recipient(of: message), text: try text(of: root, callID: callID))
            return InboxMessage(callID: callID, content: content)
        }
    }

    private func passesScreen(_ file: OpenFile, byteCount: Int) throws(MailRefusal) -> Bool {
        try reading { () throws(SystemCallError) in try MailScreen.passes(file, byteCount: byteCount) }
    }

    /// The refusal of a message of which no more than the headers is read.
    private func refusal(
        _ reason: MailRefusal.Reason, atHeadOf file: OpenFile
    ) throws(MailRefusal) -> MailRefusal {
        let byteCount = try reading { () throws(SystemCallError) in
            try MailHead.byteCount(of: file, limit: limits.headerByteCount)
        }
        guard try passesScreen(file, byteCount: byteCount),
            let head = MimeMessage(file, byteCount: byteCount, library: library),
            let callID = try identifier(of: head)
        else { return MailRefusal(reason) }
        return MailRefusal(reason, callID: callID).between(people(of: head))
    }

    private func people(of message: MimeMessage) -> MailRefusal.People {
        MailRefusal.People(from: sender(of: message), to: recipient(of: message))
    }

    private func reading<Value>(_ body: () throws(SystemCallError) -> Value) throws(MailRefusal) -> Value {
        do throws(SystemCallError) {
            return try body()
        } catch {
            throw MailRefusal(.unreadable(error.text))
        }
    }

    private func identifier(of message: MimeMessage) throws(MailRefusal) -> CallID? {
        let callID =
            message.rawHeader("Call-ID").flatMap(MailIdentifier.callID)
            ?? message.rawHeader("Message-ID").flatMap(MailIdentifier.messageID)
        try callID.map { callID throws(MailRefusal) in try require(callID, markedBy: nil) }
        return callID
    }

    /// Requires that an identifier is short enough.
    ///
    /// - Parameter other: The identifier under which whoever waits is answered when it is not.
    private func require(_ callID: CallID, markedBy other: CallID?) throws(MailRefusal) {
        guard callID.text.utf8.count <= limits.identifierByteCount else {
            throw MailRefusal(.identifierTooLong(maximum: limits.identifierByteCount), callID: other)
        }
    }

    private func sender(of message: MimeMessage) -> String {
        addresses(message.sender, orHeader: "From", of: message)
    }

    private func recipient(of message: MimeMessage) -> String {
        addresses(message.recipient, orHeader: "To", of: message)
    }

    /// The mailboxes as the library gives them, or, where it finds none or the header holds an address of SIP, which is
    /// no mailbox of RFC 5322, the header's text.
    private func addresses(_ mailboxes: String?, orHeader name: String, of message: MimeMessage) -> String {
        let header = MailText.line(message.decodedHeader(name) ?? "")
        guard let mailboxes, !MailAddress.isURI(header) else { return header }
        return MailText.line(mailboxes)
    }

    private func invitation(
        _ message: MimeMessage, root: MimePart?, callID: CallID
    ) throws(MailRefusal) -> InboxMessage {
        let document = try root.flatMap { root throws(MailRefusal) in
            try firstLeaf(of: root, callID: callID) { $0.contentType == ConferenceInformation.contentType }
        }
        let conference = try document.map { part throws(MailRefusal) in
            ConferenceInformation(document: try decodedText(of: part, callID: callID))
        }
        let address = message.decodedHeader("X-SharedCore-Conference").map(MailText.line) ?? conference?.address
        let subject = message.decodedHeader("Subject").map(MailText.line) ?? conference?.subject ?? ""
        let name = address.flatMap(CallID.init) ?? callID
        try require(name, markedBy: callID)
        return InboxMessage(
            callID: name,
            content: .invitation(
                from: sender(of: message), subject: subject, localAddress: MailAddress.bare(recipient(of: message))))
    }

    /// The text that a message shows: its plain text, else the text of its HTML, else nothing.
    private func text(of root: MimePart?, callID: CallID) throws(MailRefusal) -> String {
        guard let root, let part = try shownPart(of: root, depth: 0, callID: callID) else { return "" }
        let text = try decodedText(of: part, callID: callID)
        return part.contentType == "text/html" ? MarkupText.plain(text) : text
    }

    /// The part to show: the plainest one of alternatives, the first one of anything else.
    private func shownPart(of part: MimePart, depth: Int, callID: CallID) throws(MailRefusal) -> MimePart? {
        guard depth <= limits.nesting else {
            throw MailRefusal(.nestedTooDeep(maximum: limits.nesting), callID: callID)
        }
        let type = part.contentType
        if type.hasPrefix("text/") { return part.isAttachment ? nil : part }
        var found: MimePart?
        for inner in part.parts {
            guard let shown = try shownPart(of: inner, depth: depth + 1, callID: callID) else { continue }
            if type != "multipart/alternative" || shown.contentType == "text/plain" { return shown }
            found = found ?? shown
        }
        return found
    }

    private func firstLeaf(
        of part: MimePart, depth: Int = 0, callID: CallID, where isWanted: (MimePart) -> Bool
    ) throws(MailRefusal) -> MimePart? {
        guard depth <= limits.nesting else {
            throw MailRefusal(.nestedTooDeep(maximum: limits.nesting), callID: callID)
        }
        if isWanted(part) { return part }
        for inner in part.parts {
            if let leaf = try firstLeaf(of: inner, depth: depth + 1, callID: callID, where: isWanted) { return leaf }
        }
        return nil
    }

    private func decodedText(of part: MimePart, callID: CallID) throws(MailRefusal) -> String {
        guard part.encodedByteCount <= limits.encodedTextByteCount else { throw MailRefusal(.tooLarge, callID: callID) }
        let text = MailText.lines(CharacterSet(part.characterSet).decode(part) ?? [])
        guard text.utf8.count <= limits.textByteCount else { throw MailRefusal(.tooLarge, callID: callID) }
        return text
    }
}
