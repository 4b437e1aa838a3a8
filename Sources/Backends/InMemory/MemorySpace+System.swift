public import CoreAPI
public import Platform

// The only file of the module that uses `Platform`; the others build without it.
extension MemorySpace {
    /// Makes an empty space.
    ///
    /// - Parameters:
    ///   - clock: The clock by which entries expire.
    ///   - limits: The sizes that its groups accept.
    ///   - historyByteCount: The bytes of changes that each group keeps for watches that resume or fall behind.
    public convenience init(
        clock: any TimeSource = SystemClock(), limits: Limits = Limits(), historyByteCount: Int = 1 << 20
    ) {
        self.init(clock: clock, limits: limits, historyByteCount: historyByteCount, executor: nil)
    }

    /// Makes an empty space for processes of this machine.
    ///
    /// - Parameter executor: The executor on which entries expire; nil for the concurrent pool.
    package convenience init(
        clock: any TimeSource, limits: Limits = Limits(), historyByteCount: Int = 1 << 20,
        executor: (any TaskExecutor)?
    ) {
        self.init(
            clock: clock, limits: limits, historyByteCount: historyByteCount, executor: executor,
            ownProcess: { .current })
    }
}
