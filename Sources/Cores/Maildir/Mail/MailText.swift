/// How decoded bytes become the text that a person reads.
enum MailText {
    /// A text of lines: every kind of line end is a line feed, invalid UTF-8 is repaired, and NUL, a byte order mark
    /// and white space at the end are dropped.
    static func lines(_ bytes: [UInt8]) -> String {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var previous: UInt8 = 0
        for byte in bytes {
            switch byte {
            case 0: break
            case lineFeed where previous == carriageReturn: break
            case carriageReturn: result.append(lineFeed)
            default: result.append(byte)
            }
            previous = byte
        }
        while let last = result.last, isSpace(last) { result.removeLast() }
        return String(decoding: result.trimmingPrefix([0xEF, 0xBB, 0xBF]), as: UTF8.self)
    }

    /// A text of one line: each run of white space and control characters is one space, and none is at either end.
    static func line(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        var space = false
        for scalar in text.unicodeScalars {
            if scalar.properties.generalCategory == .control || scalar == " " {
                space = true
                continue
            }
            if space, !result.isEmpty { result.append(" ") }
            space = false
            result.append(scalar)
        }
        return String(result)
    }

    static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || (0x09...0x0D).contains(byte)
    }

    private static let lineFeed = UInt8(ascii: "\n")
    private static let carriageReturn = UInt8(ascii: "\r")
}

/// The character references of XML and HTML that are met in messages.
enum MarkupEntities {
    private static let names: [Substring: Unicode.Scalar] = [
        "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'", "nbsp": " ", "hellip": "…", "ndash": "–",
        "mdash": "—", "lsquo": "‘", "rsquo": "’", "ldquo": "“", "rdquo": "”", "euro": "€", "copy": "©", "reg": "®",
        "auml": "ä", "ouml": "ö", "uuml": "ü", "Auml": "Ä", "Ouml": "Ö", "Uuml": "Ü", "szlig": "ß", "eacute": "é",
        "egrave": "è", "agrave": "à", "ccedil": "ç",
    ]

    /// Replaces the references in a text. An unknown one stays as it is.
    static func decode(_ text: Substring) -> String {
        guard text.utf8.contains(UInt8(ascii: "&")) else { return String(text) }
        var result = ""
        var rest = text
        while let ampersand = rest.firstIndex(of: "&") {
            result += rest[..<ampersand]
            rest = rest[ampersand...]
            // Bounded, so that a text of ampersands is not searched to its end for each.
            let reference = rest.dropFirst().prefix(10).prefix { $0 != ";" }
            if reference.endIndex < rest.endIndex, rest[reference.endIndex] == ";", let scalar = scalar(reference) {
                result.unicodeScalars.append(scalar)
                rest = rest[rest.index(after: reference.endIndex)...]
            } else {
                result += "&"
                rest = rest.dropFirst()
            }
        }
        return result + rest
    }

    private static func scalar(_ reference: Substring) -> Unicode.Scalar? {
        guard reference.first == "#" else { return names[reference] }
        let digits = reference.dropFirst()
        let isHexadecimal = digits.first == "x" || digits.first == "X"
        let number = isHexadecimal ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
        return number.flatMap(Unicode.Scalar.init)
    }
}

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
