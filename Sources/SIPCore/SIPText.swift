#if SIP
    internal import CSIPStack
    internal import Coordination

    /// The conversion of a SIP message to a message of the inbox.
    enum SIPText {
        /// Copies text of C; empty for NULL.
        static func of(_ text: UnsafePointer<CChar>?) -> String { text.map { String(cString: $0) } ?? "" }

        /// Returns the Call-ID and the CSeq of the sender; nil for an empty Call-ID. A server that stores messages sends them later
        /// under new ones, and repeats those of the sender in `X-Original-Call-ID` and `X-Original-CSeq`.
        static func identity(of message: sip_message) -> MessageID? {
            if let original = message.original_call_id, let callID = CallID(of(original)) {
                let digits = of(message.original_cseq).prefix { $0.isASCII && $0.isNumber }
                return MessageID(callID, sequence: String(digits)) ?? MessageID(callID)
            }
            return CallID(of(message.call_id)).flatMap { MessageID($0, sequence: String(message.cseq)) }
        }

        /// Returns the last lines that have together at most `limit` bytes. Each line ends with a newline.
        static func lines(_ text: String, upTo limit: Int) -> String {
            var lines = text.split(separator: "\n")[...]
            var size = lines.reduce(0) { $0 + $1.utf8.count + 1 }
            while size > limit, let first = lines.popFirst() { size -= first.utf8.count + 1 }
            return lines.map { $0 + "\n" }.joined()
        }

        /// Returns the content for the inbox: nothing to show for a report, and nil for a type that is neither text nor a report,
        /// and for a text that is compressed (RFC 3261, section 8.2.3).
        static func content(of message: sip_message, type: String) -> InboxMessage.Content? {
            let type = type.lowercased()
            // Delivery reports (RFC 5438) and “is typing” (RFC 3994).
            if type == "message/imdn+xml" || type == "application/im-iscomposing+xml" { return .nothingToShow }
            guard type.hasPrefix("text/"), message.encoding == nil else { return nil }
            let bytes = UnsafeRawBufferPointer(start: message.body, count: message.body == nil ? 0 : message.length)
            var content = InboxMessage.Content.text(
                from: of(message.from), to: of(message.to), text: String(decoding: bytes, as: UTF8.self))
            content.contentType = InboxMessage.Content.isLine(type, upTo: 256) ? type : nil
            return content
        }
    }

    /// Copies of texts for one call in C. One of them is a password, so ``free()`` overwrites them.
    struct SIPTexts {
        private let buffers: [UnsafeMutableBufferPointer<CChar>?]

        init(_ texts: [String?]) {
            buffers = texts.map { text in
                guard let text else { return nil }
                let bytes = text.utf8.map { CChar(bitPattern: $0) } + [0]
                let buffer = UnsafeMutableBufferPointer<CChar>.allocate(capacity: bytes.count)
                _ = buffer.initialize(from: bytes)
                return buffer
            }
        }

        subscript(index: Int) -> UnsafePointer<CChar>? {
            buffers[index]?.baseAddress.map { UnsafePointer($0) }
        }

        func free() {
            for case let buffer? in buffers {
                sip_erase(buffer.baseAddress, buffer.count)
                buffer.deallocate()
            }
        }
    }
#endif
