internal import Glibc

/// One part of a message: a leaf with content, or a multipart with parts of its own.
struct MimePart {
    private let object: MimeLibrary.Object
    // Keeps the object alive.
    private let message: MimeMessage

    init(object: MimeLibrary.Object, message: MimeMessage) {
        self.object = object
        self.message = message
    }

    private var library: MimeLibrary { message.library }

    /// Its content type without parameters, in lower case, such as `text/plain`.
    var contentType: String {
        guard let type = library.contentType(object), let media = library.mediaType(type),
            let subtype = library.mediaSubtype(type)
        else { return "text/plain" }
        return (String(cString: media) + "/" + String(cString: subtype)).lowercased()
    }

    /// The character set that its content type names, in lower case; nil when it names none.
    var characterSet: String? {
        guard let type = library.contentType(object), let name = library.contentTypeParameter(type, "charset") else {
            return nil
        }
        return String(cString: name).lowercased()
    }

    /// Whether its sender declared it as something to keep, not to show.
    var isAttachment: Bool {
        isLeaf && library.isAttachment(object) != 0
    }

    /// The parts of a multipart, in their order; none for a leaf.
    var parts: [MimePart] {
        guard library.isInstance(object, library.multipartType) != 0 else { return [] }
        return (0..<library.partCount(object)).compactMap { index in
            library.part(object, index).map { MimePart(object: $0, message: message) }
        }
    }

    /// How many bytes its content has as it stands in the file; zero for a multipart.
    var encodedByteCount: Int {
        guard let content, let stream = library.encodedContent(content) else { return 0 }
        return Int(max(0, library.streamLength(stream)))
    }

    /// Its content with the transfer encoding taken off.
    ///
    /// - Parameter characterSet: Converts from this character set to UTF-8, leaving out what is invalid in it; nil leaves
    ///   the bytes alone.
    /// - Returns: nil for a part without content, and for a character set that the system does not know.
    func decodedContent(from characterSet: String? = nil) -> [UInt8]? {
        guard let content, let memory = library.makeMemoryStream() else { return nil }
        defer { library.release(memory) }
        if let characterSet {
            guard let filtered = library.makeFilterStream(memory) else { return nil }
            defer { library.release(filtered) }
            guard let filter = library.makeCharacterSetFilter(characterSet, "utf-8") else { return nil }
            defer { library.release(filter) }
            _ = library.addFilter(filtered, filter)
            _ = library.writeDecodedContent(content, filtered)
            _ = library.flushStream(filtered)
        } else {
            _ = library.writeDecodedContent(content, memory)
        }
        return bytes(of: memory)
    }

    private var isLeaf: Bool { library.isInstance(object, library.leafType) != 0 }

    private var content: MimeLibrary.Object? {
        isLeaf ? library.content(object) : nil
    }

    private func bytes(of stream: MimeLibrary.Object) -> [UInt8]? {
        let count = Int(library.streamLength(stream))
        guard count >= 0, library.rewindStream(stream) == 0 else { return nil }
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            buffer.withMemoryRebound(to: CChar.self) { buffer in
                guard let base = buffer.baseAddress else { return }
                initialized = max(0, library.readStream(stream, base, count))
            }
        }
    }
}
