public import CoreAPI
internal import FileNotifyBackend

/// Opens groups in directories, which the processes of one machine share.
public struct FileFactory: BackendFactory {
    public let name = "file"

    public init() {}

    public func open(
        _ configuration: BackendConfiguration, as description: SessionDescription
    ) async throws(SharedCoreError) -> any SharedGroup {
        try await FileGroup.open(
            directory: configuration.groupDirectory, as: description,
            options: FileGroupOptions(
                durability: configuration.durability ?? .process, requirements: configuration.requirements))
    }
}
