public import BackendRegistry
public import CoreAPI
internal import LogBackend

/// Opens the groups of a configuration, with `backend: postgres`.
public struct PostgresFactory: BackendFactory {
    public let name = "postgres"
    public let settings = [
        BackendSetting(
            "postgres.connection",
            "The server: libpq's connection string or URI, which may have a password; else libpq's environment.",
            isSecret: true),
        BackendSetting(
            "postgres.schema", default: "sharedcore", "The schema of the tables, which is made when there is none."),
    ]

    public init() {}

    public func open(
        _ configuration: BackendConfiguration, as description: SessionDescription
    ) async throws(SharedCoreError) -> any SharedGroup {
        var options = LogGroupOptions.postgres
        options.requirements = configuration.requirements
        if let durability = configuration.durability, durability > (options.requirements.durability ?? .memory) {
            options.requirements.durability = durability
        }
        return try await PostgresGroup.open(place(of: configuration), as: description, options: options)
    }

    public func openToRead(
        _ configuration: BackendConfiguration, as description: SessionDescription
    ) async throws(SharedCoreError) -> any SharedGroup {
        try await PostgresGroup.openToRead(place(of: configuration), as: description)
    }

    private func place(of configuration: BackendConfiguration) throws(SharedCoreError) -> PostgresPlace {
        try PostgresPlace(
            server: configuration.settings["postgres.connection"] ?? "",
            schema: configuration.settings["postgres.schema"] ?? "sharedcore", group: configuration.group)
    }
}
