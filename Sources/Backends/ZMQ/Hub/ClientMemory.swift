/// How much of a hub's memory one client over a network may use, by purpose.
struct ClientMemory: Hashable, Sendable {
    /// For requests that the hub has not completed: one request of the largest size, and the beginning of the next.
    static let requestByteCount = Wire.requestByteLimit + (1 << 20)
    /// For subscriptions: measured, a byte of a connection of the stream takes 37 in the library's tree, at most.
    static let subscriptionByteCount = 64 * RelayThread.streamByteLimit
    /// Answers and updates share the rest in equal parts.
    static let standardPart = 16 << 20
    static let leastPart = 2 << 20
    static let standard = requestByteCount + subscriptionByteCount + 2 * standardPart
    static let least = requestByteCount + subscriptionByteCount + 2 * leastPart

    private let part: Int

    /// Divides the memory for one client between requests, answers, updates and subscriptions.
    ///
    /// - Parameter byteCount: The memory for the client in all. A value below ``least`` counts as that.
    init(byteCount: Int = Self.standard) {
        part = (max(byteCount, Self.least) - Self.requestByteCount - Self.subscriptionByteCount) / 2
    }

    /// The bytes of answers that may wait for the client; beyond them, no further answer is begun.
    var answerByteCount: Int { part }
    /// How many messages of the stream may wait for the client. Further ones are dropped, which the client notices.
    var updateCount: Int { min(max(part / HubService.streamByteLimit, 1), HubEndpointListener.queueLimit) }
}
