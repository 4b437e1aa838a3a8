/// The sizes that a store accepts, in bytes. What is larger is refused with ``SharedCoreError/Code/limitExceeded``.
///
/// Source: contract S10.
public struct Limits: Hashable, Sendable {
    /// The largest value.
    public var valueByteCount: Int
    /// The largest sum of keys and values in one transaction.
    public var transactionByteCount: Int
    /// The largest sum of keys and values in the store.
    public var storeByteCount: Int

    public init(
        valueByteCount: Int = 1 << 20, transactionByteCount: Int = 4 << 20, storeByteCount: Int = 64 << 20
    ) {
        self.valueByteCount = valueByteCount
        self.transactionByteCount = transactionByteCount
        self.storeByteCount = storeByteCount
    }
}
