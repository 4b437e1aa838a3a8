public import CoreAPI

/// Which group to open on which backend: what a configuration file says, without the file.
public struct BackendConfiguration: Hashable, Sendable {
    /// The backend's name, such as `file`.
    public var backend: String
    /// The name of the group.
    public var group: String
    /// The absolute path of the directory in which groups lie, each in a directory of its own name. Backends that keep no
    /// files ignore it.
    public var parentDirectory: String
    /// What a commit must survive; nil leaves it to the backend.
    public var durability: Durability?
    /// What the caller relies on beyond the common part of the contract.
    public var requirements: Requirements
    /// Values that only one backend knows, by key, such as `zmq.endpoint`.
    public var settings: [String: String]

    public init(
        backend: String, group: String, parentDirectory: String, durability: Durability? = nil,
        requirements: Requirements = .none, settings: [String: String] = [:]
    ) {
        self.backend = backend
        self.group = group
        self.parentDirectory = parentDirectory
        self.durability = durability
        self.requirements = requirements
        self.settings = settings
    }

    /// The absolute path of the group's own directory.
    public var groupDirectory: String {
        parentDirectory.hasSuffix("/") ? parentDirectory + group : parentDirectory + "/" + group
    }
}
