internal import FoundationEssentials

extension MessageCodec where Message: Codable {
    /// JSON (RFC 8259), with fields in the order of their names, so that equal messages are equal bytes.
    public static var json: MessageCodec {
        MessageCodec(name: "json") { message in
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return Array(try encoder.encode(message))
        } decode: { bytes in
            try JSONDecoder().decode(Message.self, from: Data(bytes))
        }
    }

    /// A binary property list.
    public static var propertyList: MessageCodec {
        MessageCodec(name: "plist") { message in
            let encoder = PropertyListEncoder()
            encoder.outputFormat = .binary
            return Array(try encoder.encode(message))
        } decode: { bytes in
            try PropertyListDecoder().decode(Message.self, from: Data(bytes))
        }
    }
}
