/// The named places at which a process of a backend can be stopped or killed in the middle of its work. Each is passed by
/// every commit of a put and a post that somebody watches.
public struct FailPointSet: Hashable, Sendable {
    /// In a commit, before it is part of the order.
    public var beforePublication: [String]
    /// In a commit, after it has become part of the order.
    public var afterPublication: [String]

    public init(beforePublication: [String] = [], afterPublication: [String] = []) {
        self.beforePublication = beforePublication
        self.afterPublication = afterPublication
    }
}
