extension Transaction {
    /// One step of a transaction.
    public enum Operation: Hashable, Sendable {
        /// Sets the value and the lifetime of a key.
        case put(Key, [UInt8], Lifetime)
        /// Removes a key.
        case delete(Key)
        /// Removes every key that the prefix selects.
        case deletePrefix(KeyPrefix)
        /// Counts one more post of a name and, when given, sets its state word.
        case post(NotificationName, state: UInt64?)
    }
}
