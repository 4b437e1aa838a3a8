/// How much of a hub's memory one client over a network may take, and for what.
struct ClientMemory: Hashable, Sendable {
    /// For requests that the hub is not done with: one of the largest size, and what begins the next.
    static let requestByteCount = Wire.requestByteLimit + (1 << 20)
    /// For subscriptions: measured, a byte of a connection of the stream takes 37 in the library's tree, at most.
    static let subscriptionByteCount = 64 * RelayThread.streamByteLimit
    /// Answers and news share the rest in equal parts.
    static let standardPart = 16 << 20
    static let leastPart = 2 << 20
    static let standard = requestByteCount + subscriptionByteCount + 2 * standardPart
    static let least = requestByteCount + subscriptionByteCount + 2 * leastPart

    private let part: Int

    /// - Parameter byteCount: What the client may take in all.
    init(byteCount: Int = Self.standard) {
        part = (max(byteCount, Self.least) - Self.requestByteCount - Self.subscriptionByteCount) / 2
    }

    /// The bytes of answers that may wait for the client before another one is begun.
    var answerByteCount: Int { part }
    /// How many messages of news may wait for it before more are dropped, which it notices.
    var newsCount: Int { min(max(part / HubService.streamByteLimit, 1), Door.queueLimit) }
}
