internal import ProgramOutput
internal import Wormholes

/// A message as people and scripts write it at a shell: any JSON value, in one line.
struct JSONText: Hashable, Sendable {
    struct NoJSON: Error, CustomStringConvertible {
        var description: String { "It is not JSON (RFC 8259)." }
    }

    let text: String

    init(_ bytes: [UInt8]) throws(NoJSON) {
        guard JSONGrammar.accepts(bytes) else { throw NoJSON() }
        // In valid JSON, line breaks are only between values, never inside of one.
        text = String(decoding: bytes.map { $0 == 0x0a || $0 == 0x0d ? 0x20 : $0 }, as: UTF8.self)
    }

    static var codec: MessageCodec<JSONText> {
        MessageCodec(name: MessageCodec<Bool>.json.name, encode: { Array($0.text.utf8) }, decode: { try JSONText($0) })
    }
}
