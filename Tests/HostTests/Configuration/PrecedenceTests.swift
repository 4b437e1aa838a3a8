internal import SharedCoreConfiguration
internal import Testing

@testable internal import SharedCoreHost

@Suite("Precedence of the configuration's sources")
struct PrecedenceTests {
    private let name = Settings.group.name

    private func resolution(
        flags: [String: String] = [:], environment: [String: String] = [:], file: String? = nil
    ) throws -> Resolution {
        Resolution(
            flags: flags, environment: environment,
            file: try file.map { try ConfigurationFile(path: "c.yaml", content: Array($0.utf8)) },
            workingDirectory: "/place")
    }

    @Test("A flag comes before the environment, the environment before the file, the file before the default")
    func order() throws {
        let file = "group: of-file"
        let environment = ["SHAREDCORE_GROUP": "of-environment"]
        #expect(try resolution().value(Settings.group) == "default")
        #expect(try resolution(file: file).value(Settings.group) == "of-file")
        #expect(try resolution(environment: environment, file: file).value(Settings.group) == "of-environment")
        #expect(
            try resolution(flags: [name: "of-flag"], environment: environment, file: file).value(Settings.group)
                == "of-flag")
    }

    @Test("Each value says where it came from, a file's with line and column")
    func origins() throws {
        let resolution = try resolution(
            flags: ["backend": "memory"],
            environment: ["SHAREDCORE_HANDOVER_MAXIMUM_TIMEOUT": "7s", "HOME": "/home/u"],
            file: "# first\ninbox:\n  lifetime: 1h\n")
        let rows = try resolution.overview()
        func origin(_ key: String) -> SettingOrigin? { rows.first { $0.key == key }?.origin }
        #expect(origin("backend") == .flag("--backend"))
        #expect(origin("handover.maximumTimeout") == .environment("SHAREDCORE_HANDOVER_MAXIMUM_TIMEOUT"))
        #expect(origin("inbox.lifetime") == .file(path: "c.yaml", line: 3, column: 13))
        #expect(origin("executor.budget") == .fallback)
        #expect(rows.map(\.key) == Settings.all.map(\.name))
    }

    @Test("Every setting can be given by its environment variable", arguments: Settings.all.map(\.environmentName))
    func environmentNames(variable: String) throws {
        let resolution = try resolution(environment: [variable: "x"])
        let setting = try #require(Settings.all.first { $0.environmentName == variable })
        #expect(resolution.find(setting) == .init(text: "x", origin: .environment(variable)))
    }

    @Test("An empty environment variable counts as unset")
    func emptyVariable() throws {
        #expect(try resolution(environment: ["SHAREDCORE_GROUP": ""]).value(Settings.group) == "default")
    }

    @Test(
        "YAML, JSON and keys with dots say the same",
        arguments: [
            "handover:\n  timeout: 2s\n", "{\"handover\": {\"timeout\": \"2s\"}}", "handover.timeout: 2",
        ])
    func forms(file: String) throws {
        #expect(try resolution(file: file).value(Settings.handoverTimeout) == .seconds(2))
    }

    @Test("A file without settings is valid", arguments: ["", "# nothing\n", "---\n", "null\n"])
    func empty(file: String) throws {
        #expect(try resolution(file: file).value(Settings.backend) == "file")
    }

    @Test("Every default is a valid value of its setting")
    func defaults() {
        for setting in Settings.all {
            if case .text(let text) = setting.fallback { #expect(setting.accepts(text), "\(setting.name)") }
        }
    }
}
