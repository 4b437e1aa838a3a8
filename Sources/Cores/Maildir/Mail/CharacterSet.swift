/// What is known of the character set of a part, and what to make of the bytes then.
enum CharacterSet: Hashable, Sendable {
    /// Unicode; what is invalid in it is repaired later.
    case unicode
    /// Named, and to be converted.
    case named(String)
    /// Not named, or named so that it says nothing.
    case unknown

    /// - Parameter name: The name in the content type, in lower case.
    init(_ name: String?) {
        switch name {
        case "utf-8", "utf8":
            self = .unicode
        case nil, "us-ascii", "ascii", "ansi_x3.4-1968", "unknown-8bit", "x-unknown":
            self = .unknown
        // As browsers and mail programs do (WHATWG Encoding): what is sent under these names often has the quotation
        // marks and dashes that only Windows' set holds, at places where theirs has nothing to show.
        case "iso-8859-1", "iso8859-1", "iso_8859-1", "latin1":
            self = .named("windows-1252")
        case let name?:
            self = Self.isName(name) ? .named(name) : .unknown
        }
    }

    /// The content in UTF-8; nil when it has none.
    func decode(_ content: MailContent) -> [UInt8]? {
        switch self {
        case .unicode:
            return content.decoded()
        case .named(let name):
            return content.decoded(from: name) ?? Self.unknown.decode(content)
        case .unknown:
            guard let bytes = content.decoded() else { return nil }
            if String(validating: bytes, as: UTF8.self) != nil { return bytes }
            return content.decoded(from: "windows-1252") ?? bytes
        }
    }

    /// Converters take options and paths in the same text as the name: only a plain name goes to them.
    private static func isName(_ name: String) -> Bool {
        (1...40).contains(name.utf8.count)
            && name.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte) || "-_.:+".utf8.contains(byte)
            }
    }
}
