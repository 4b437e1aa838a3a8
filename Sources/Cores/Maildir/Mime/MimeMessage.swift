internal import Glibc
internal import Platform

/// A message that the library has read from a file. Its parts stay in the file until they are asked for, so a large
/// attachment costs no memory.
///
/// It belongs to the thread that made it.
final class MimeMessage {
    let library: MimeLibrary
    private let file: OpenFile
    private let object: MimeLibrary.Object

    /// Reads the structure of a message from the first `byteCount` bytes of a file.
    ///
    /// - Returns: nil when there is nothing like a message.
    init?(_ file: OpenFile, byteCount: Int, library: MimeLibrary) {
        guard let stream = library.openFileStream(file.descriptor, 0, Int64(byteCount)) else { return nil }
        defer { library.release(stream) }
        // The descriptor is the file's, which closes it.
        library.setFileStreamOwner(stream, 0)
        guard let parser = library.makeParser(stream) else { return nil }
        defer { library.release(parser) }
        guard let object = library.parseMessage(parser, nil) else { return nil }
        self.library = library
        self.file = file
        self.object = object
    }

    deinit {
        library.release(object)
    }

    /// The outermost part; nil for a message without any.
    var root: MimePart? {
        library.rootPart(object).map { MimePart(object: $0, message: self) }
    }

    /// The mailboxes of the From header, names decoded; nil when there are none.
    var sender: String? {
        addresses(library.sender(object))
    }

    /// The mailboxes of the To header, names decoded; nil when there are none.
    var recipient: String? {
        addresses(library.recipient(object))
    }

    /// The bytes of the first header of that name as they stand in the file, folds included.
    func rawHeader(_ name: String) -> [UInt8]? {
        withRawHeader(name) { text in Array(UnsafeRawBufferPointer(start: text, count: strlen(text))) }
    }

    /// The first header of that name, unfolded, with its encoded words decoded (RFC 2047).
    func decodedHeader(_ name: String) -> String? {
        withRawHeader(name) { text in library.take(library.decodeHeaderText(nil, text)) } ?? nil
    }

    private func withRawHeader<Value>(_ name: String, _ body: (MimeLibrary.Text) -> Value) -> Value? {
        guard let list = library.headerList(object), let header = library.header(list, name),
            let text = library.rawHeaderValue(header)
        else { return nil }
        return body(text)
    }

    private func addresses(_ list: MimeLibrary.Object?) -> String? {
        guard let list, library.addressCount(list) > 0 else { return nil }
        return library.take(library.addressText(list, nil, 0))
    }
}
