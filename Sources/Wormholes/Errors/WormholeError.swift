public import CoreAPI

/// The error of ``Wormhole``.
///
/// ``code`` is for programs, ``message`` for people.
///
/// Source: contract E1.
public struct WormholeError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What kind of fault it is.
    public let code: Code
    /// What is wrong, for people.
    public let message: String
    /// The store's error that it came from.
    public let cause: SharedCoreError?
    /// What could not be read, where that is the reason.
    public let undecodable: Undecodable?

    public init(_ code: Code, _ message: String, cause: SharedCoreError? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
        self.undecodable = nil
    }

    init(_ error: SharedCoreError) {
        code = .store
        message = "The group's store failed."
        cause = error
        undecodable = nil
    }

    init(_ undecodable: Undecodable) {
        code = .undecodable
        message = undecodable.description
        cause = nil
        self.undecodable = undecodable
    }

    public var description: String {
        cause.map { "\(code): \(message) (\($0))" } ?? "\(code): \(message)"
    }
}
