package import CoreAPI

/// The state of a session in a replica.
package struct SessionState: Sendable {
    /// The number of results of numbered requests that are kept for retries.
    package static let keptResultCount = 64
    /// The limit for the bytes of the values that failed guards have found. Beyond it, earlier results are dropped. The
    /// last result is kept regardless of its size.
    static let keptResultByteCount = 64 << 10

    /// The session as presented to users.
    package let session: Session
    /// Bytes of the backend, such as the position of its lock.
    package let backendData: [UInt8]

    /// The keys that live with the session.
    var keys: Set<Key> = []
    /// True if entries live with the session.
    package var hasEntries: Bool { !keys.isEmpty }
    /// The results of its last numbered requests, by ascending number.
    private(set) var results: [RequestResult] = []
    /// The bytes of the results in a record.
    private(set) var resultByteCount = 0

    /// The commits of the deliveries with the highest numbers that took effect, in ascending order. A hub may delay
    /// content until a compaction has taken place, so a delivery can take effect after many others with higher numbers.
    /// The numbers in flight of a connection lie within ``keptResultCount`` of its lowest unanswered one, so a number
    /// in flight is never lower than all the numbers kept here.
    package private(set) var deliveries: [Delivery] = []
    /// The bytes of the deliveries in a record.
    private(set) var deliveryByteCount = 0

    package init(session: Session, backendData: [UInt8]) {
        self.session = session
        self.backendData = backendData
    }

    /// A request that a hub delivered, and its outcome.
    package struct Delivery: Hashable, Sendable {
        /// The number that the connection gave the request.
        package let number: UInt64
        package let commit: Commit
    }

    /// Keeps the outcome of another delivery, and drops the one with the lowest number beyond the limit.
    mutating func keep(_ commit: Commit, of delivery: UInt64) {
        let kept = Delivery(number: delivery, commit: commit)
        let index = deliveries.lastIndex { $0.number < delivery }.map { $0 + 1 } ?? 0
        deliveries.insert(kept, at: index)
        deliveryByteCount += kept.recordByteCount
        if deliveries.count > Self.keptResultCount { deliveryByteCount -= deliveries.removeFirst().recordByteCount }
    }

    /// Restores the deliveries of a snapshot.
    mutating func restore(_ deliveries: [Delivery]) {
        self.deliveries = deliveries.sorted { $0.number < $1.number }
        deliveryByteCount = deliveries.reduce(0) { $0 + $1.recordByteCount }
    }

    /// Adds a result from a snapshot.
    mutating func restore(_ result: RequestResult) {
        results.append(result)
        resultByteCount += result.recordByteCount
    }

    /// Keeps another result, and drops the oldest beyond the limits.
    mutating func keep(_ result: RequestResult) {
        restore(result)
        var byteCount = results.reduce(0) { $0 + $1.foundByteCount }
        var forgotten = 0
        while forgotten < results.count - 1,
            results.count - forgotten > Self.keptResultCount || byteCount > Self.keptResultByteCount
        {
            byteCount -= results[forgotten].foundByteCount
            resultByteCount -= results[forgotten].recordByteCount
            forgotten += 1
        }
        results.removeFirst(forgotten)
    }

    /// The result of one numbered request.
    struct RequestResult: Sendable, Equatable {
        let number: UInt64
        let outcome: RequestOutcome

        /// The bytes of the value that a failed guard found.
        var foundByteCount: Int {
            if case .refused(let failure) = outcome { failure.found?.value.count ?? 0 } else { 0 }
        }
    }
}
