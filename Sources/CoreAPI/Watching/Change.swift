/// What a transaction did to one key.
public struct Change: Hashable, Sendable {
    /// The ways in which an entry changes.
    public enum Kind: Hashable, Sendable {
        /// It was set by a put.
        case put
        /// It was removed by a delete.
        case deleted
        /// Its lifetime was over.
        case expired
        /// The session that it lived with ended.
        case sessionEnded
    }

    /// The key that changed.
    public let key: Key
    /// In which way.
    public let kind: Kind
    /// What stood there before; nil when nothing did.
    public let old: Entry?
    /// What stands there now; nil when nothing does.
    public let new: Entry?

    public init(key: Key, kind: Kind, old: Entry?, new: Entry?) {
        self.key = key
        self.kind = kind
        self.old = old
        self.new = new
    }
}
