extension Transaction {
    /// A condition on what stands in the store at the moment of the commit.
    public enum Guard: Hashable, Sendable {
        /// Nothing stands under the key.
        case absent(Key)
        /// Something stands under the key.
        case exists(Key)
        /// The entry was last written by this revision.
        case revision(Key, Revision)
        /// The entry was created by this revision, whoever wrote it since: its holder's epoch still stands.
        case epoch(Key, Revision)

        /// The key that the condition is about.
        public var key: Key {
            switch self {
            case .absent(let key), .exists(let key), .revision(let key, _), .epoch(let key, _): key
            }
        }
    }
}
