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
