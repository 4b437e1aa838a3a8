/// How much stands in a group's store.
public struct StoreUsage: Hashable, Sendable {
    /// The number of entries.
    public let entryCount: Int
    /// The bytes of all keys and values, which ``Limits/storeByteCount`` bounds.
    public let byteCount: Int
    /// The number of notification names.
    public let nameCount: Int
    /// The bytes of all notification names.
    public let nameByteCount: Int

    /// Makes a usage, for a backend that counts what its store holds.
    public init(entryCount: Int, byteCount: Int, nameCount: Int, nameByteCount: Int) {
        self.entryCount = entryCount
        self.byteCount = byteCount
        self.nameCount = nameCount
        self.nameByteCount = nameByteCount
    }
}
