public import CoreAPI

/// What a replica keeps for a session.
public struct SessionState: Sendable {
    /// How many results of numbered requests are kept for retries.
    public static let keptResultCount = 64

    /// The session as users see it.
    public let session: Session
    /// Bytes of the backend's own, such as where it holds a lock.
    public let backendData: [UInt8]

    /// The keys that live with the session.
    var keys: Set<Key> = []
    /// The results of its last numbered requests, the numbers rising.
    var results: [RequestResult] = []

    /// The result of one numbered request.
    struct RequestResult: Sendable, Equatable {
        let number: UInt64
        let outcome: RequestOutcome
    }
}
