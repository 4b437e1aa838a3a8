/// How decoded bytes become the text that a person reads.
enum MailText {
    /// Returns a text of lines: every kind of line end is a line feed, invalid UTF-8 is repaired, and NUL, a byte order
    /// mark and white space at the end are dropped.
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

    /// Returns a text as one line: each run of white space and control characters becomes one space, and is removed at
    /// both ends.
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
    private static let names: [String: Unicode.Scalar] = [
        "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'", "nbsp": " ", "hellip": "…", "ndash": "–",
        "mdash": "—", "lsquo": "‘", "rsquo": "’", "ldquo": "“", "rdquo": "”", "euro": "€", "copy": "©", "reg": "®",
        "auml": "ä", "ouml": "ö", "uuml": "ü", "Auml": "Ä", "Ouml": "Ö", "Uuml": "Ü", "szlig": "ß", "eacute": "é",
        "egrave": "è", "agrave": "à", "ccedil": "ç",
    ]

    /// The maximum number of bytes between the signs of a reference. Without it, a text of ampersands would be searched
    /// to its end for each.
    private static let longestName = 10

    /// Replaces the references in a text, in one pass. Unknown ones stay unchanged.
    static func decode(_ text: ArraySlice<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(text.count)
        var rest = text
        while let byte = rest.popFirst() {
            let reference = byte == UInt8(ascii: "&") ? rest.prefix(longestName).prefix { $0 != UInt8(ascii: ";") } : []
            if byte == UInt8(ascii: "&"), rest.dropFirst(reference.count).first == UInt8(ascii: ";"),
                let scalar = scalar(String(decoding: reference, as: UTF8.self))
            {
                result += String(scalar).utf8
                rest = rest.dropFirst(reference.count + 1)
            } else {
                result.append(byte)
            }
        }
        return result
    }

    private static func scalar(_ reference: String) -> Unicode.Scalar? {
        guard reference.utf8.first == UInt8(ascii: "#") else { return names[reference] }
        let digits = String(reference.unicodeScalars.dropFirst())
        let isHexadecimal = digits.utf8.first.map { $0.lowercasedASCII == UInt8(ascii: "x") } ?? false
        let number = isHexadecimal ? UInt32(String(digits.unicodeScalars.dropFirst()), radix: 16) : UInt32(digits)
        return number.flatMap(Unicode.Scalar.init)
    }
}

/// The character set of a part, as far as it is known, and the way to decode its bytes.
enum CharacterSet: Hashable, Sendable {
    /// Unicode; invalid bytes in it are repaired later.
    case unicode
    /// Named, and to be converted.
    case named(String)
    /// Not named, or under a name that identifies none.
    case unknown

    /// Chooses how the text of a part is converted to UTF-8.
    ///
    /// - Parameter name: The name in the content type, in lower case.
    init(_ name: String?) {
        switch name {
        case "utf-8", "utf8":
            self = .unicode
        case nil, "us-ascii", "ascii", "ansi_x3.4-1968", "unknown-8bit", "x-unknown":
            self = .unknown
        // As browsers and mail programs do (WHATWG Encoding): text under these names often contains the quotation marks
        // and dashes of Windows' set, at codes that are control characters in the named sets.
        case "iso-8859-1", "iso8859-1", "iso_8859-1", "latin1":
            self = .named("windows-1252")
        case let name?:
            self = Self.isName(name.utf8) ? .named(name) : .unknown
        }
    }

    /// Returns the content in UTF-8; nil if there is none.
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

    /// Returns true for a plain name. Only plain names are passed to a converter, which also accepts options and paths
    /// in the same text.
    static func isName(_ name: some Collection<UInt8>) -> Bool {
        (1...40).contains(name.count)
            && name.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte.lowercasedASCII)
                    || "-_.:+".utf8.contains(byte)
            }
    }
}

/// Operations on the bytes of a text from outside, in one pass each.
///
/// The operations of `String` on characters take longer: a character has any number of bytes. Among flag emojis, each
/// of which is two scalars from U+1F1E6 to U+1F1FF, finding the beginning of one requires a walk to the first (128 KiB
/// took minutes).
extension RandomAccessCollection<UInt8> where Index == Int {
    /// Returns the first occurrence of a short text.
    func firstRange(ofText text: StaticString, from start: Int? = nil) -> Range<Int>? {
        text.withUTF8Buffer { text in
            var place = start ?? startIndex
            while place <= endIndex - text.count {
                if text.indices.allSatisfy({ self[place + $0] == text[$0] }) { return place..<(place + text.count) }
                place += 1
            }
            return nil
        }
    }
}

extension UInt8 {
    /// The byte, a capital letter of ASCII as its small one.
    var lowercasedASCII: UInt8 { (0x41...0x5A).contains(self) ? self | 0x20 : self }
}
