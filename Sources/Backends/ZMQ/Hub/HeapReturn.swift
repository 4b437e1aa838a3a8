internal import CoreAPI

/// Decides when a hub returns freed memory to the kernel. Otherwise glibc would keep the memory that a flood of
/// messages has taken.
struct HeapReturn {
    /// The least number of bytes used since the last return for which a return is worth the time.
    static let byteCount = 8 << 20
    /// The delay before a return, so that the memory of a whole burst is returned at once.
    static let delay = Duration.seconds(2)
    /// The memory that the library takes for a connection over a network.
    static let connectionByteCount = 128 << 10

    private var used = 0
    /// When the memory is returned; nil when that is not worth the time.
    private(set) var due: BootInstant?

    /// Counts memory that was taken for a while: by a message, an answer, or a connection that has ended.
    mutating func use(_ byteCount: Int, at now: @autoclosure () -> BootInstant) {
        used += byteCount
        if due == nil, used >= Self.byteCount { due = now().advanced(by: Self.delay) }
    }

    /// Returns whether to return memory now, and if so starts a new count.
    mutating func isDue(at now: BootInstant) -> Bool {
        guard let due, due <= now else { return false }
        self = HeapReturn()
        return true
    }
}
