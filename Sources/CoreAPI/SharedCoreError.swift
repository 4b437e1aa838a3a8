/// The error that all stores and notifiers throw.
///
/// ``code`` is for programs. ``message`` is for users: it names the fault, the value that was found and the expected
/// one. The same fault gives the same code on every backend.
///
/// Source: contract E1.
public struct SharedCoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of fault.
    public let code: Code
    /// The fault in a sentence, for people.
    public let message: String
    /// The location: a key, a path, an address.
    public let location: String
    /// The cause, such as the text of a system error.
    public let cause: String?
    /// The condition that did not hold, when ``code`` is ``Code/guardFailed``.
    public let guardFailure: GuardFailure?

    public init(
        _ code: Code, _ message: String, at location: String, cause: String? = nil, guardFailure: GuardFailure? = nil
    ) {
        self.code = code
        self.message = message
        self.location = location
        self.cause = cause
        self.guardFailure = guardFailure
    }

    /// Creates the error of a transaction with a condition that did not hold.
    public init(_ failure: GuardFailure) {
        self.init(
            .guardFailed,
            "Guard \(failure.index) on the key “\(failure.condition.key)” does not hold: "
                + (failure.found.map { "the key is at revision \($0.revision), created at \($0.creationRevision)." }
                    ?? "the key is absent."),
            at: failure.condition.key.text, guardFailure: failure)
    }

    public var description: String {
        cause.map { "\(code): \(message) [\(location)] (\($0))" } ?? "\(code): \(message) [\(location)]"
    }
}

extension SharedCoreError {
    /// The kinds of fault. New ones may be added; treat an unknown one as a failure.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Name: String, Hashable, Sendable {
            case invalidArgument, limitExceeded, guardFailed, closed, sessionEnded, cancelled, outcomeUnknown
            case unsupported, storageFull, forbidden, unavailable, incompatible, corrupt, system
        }

        private let name: Name

        private init(_ name: Name) {
            self.name = name
        }

        /// Creates the code with a ``description``; nil for one that this version does not know. For a backend that sends errors to
        /// another process.
        public init?(name: String) {
            guard let name = Name(rawValue: name) else { return nil }
            self.init(name)
        }

        public var description: String { name.rawValue }

        /// A key, name or other argument breaks its rule. Nothing was done.
        public static let invalidArgument = Code(.invalidArgument)
        /// A value, a transaction or the store would exceed its limit. Nothing was done.
        public static let limitExceeded = Code(.limitExceeded)
        /// A guard of the transaction did not hold. Nothing was done.
        public static let guardFailed = Code(.guardFailed)
        /// The handle was closed by its user.
        public static let closed = Code(.closed)
        /// The session has ended, so nothing that it does takes effect any more. Open the group again.
        public static let sessionEnded = Code(.sessionEnded)
        /// The calling task was cancelled before anything was done.
        public static let cancelled = Code(.cancelled)
        /// The connection was lost, or the time limit passed, during a commit. The commit may have taken effect.
        public static let outcomeUnknown = Code(.outcomeUnknown)
        /// The backend does not provide a feature that the caller requires or uses.
        public static let unsupported = Code(.unsupported)
        /// There is no space for the write. Nothing was done. Try again when there is space.
        public static let storageFull = Code(.storageFull)
        /// The user has no permission to read or write the group, or its files belong to another user.
        public static let forbidden = Code(.forbidden)
        /// The group cannot be reached now.
        public static let unavailable = Code(.unavailable)
        /// The stored layout has a version that this program does not know.
        public static let incompatible = Code(.incompatible)
        /// The stored data is damaged.
        public static let corrupt = Code(.corrupt)
        /// The operating system refused something for a reason that has no code of its own; see
        /// ``SharedCoreError/cause``.
        public static let system = Code(.system)
    }
}

extension SharedCoreError {
    /// Returns the error of a call after the handle was closed.
    public static func closed(_ location: String) -> SharedCoreError {
        SharedCoreError(.closed, "The group was closed by its user.", at: location)
    }

    /// Returns the error of a call if its task was cancelled before anything was done.
    public static func cancelled(_ location: String) -> SharedCoreError {
        SharedCoreError(.cancelled, "The task was cancelled; nothing was done.", at: location)
    }
}
