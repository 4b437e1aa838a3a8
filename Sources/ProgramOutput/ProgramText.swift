/// Bytes that a program was given as text: an argument, a variable of its environment or a path.
///
/// Swift replaces what is not UTF-8 by U+FFFD, and then two different names are one. The programs read bytes instead, and
/// refuse what must be text and is not (contract S2).
package enum ProgramText {
    /// The error for bytes that are not UTF-8.
    package struct NotText: Error, Hashable, Sendable, CustomStringConvertible {
        /// The bytes, as ``ProgramText/escaped(_:)`` shows them.
        package let shown: String

        package var description: String { "“\(shown)” is not UTF-8" }
    }

    /// Returns the text that bytes are.
    package static func text(_ bytes: [UInt8]) throws(NotText) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw NotText(shown: escaped(bytes)) }
        return text
    }

    /// Returns bytes as one line for people: each byte that is not UTF-8 as `\xff`, and control characters escaped.
    package static func escaped(_ bytes: [UInt8]) -> String {
        var line = ""
        var parser = Unicode.UTF8.ForwardParser()
        var input = bytes.makeIterator()
        var position = 0
        while true {
            switch parser.parseScalar(from: &input) {
            case .valid(let encoded):
                let scalar = Unicode.UTF8.decode(encoded)
                line += scalar.properties.generalCategory == .control ? scalar.escaped(asASCII: true) : "\(scalar)"
                position += encoded.count
            case .error(let length):
                for byte in bytes[position..<(position + length)] { line += "\\x" + String(byte, radix: 16) }
                position += length
            case .emptyInput: return line
            }
        }
    }
}
