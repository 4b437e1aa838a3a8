internal import BackendRegistry
internal import CoreAPI
internal import FileNotifyBackend
internal import SharedCoreHost

/// `sharedcore` with a backend of an application, `own`.
@main
struct HostedProgram {
    static func main() async { await SharedCoreProgram.main(adding: [OwnFactory()] + invalid) }

    /// Backends with names that no configuration could choose, where a test asks for one.
    private static var invalid: [any BackendFactory] {
        switch CommandLine.arguments.last {
        case "bundled-name": [OwnFactory(name: "file", settings: [])]
        case "bad-name": [OwnFactory(name: "Own", settings: [])]
        case "twice": [OwnFactory()]
        case "other-key": [OwnFactory(name: "other", settings: [BackendSetting("own.path", "")])]
        case "secret-default":
            [OwnFactory(name: "other", settings: [BackendSetting("other.password", default: "a", "", isSecret: true)])]
        case "taken-key": [OwnFactory(name: "push", settings: [BackendSetting("push.other", "")])]
        default: []
        }
    }
}

/// Groups in files, in the directory of a setting.
private struct OwnFactory: BackendFactory {
    var name = "own"
    var settings = [
        BackendSetting("own.path", default: "none of mine", "The directory of the groups.", isPath: true),
        BackendSetting("own.password", "What opens the group; the text “wrong” does not.", isSecret: true),
    ]
    let durability = Durability.process

    func open(
        _ configuration: BackendConfiguration, as description: SessionDescription
    ) async throws(SharedCoreError) -> any SharedGroup {
        try await FileGroup.open(
            directory: directory(of: configuration), as: description,
            options: FileGroupOptions(
                durability: configuration.durability ?? durability, requirements: configuration.requirements))
    }

    func openToRead(
        _ configuration: BackendConfiguration, as description: SessionDescription
    ) async throws(SharedCoreError) -> any SharedGroup {
        try await FileGroup.openToRead(directory: directory(of: configuration), as: description)
    }

    private func directory(of configuration: BackendConfiguration) throws(SharedCoreError) -> String {
        if let password = configuration.settings["own.password"], password.hasPrefix("wrong") {
            throw SharedCoreError(.forbidden, "The password “\(password)” opens nothing.", at: "own.password")
        }
        guard let path = configuration.settings["own.path"] else {
            throw SharedCoreError(.invalidArgument, "No directory is configured.", at: "own.path")
        }
        return path + "/" + configuration.group
    }
}
