/// A message that consists of headers only, as parsed by the library.
///
/// It belongs to the thread that made it.
final class MimeMessage {
    let library: MimeLibrary
    /// The parameters of its content.
    let parameters: ContentParameters
    private let object: MimeLibrary.Object

    /// Reads headers. Their cost is bounded by their number and size, which a ``MailHead`` keeps small.
    ///
    /// - Returns: nil if the library cannot parse them.
    init?(_ head: MailHead, library: MimeLibrary) {
        let bytes = head.checked + [UInt8(ascii: "\n")]
        // The stream has its own copy of the bytes.
        let stream = bytes.withUnsafeBufferPointer { buffer in
            buffer.withMemoryRebound(to: CChar.self) { buffer in
                buffer.baseAddress.flatMap { library.makeBufferStream($0, buffer.count) }
            }
        }
        guard let stream else { return nil }
        defer { library.release(stream) }
        guard let parser = library.makeParser(stream) else { return nil }
        defer { library.release(parser) }
        guard let object = library.parseMessage(parser, nil) else { return nil }
        self.library = library
        parameters = head.parameters
        self.object = object
    }

    deinit {
        library.release(object)
    }

    /// The part that the headers describe; nil if they describe none.
    var root: MimePart? {
        library.rootPart(object).map { MimePart(object: $0, message: self) }
    }

    /// The mailboxes of the From header, with decoded names; nil if there are none.
    var sender: String? {
        addresses(library.sender(object))
    }

    /// The mailboxes of the To header, with decoded names; nil if there are none.
    var recipient: String? {
        addresses(library.recipient(object))
    }

    /// The time of the Date header, since 1970; nil if there is none that can be read.
    var time: Duration? {
        library.date(object).map { .seconds(library.unixTime($0)) }
    }

    /// Returns the first header of that name, unfolded, with its encoded words decoded (RFC 2047).
    func decodedHeader(_ name: String) -> String? {
        guard let list = library.headerList(object), let header = library.header(list, name),
            let text = library.rawHeaderValue(header)
        else { return nil }
        return library.take(library.decodeHeaderText(nil, text))
    }

    private func addresses(_ list: MimeLibrary.Object?) -> String? {
        guard let list, library.addressCount(list) > 0 else { return nil }
        return library.take(library.addressText(list, nil, 0))
    }
}
