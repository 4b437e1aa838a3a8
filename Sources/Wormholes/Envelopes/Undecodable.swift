/// A message that cannot be read here. It stays where it is.
///
/// Source: contract M3.
public struct Undecodable: Error, Hashable, Sendable, CustomStringConvertible {
    /// Why a message cannot be read.
    public enum Reason: Hashable, Sendable {
        /// Its type has a newer version than this program knows.
        case newer(found: UInt32, known: UInt32)
        /// It was written with another codec.
        case otherCodec(found: String, expected: String)
        /// Its codec cannot read it.
        case malformed(String)
        /// It was not written by a wormhole, or by one of later days.
        case foreign
    }

    public let reason: Reason
    /// What stands in the store.
    public let bytes: [UInt8]

    init(_ reason: Reason, _ bytes: [UInt8]) {
        self.reason = reason
        self.bytes = bytes
    }

    public var description: String {
        switch reason {
        case .newer(let found, let known): "The message has version \(found), and this program knows up to \(known)."
        case .otherCodec(let found, let expected): "The message is written as “\(found)”, not as “\(expected)”."
        case .malformed(let problem): "The message cannot be read: \(problem)"
        case .foreign: "What stands here was not written by a wormhole of this version."
        }
    }
}
