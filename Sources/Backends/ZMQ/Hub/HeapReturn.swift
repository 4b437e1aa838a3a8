internal import CoreAPI

/// When a hub gives memory back to the system that it has freed. Without that, glibc keeps what an attack has taken.
struct HeapReturn {
    /// So much must have been used since the last time: less is not worth the time.
    static let byteCount = 8 << 20
    /// How long after that, so that what comes in a burst is freed as well.
    static let delay = Duration.seconds(2)
    /// What a connection over a network takes in the library.
    static let connectionByteCount = 128 << 10

    private var used = 0
    /// When it is to be done; nil when it is not worth it.
    private(set) var due: BootInstant?

    /// So much was taken for a while: of a message, an answer, or a connection that is over.
    mutating func use(_ byteCount: Int, at now: @autoclosure () -> BootInstant) {
        used += byteCount
        if due == nil, used >= Self.byteCount { due = now().advanced(by: Self.delay) }
    }

    /// Whether to do it now; it begins anew then.
    mutating func isDue(at now: BootInstant) -> Bool {
        guard let due, due <= now else { return false }
        self = HeapReturn()
        return true
    }
}
