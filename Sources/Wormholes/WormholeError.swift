public import CoreAPI

/// The error of ``Wormhole``.
///
/// ``code`` is for programs, ``message`` for people.
///
/// Source: contract E1.
public struct WormholeError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of fault.
    public let code: Code
    /// The fault in a sentence, for people.
    public let message: String
    /// The store's error that caused it.
    public let cause: SharedCoreError?
    /// The message that could not be read, if that is the reason.
    public let decodingFailure: DecodingFailure?

    public init(_ code: Code, _ message: String, cause: SharedCoreError? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
        self.decodingFailure = nil
    }

    init(_ error: SharedCoreError) {
        code = .store
        message = "The group's store failed."
        cause = error
        decodingFailure = nil
    }

    init(_ decodingFailure: DecodingFailure) {
        code = .undecodable
        message = decodingFailure.description
        cause = nil
        self.decodingFailure = decodingFailure
    }

    public var description: String {
        cause.map { "\(code): \(message) (\($0))" } ?? "\(code): \(message)"
    }
}

extension WormholeError {
    /// The kinds of fault. New ones may be added; treat an unknown one as a failure.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Name: String, Hashable, Sendable {
            case encodingFailed, undecodable, timeout, refused, store
        }

        private let name: Name

        private init(_ name: Name) {
            self.name = name
        }

        public var description: String { name.rawValue }

        /// The codec could not write a message. Nothing was sent.
        public static let encodingFailed = Code(.encodingFailed)
        /// A message cannot be read here; see ``WormholeError/decodingFailure``.
        public static let undecodable = Code(.undecodable)
        /// No reply came within the given time. The request may have been answered since.
        public static let timeout = Code(.timeout)
        /// The answering side refused the request, or could not read it; the message has the reason.
        public static let refused = Code(.refused)
        /// The group's store failed; see ``WormholeError/cause``.
        public static let store = Code(.store)
    }
}

/// A message that cannot be read here. It stays in its mailbox.
///
/// Source: contract M3.
public struct DecodingFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The reason why a message cannot be read.
    public enum Reason: Hashable, Sendable {
        /// The type of the message has a newer version than this program knows.
        case newer(found: UInt32, known: UInt32)
        /// The message was written with another codec.
        case otherCodec(found: String, expected: String)
        /// The codec cannot read the message.
        case malformed(String)
        /// The message was written by another program than a wormhole, or by a later version.
        case foreign
    }

    public let reason: Reason
    /// The bytes in the store.
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
        case .foreign: "The message was not written by a wormhole of this version."
        }
    }
}

/// Calls the store, and wraps its errors.
nonisolated(nonsending) func inStore<Result>(
    _ call: () async throws(SharedCoreError) -> Result
) async throws(WormholeError) -> Result {
    do throws(SharedCoreError) {
        return try await call()
    } catch {
        throw WormholeError(error)
    }
}
