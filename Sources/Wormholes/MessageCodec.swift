internal import FoundationEssentials
internal import WormholeFormat

/// Encodes messages of one type as bytes, and decodes them.
///
/// ```swift
/// extension MessageCodec where Message: SwiftProtobuf.Message {
///     static var protobuf: Self {
///         MessageCodec(name: "protobuf") { message in
///             try message.serializedBytes()
///         } decode: { bytes in
///             try Message(serializedBytes: bytes)
///         }
///     }
/// }
/// ```
public struct MessageCodec<Message: Sendable>: Sendable {
    /// The longest name, in bytes of UTF-8.
    public static var maximumNameByteCount: Int { Envelope.maximumCodecByteCount }

    /// The name stored with each message, by which a reader with another codec refuses it.
    public let name: String
    let encode: @Sendable (Message) throws -> [UInt8]
    let decode: @Sendable ([UInt8]) throws -> Message

    /// Creates a codec.
    ///
    /// - Parameters:
    ///   - name: 1 to 64 bytes.
    ///   - encode: Returns the bytes of a message.
    ///   - decode: Reads a message. Any session of the group may have written the bytes, so it must not trust them.
    public init(
        name: String, encode: @escaping @Sendable (Message) throws -> [UInt8],
        decode: @escaping @Sendable ([UInt8]) throws -> Message
    ) {
        precondition(
            (1...Self.maximumNameByteCount).contains(name.utf8.count), "A codec's name has 1 to 64 bytes: \(name)")
        self.name = name
        self.encode = encode
        self.decode = decode
    }
}

extension MessageCodec where Message == [UInt8] {
    /// Bytes, unchanged.
    public static var bytes: MessageCodec {
        MessageCodec(name: "bytes", encode: { $0 }, decode: { $0 })
    }
}

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
