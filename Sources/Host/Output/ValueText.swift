internal import CoreAPI
internal import FoundationEssentials
internal import Platform
internal import ProgramOutput

/// A stored value in the output: text if it is UTF-8, else Base64.
enum ValueText {
    /// Returns the field of a JSON line for a value, `value` or `valueBase64`; null if there is no value.
    static func fields(_ value: [UInt8]?) -> (name: String, value: JSONValue) {
        guard let value else { return ("value", .null) }
        if let text = String(validating: value, as: UTF8.self) { return ("value", .text(text)) }
        return ("valueBase64", .text(Data(value).base64EncodedString()))
    }

    /// Returns the first bytes of a value, without a part of a character at their end.
    static func beginning(_ value: [UInt8], of count: Int) -> [UInt8] {
        var end = min(count, value.count)
        // Look back over three bytes at most, because a character has no more continuation bytes. A value that is not
        // UTF-8 is cut at the limit.
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

/// A value that a command gets as an argument, or on standard input if the argument is “-”.
enum InputValue {
    /// Returns the value. Reads at most `limit` bytes and one more from standard input; the extra byte shows that there
    /// are too many.
    ///
    /// - Throws: ``CommandFailure`` for more than `limit` bytes on standard input. The total is unknown then, because
    ///   the rest is not read.
    static func bytes(_ argument: ArgumentBytes, limit: Int) async throws -> [UInt8] {
        guard argument.bytes == [UInt8(ascii: "-")] else { return argument.bytes }
        let bytes = try await Abandonable.run(on: SerialThread(name: "input"), grace: .zero) {
            try StandardStream.input.read(upTo: limit + 1)
        }
        guard bytes.count > limit else { return bytes }
        throw CommandFailure(
            .unavailable,
            "A value of this group has at most \(limit) bytes, and standard input has more."
                .ending(withCode: SharedCoreError.Code.limitExceeded))
    }
}

extension Int {
    /// Returns a count with its noun: “1 push”, “2 pushes”.
    ///
    /// - Parameter plural: The plural; nil if it is the singular with an s.
    func counting(_ singular: String, _ plural: String? = nil) -> String {
        "\(self) " + (self == 1 ? singular : plural ?? singular + "s")
    }
}
