public import CoreAPI

/// The error of ``MainParticipant`` and ``ExecutorParticipant``.
///
/// ``code`` is for programs, ``message`` for people.
///
/// Source: contract E1.
public struct CoordinationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What kind of fault it is.
    public let code: Code
    /// What is wrong, for people.
    public let message: String
    /// Who owns, where that is the reason.
    public let owner: GroupOwner?
    /// The store's error that it came from.
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
