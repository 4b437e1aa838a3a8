internal import CoreAPI
internal import FoundationEssentials
internal import Platform
internal import ProgramOutput

/// A stored value as people and programs read it: text when it is UTF-8, else Base64.
enum ValueText {
    /// Returns the fields of a JSON line for a value, `value` or `valueBase64`; null when there is none.
    static func fields(_ value: [UInt8]?) -> (name: String, value: JSONValue) {
        guard let value else { return ("value", .null) }
        if let text = String(validating: value, as: UTF8.self) { return ("value", .text(text)) }
        return ("valueBase64", .text(Data(value).base64EncodedString()))
    }

    /// Returns the first bytes of a value, without a part of a character at their end.
    static func beginning(_ value: [UInt8], of count: Int) -> [UInt8] {
        var end = min(count, value.count)
        // A character has three continuation bytes at most; other values are cut at the limit.
        for index in stride(from: end, to: max(0, end - 4), by: -1) where index < value.count {
            guard value[index] & 0xc0 == 0x80 else {
                end = index
                break
            }
        }
        return Array(value[..<end])
    }

    /// Returns the value in one line of a terminal, as ``ProgramText/oneLine(_:upTo:)`` shows texts.
    static func oneLine(_ value: [UInt8]) -> String {
        guard let text = String(validating: value, as: UTF8.self) else {
            return "base64:" + Data(value).base64EncodedString()
        }
        return oneLine(text)
    }

    /// Returns a text in one line of a terminal.
    static func oneLine(_ text: String) -> String { ProgramText.oneLine(text) }
}

/// A value that a command is given as an argument, or on standard input where the argument is “-”.
enum InputValue {
    /// Returns the value; of standard input at most `limit` bytes and one more, which tells that there are too many.
    static func bytes(_ argument: ArgumentBytes, limit: Int) async throws -> [UInt8] {
        guard argument.bytes == [UInt8(ascii: "-")] else { return argument.bytes }
        return try await Abandonable.run(on: SerialThread(name: "input"), grace: .zero) {
            try StandardStream.input.read(upTo: limit + 1)
        }
    }
}

extension Int {
    /// So many of something, as people say it: “1 push”, “2 pushes”.
    ///
    /// - Parameter plural: The word for several; nil for one that only takes an s.
    func counting(_ singular: String, _ plural: String? = nil) -> String {
        "\(self) " + (self == 1 ? singular : plural ?? singular + "s")
    }
}
