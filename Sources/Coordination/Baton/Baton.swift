public import CoreAPI
internal import Mailboxes

/// The calls that a stopping core gives to the next owner's core, which continues them. ``Core/handOver(_:)`` returns
/// it.
///
/// The bytes are written to no store, log or timeline, and the description shows only the kind and the sizes.
///
/// Source: contract C25.
public struct Baton: Sendable, CustomStringConvertible {
    /// The maximum number of bytes.
    public static let maximumByteCount = 64 << 10
    /// The maximum number of descriptors.
    public static let maximumDescriptorCount = 15
    /// The maximum number of calls.
    public static let maximumCallCount = 4
    /// The maximum number of kinds that a participant accepts.
    public static let maximumKindCount = 4
    /// The default time for which a baton is kept.
    public static let defaultLifetime = Duration.seconds(10)
    /// The allowed times for which a baton is kept.
    public static let lifetimes = Duration.seconds(1)...Duration.seconds(60)

    /// The format of the bytes and its version, such as `sip-dialog/1`. The cores of both owners must know it.
    public let kind: String
    /// The calls that move with it.
    public let calls: [CallID]
    let bytes: [UInt8]
    /// Duplicates of its descriptors.
    var files: [any BatonFile] = []

    /// Makes a baton.
    ///
    /// - Parameters:
    ///   - kind: Its format and version: 1 to 64 of the characters `a` to `z`, `0` to `9`, `-`, `.` and `/`.
    ///   - bytes: The information that the next core needs: at most 64 KiB.
    ///   - calls: The calls that move, which the core has begun and not ended: 1 to 4.
    /// - Throws: ``SharedCoreError/Code/invalidArgument`` for what breaks one of these rules.
    public init(_ kind: String, bytes: [UInt8], calls: [CallID]) throws(SharedCoreError) {
        func require(_ condition: Bool, _ rule: String) throws(SharedCoreError) {
            if !condition { throw SharedCoreError(.invalidArgument, rule, at: "baton") }
        }
        try require(Self.isKind(kind), "The kind of a baton has 1 to 64 of the characters a-z, 0-9, “-”, “.” and “/”.")
        try require(
            bytes.count <= Self.maximumByteCount,
            "A baton has at most \(Self.maximumByteCount) bytes, not \(bytes.count).")
        try require(
            1...Self.maximumCallCount ~= calls.count && Set(calls).count == calls.count,
            "A baton has 1 to \(Self.maximumCallCount) calls, each of them once.")
        try require(
            calls.allSatisfy { $0.text.utf8.count <= CallDescription.maximumByteCount },
            "The id of a call has at most \(CallDescription.maximumByteCount) bytes.")
        self.kind = kind
        self.bytes = bytes
        self.calls = calls
    }

    public var description: String {
        "“\(kind)”, \(bytes.count) bytes, \(files.count) descriptors, \(calls.count) calls"
    }

    /// Returns true if `text` satisfies the rule for a kind: 1 to 64 of the characters `a` to `z`, `0` to `9`, `-`, `.`
    /// and `/`.
    package static func isKind(_ text: String) -> Bool {
        1...64 ~= text.utf8.count
            && text.utf8.allSatisfy {
                switch $0 {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
                    UInt8(ascii: "."), UInt8(ascii: "/"):
                    true
                default: false
                }
            }
    }
}

/// The outcome of a baton, as reported to the core that gave it. New values may be added.
///
/// Source: contract C25.
public struct BatonEnd: Hashable, Sendable, CustomStringConvertible {
    private enum Name: String, Hashable, Sendable {
        case applied, failed, expired, refused, unknown
    }

    private let name: Name

    private init(_ name: Name) {
        self.name = name
    }

    public var description: String { name.rawValue }

    /// True if the calls still belong to the core that gave the baton: it must end them over the network.
    public var isOwn: Bool { self == .failed || self == .expired || self == .refused }

    /// A new owner has taken the calls over. The core must send nothing and close its sockets without `shutdown`, which
    /// would also shut down the new owner's duplicates.
    public static let applied = BatonEnd(.applied)
    /// The next owner could not use the baton. The core must end the calls over the network.
    public static let failed = BatonEnd(.failed)
    /// The baton expired before an owner used it. The core must end the calls over the network.
    public static let expired = BatonEnd(.expired)
    /// The baton was not offered to the next owner. The core must end the calls over the network.
    public static let refused = BatonEnd(.refused)
    /// The group does not answer, or the answer to the commit that ends the baton is lost. A new owner may have the
    /// calls, so send nothing, and close the sockets.
    public static let unknown = BatonEnd(.unknown)
}

/// A core and the baton that it has given.
struct CoreBaton: Sendable {
    let core: any Core
    let baton: Baton
}
