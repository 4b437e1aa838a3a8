/// The error of the calls about background life.
///
/// ``code`` is for programs, ``message`` for people: the fault, the value that was found and the right one.
///
/// Source: contract E1.
public struct LifecycleError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of fault.
    public let code: Code
    /// The fault in a sentence, for people.
    public let message: String
    /// The location: a name, a line.
    public let location: String

    public init(_ code: Code, _ message: String, at location: String) {
        self.code = code
        self.message = message
        self.location = location
    }

    public var description: String { "\(code): \(message) [\(location)]" }
}

extension LifecycleError {
    /// The kinds of fault. New ones may be added; treat an unknown one as a failure.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Name: String, Hashable, Sendable {
            case invalidInterval, invalidName, invalidLifetime, invalidOverride, unreadableRecord, closed
        }

        private let name: Name

        private init(_ name: Name) {
            self.name = name
        }

        public var description: String { name.rawValue }

        /// A keep-alive interval under 600 s, or one without a reasonable end (contract P4). Nothing was done.
        public static let invalidInterval = Code(.invalidInterval)
        /// A name that is empty, too long, or has control characters. Nothing was done.
        public static let invalidName = Code(.invalidName)
        /// A registration that would never be valid. Nothing was done.
        public static let invalidLifetime = Code(.invalidLifetime)
        /// A level that is not possible for its service, or an unknown word (contract P1).
        public static let invalidOverride = Code(.invalidOverride)
        /// Bytes that are no record of this version.
        public static let unreadableRecord = Code(.unreadableRecord)
        /// The runner was closed.
        public static let closed = Code(.closed)
    }
}
