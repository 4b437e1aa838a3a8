public import BackendRegistry
public import CoreAPI
import Foundation
import LogBackend

/// Opens the groups of a configuration, with `backend: sqlite`.
public struct SQLiteFactory: BackendFactory {
    public let name = "sqlite"
    public let settings = [
        BackendSetting(
            "sqlite.directory", "The directory of the databases, one for each group; without it the group's own.",
            isPath: true)
    ]

    public init() {}

    public func open(
        _ configuration: BackendConfiguration, as description: SessionDescription
    ) async throws(SharedCoreError) -> any SharedGroup {
        let path = path(of: configuration)
        do {
            // The content of a group is for its user alone.
            try FileManager.default.createDirectory(
                atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
        } catch {
            throw SharedCoreError(.system, "The directory cannot be made: \(error.localizedDescription)", at: path)
        }
        var options = LogGroupOptions.sqlite
        options.requirements = configuration.requirements
        if let durability = configuration.durability, durability > (options.requirements.durability ?? .memory) {
            options.requirements.durability = durability
        }
        return try await SQLiteGroup.open(path: path, as: description, options: options)
    }

    public func openToRead(
        _ configuration: BackendConfiguration, as description: SessionDescription
    ) async throws(SharedCoreError) -> any SharedGroup {
        try await SQLiteGroup.openToRead(path: path(of: configuration), as: description)
    }

    private func path(of configuration: BackendConfiguration) -> String {
        guard let directory = configuration.settings["sqlite.directory"] else {
            return configuration.directory + "/group.sqlite"
        }
        return directory + "/" + configuration.group + ".sqlite"
    }
}
