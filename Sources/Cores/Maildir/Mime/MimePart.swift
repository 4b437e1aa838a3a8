internal import Platform

/// The headers of one part of a message.
struct MimePart {
    private let object: MimeLibrary.Object
    // Keeps the object alive.
    private let message: MimeMessage

    init(object: MimeLibrary.Object, message: MimeMessage) {
        self.object = object
        self.message = message
    }

    private var library: MimeLibrary { message.library }

    /// The content type of the part without parameters, in lower case, such as `text/plain`.
    var contentType: String {
        guard let type = library.contentType(object), let media = library.mediaType(type),
            let subtype = library.mediaSubtype(type)
        else { return "text/plain" }
        return (String(cString: media) + "/" + String(cString: subtype)).lowercased()
    }

    /// The character set of its content type, in lower case; nil if it has none.
    var characterSet: String? {
        message.parameters.characterSet.map { String(decoding: $0, as: UTF8.self).lowercased() }
    }

    /// The boundary between the parts of a multipart, without white space at its end; nil if it has none.
    var boundary: [UInt8]? {
        guard var bytes = message.parameters.boundary else { return nil }
        while let last = bytes.last, MailText.isSpace(last) { bytes.removeLast() }
        return bytes.isEmpty ? nil : bytes
    }

    /// True if the sender declared the part as an attachment: to keep, not to show.
    var isAttachment: Bool {
        isLeaf && library.isAttachment(object) != 0
    }

    private var isLeaf: Bool { library.isInstance(object, library.leafType) != 0 }

    /// Reads bytes of a file as the content of this part, and decodes its transfer encoding.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of returned bytes. Only these and one block are in memory.
    ///   - characterSet: Converts from this character set to UTF-8, leaving out invalid bytes; nil leaves the bytes
    ///     unchanged.
    /// - Returns: nil if the part has no content, or the system does not know the character set.
    func decoded(
        _ range: Range<Int>, of file: OpenFile, upTo limit: Int, from characterSet: String? = nil
    ) -> [UInt8]? {
        guard isLeaf,
            let source = library.openFileStream(file.descriptor, Int64(range.lowerBound), Int64(range.upperBound))
        else { return nil }
        defer { library.release(source) }
        // The descriptor is the file's, which closes it.
        library.setFileStreamOwner(source, 0)
        guard let stream = library.makeFilterStream(source) else { return nil }
        defer { library.release(stream) }
        let encoding = library.contentEncoding(object)
        if MimeLibrary.decodedEncodings.contains(encoding) {
            guard add(library.makeDecodingFilter(encoding, 0), to: stream) else { return nil }
        }
        if let characterSet {
            guard add(library.makeCharacterSetFilter(characterSet, "utf-8"), to: stream) else { return nil }
        }
        return read(stream, upTo: limit)
    }

    private func add(_ filter: MimeLibrary.Object?, to stream: MimeLibrary.Object) -> Bool {
        guard let filter else { return false }
        defer { library.release(filter) }
        _ = library.addFilter(stream, filter)
        return true
    }

    private func read(_ stream: MimeLibrary.Object, upTo limit: Int) -> [UInt8] {
        var content: [UInt8] = []
        var block = [CChar](repeating: 0, count: 16 << 10)
        // A block that decodes to nothing is not the end.
        while content.count < limit, library.isAtEnd(stream) == 0 {
            let count = library.readStream(stream, &block, block.count)
            guard count >= 0 else { break }
            content += block[..<min(count, limit - content.count)].lazy.map { UInt8(bitPattern: $0) }
        }
        return content
    }
}
