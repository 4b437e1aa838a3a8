/// The program that plays a second process, and how it is started.
public struct PeerProgram: Hashable, Sendable {
    /// Its absolute path.
    public var path: String
    /// What it is given before anything else.
    public var arguments: [String]

    public init(path: String, arguments: [String] = []) {
        self.path = path
        self.arguments = arguments
    }
}
