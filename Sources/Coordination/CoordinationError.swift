public import CoreAPI

/// The error of ``MainParticipant`` and ``ExecutorParticipant``.
///
/// ``code`` is for programs, ``message`` for people.
///
/// Source: contract E1.
public struct CoordinationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of fault.
    public let code: Code
    /// The fault in a sentence, for people.
    public let message: String
    /// The owner, if it is the reason for the error.
    public let owner: GroupOwner?
    /// The store's error that caused this one.
    public let cause: SharedCoreError?

    public init(_ code: Code, _ message: String, owner: GroupOwner? = nil, cause: SharedCoreError? = nil) {
        self.code = code
        self.message = message
        self.owner = owner
        self.cause = cause
    }

    public var description: String {
        cause.map { "\(code): \(message) (\($0))" } ?? "\(code): \(message)"
    }
}

extension CoordinationError {
    /// The kinds of fault. New ones may be added; treat an unknown one as a failure.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Name: String, Hashable, Sendable {
            case refused, timeout, fenced, superseded, coreFailed, closed, cancelled, store, notFound, outcomeUnknown,
                unavailable, unsupported
        }

        private let name: Name

        private init(_ name: Name) {
            self.name = name
        }

        public var description: String { name.rawValue }

        /// A Main that answers challenges owns, or has requested ownership (contract C2, C14). For a command for a
        /// call: its holder refuses it (C24). For a rest: there is a reason to be awake (C26). Nothing was done.
        public static let refused = Code(.refused)
        /// The deadline passed before the message came (contract C7), or before the holder of a call took a command
        /// (C24). If ``CoordinationError/cause`` is set, the store has refused a core's write: the message may have
        /// been received, and could not be stored.
        public static let timeout = Code(.timeout)
        /// A newer epoch took ownership from this participant, or its session has ended (contract C4).
        public static let fenced = Code(.fenced)
        /// Another Main took over (contract C14).
        public static let superseded = Code(.superseded)
        /// The core could not start, or ended by itself.
        public static let coreFailed = Code(.coreFailed)
        /// The participant was closed or stopped.
        public static let closed = Code(.closed)
        /// The calling task was cancelled.
        public static let cancelled = Code(.cancelled)
        /// The group's store failed; see ``CoordinationError/cause``.
        public static let store = Code(.store)
        /// No open call has the id (contract C24). Nothing was done.
        public static let notFound = Code(.notFound)
        /// The holder of a call has taken a command, and its outcome is not known (contract C24).
        public static let outcomeUnknown = Code(.outcomeUnknown)
        /// The group has no holder that owns for a Main that rests (contract C26).
        public static let unavailable = Code(.unavailable)
        /// The core or the backend does not let a Main rest (contract C26).
        public static let unsupported = Code(.unsupported)
    }
}
