/// The error of every store and notifier.
///
/// ``code`` is for programs, ``message`` for people: what is wrong, with what was found and what would be right. The
/// same fault gives the same code on every backend.
///
/// Source: contract E1.
public struct SharedCoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What kind of fault it is.
    public let code: Code
    /// What is wrong, for people.
    public let message: String
    /// Where: a key, a path, an address.
    public let location: String
    /// What it came from, such as the text of a system error.
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

    /// The error of a transaction whose condition did not hold.
    public init(_ failure: GuardFailure) {
        self.init(
            .guardFailed,
            "Guard \(failure.index) on the key “\(failure.condition.key)” does not hold: "
                + (failure.found.map { "it stands at revision \($0.revision), created at \($0.creationRevision)." }
                    ?? "nothing stands there."),
            at: failure.condition.key.text, guardFailure: failure)
    }

    public var description: String {
        cause.map { "\(code): \(message) [\(location)] (\($0))" } ?? "\(code): \(message) [\(location)]"
    }
}
