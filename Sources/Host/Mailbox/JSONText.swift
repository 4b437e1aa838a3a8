internal import FoundationEssentials
internal import Wormholes

/// A message as people and scripts write it at a shell: any JSON value, in one line.
struct JSONText: Hashable, Sendable {
    let text: String

    /// - Throws: `DecodingError` for what is no JSON.
    init(_ bytes: [UInt8]) throws {
        _ = try JSONDecoder().decode(AnyJSON.self, from: Data(bytes))
        // In JSON, line breaks stand between the parts of a value, never in them.
        text = String(decoding: bytes.map { $0 == 0x0a || $0 == 0x0d ? 0x20 : $0 }, as: UTF8.self)
    }

    static var codec: MessageCodec<JSONText> {
        MessageCodec(name: MessageCodec<Bool>.json.name, encode: { Array($0.text.utf8) }, decode: { try JSONText($0) })
    }

    /// Reads any JSON value, and keeps nothing of it.
    private struct AnyJSON: Decodable {
        init(from decoder: any Decoder) throws {
            if let container = try? decoder.container(keyedBy: AnyKey.self) {
                for key in container.allKeys { _ = try container.decode(AnyJSON.self, forKey: key) }
            } else if var container = try? decoder.unkeyedContainer() {
                while !container.isAtEnd { _ = try container.decode(AnyJSON.self) }
            } else {
                let container = try decoder.singleValueContainer()
                guard !container.decodeNil(), (try? container.decode(Bool.self)) == nil,
                    (try? container.decode(Double.self)) == nil
                else { return }
                _ = try container.decode(String.self)
            }
        }
    }

    private struct AnyKey: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init?(stringValue: String) { self.stringValue = stringValue }

        init?(intValue: Int) { nil }
    }
}
