internal import CoreAPI

/// The nonce that the hub gives a connection with its welcome. Each later request carries it, so a session belongs to the
/// connection that sent the hello, even if another connection takes its name.
struct ConnectionNonce: Hashable {
    let high: UInt64
    let low: UInt64

    /// The nonce of a connection without a welcome.
    static let none = ConnectionNonce(high: 0, low: 0)

    static func random() -> ConnectionNonce {
        ConnectionNonce(high: .random(in: .min ... .max), low: .random(in: 1 ... .max))
    }

    /// Compares both words in constant time.
    func isSame(as other: ConnectionNonce) -> Bool { (high ^ other.high) | (low ^ other.low) == 0 }
}

extension [UInt8] {
    /// Compares a secret with another one in constant time, for secrets of the same length.
    func isSame(as other: [UInt8]) -> Bool {
        count == other.count && zip(self, other).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

/// The common parts of all messages between a hub and its clients. `Docs/Reference/WireProtocol.md` describes them for
/// the authors of clients in other languages.
enum Wire {
    /// The first byte of every message. A hub refuses other versions.
    static let version: UInt8 = 1
    /// The bytes of a session's secret token.
    static let tokenByteCount = 32
    /// The largest message that is accepted from a client: the largest transaction and its framing.
    static let requestByteLimit = 17 << 20
    /// The largest answer that a hub sends and a client accepts. The largest ones are states: keys and values of a full
    /// store (64 MiB by default), and the overhead of 1,048,576 entries.
    static let answerByteLimit = 1 << 30
    /// The largest frame of the stream that a client accepts: 64 KiB of effects, and their framing.
    static let updatesFrameByteLimit = 128 << 10
    /// The bytes of effects at which an answer is full; one effect is sent regardless of its size.
    static let updatesByteCount = 256 << 10
    /// The size of the largest baton, in bytes.
    static let batonByteLimit = 64 << 10
    /// How many requests a client may have in flight. The hub keeps as many results, for repeated requests.
    static let windowCount = 64

    static func malformed(_ what: String) -> SharedCoreError {
        SharedCoreError(.corrupt, "A message of the hub's protocol cannot be read: \(what).", at: "message")
    }

    /// Reads a message.
    static func read<Value>(
        _ bytes: [UInt8], _ body: (inout ByteReader) throws -> Value
    ) throws(SharedCoreError) -> Value {
        var reader = ByteReader(bytes)
        do {
            let version = try reader.byte()
            guard version == Self.version else {
                throw SharedCoreError(
                    .incompatible,
                    "The other side speaks version \(version) of the protocol, this one \(Self.version).",
                    at: "message")
            }
            let value = try body(&reader)
            try reader.finish()
            return value
        } catch let error as SharedCoreError {
            throw error
        } catch {
            throw malformed("its bytes are \(error)")
        }
    }
}
