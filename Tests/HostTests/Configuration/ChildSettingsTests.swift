internal import Coordination
internal import CoreAPI
internal import SharedCoreConfiguration
internal import Testing

@testable internal import SharedCoreHost

/// The configuration that a command passes to the processes it starts.
@Suite("The settings of a child process")
struct ChildSettingsTests {
    private static let environment = ["HOME": "/home/u", "XDG_RUNTIME_DIR": "/run/u"]

    /// The origin of a setting.
    enum Source: CaseIterable, Sendable {
        case nowhere, flags, environment, file
    }

    /// For every setting, a valid value other than the default. Relative paths would mean other files elsewhere.
    private static let values: [String: String] = {
        let candidates = ["sub/x", "7s", "17", "5MiB", "/bin/x --y z", "call=main"]
        var values: [String: String] = [:]
        for setting in Settings.all {
            values[setting.name] = (setting.choices + candidates).first { text in
                setting.accepts(text) && text != setting.fallback.description
            }
        }
        // The level of a service that has only one in this state.
        for setting in Settings.all where values[setting.name] == nil {
            values[setting.name] = setting.fallback.description
        }
        values[Settings.backend.name] = "zmq"
        values[Settings.zmqEndpoint.name] = "ipc:///run/u/hub"
        return values
    }()

    private func resolution(from source: Source) throws -> Resolution {
        switch source {
        case .nowhere:
            return Resolution(flags: [:], environment: Self.environment, file: nil, workingDirectory: "/place")
        case .flags:
            return Resolution(
                flags: Self.values, environment: Self.environment, file: nil, workingDirectory: "/place")
        case .environment:
            var environment = Self.environment
            for setting in Settings.all { environment[setting.environmentName] = Self.values[setting.name] }
            return Resolution(flags: [:], environment: environment, file: nil, workingDirectory: "/place")
        case .file:
            let lines = Self.values.map { "\($0.key): \"\($0.value)\"\n" }.joined()
            return Resolution(
                flags: [:], environment: Self.environment,
                file: try ConfigurationFile(path: "/etc/app/c.yaml", content: Array(lines.utf8)),
                workingDirectory: "/place")
        }
    }

    @Test("A child resolves every setting as its parent did, wherever it works", arguments: Source.allCases)
    func same(source: Source) throws {
        let parent = try resolution(from: source)
        let environment = parent.environment.merging(try parent.variables()) { $1 }
        let child = Resolution(flags: [:], environment: environment, file: nil, workingDirectory: "/")
        let rows = try parent.overview()
        #expect(rows.map(\.key) == Settings.all.map(\.name))
        #expect(source == .nowhere || rows.allSatisfy { $0.origin != .fallback })
        for (row, found) in zip(rows, try child.overview()) {
            #expect(row.key == found.key && row.value == found.value)
        }
        #expect(try child.coordinationOptions() == parent.coordinationOptions())
        #expect(try child.maildir() == parent.maildir() && child.groupDirectory() == parent.groupDirectory())
    }

    @Test("The processes of the demo and of a soak have the settings of the command", arguments: ["file", "zmq"])
    func demo(backend: String) throws {
        let resolution = Resolution(
            flags: [
                "backend": backend, "durability": "disk", "handover.timeout": "700ms", "stateDirectory": "/groups",
            ],
            environment: Self.environment, file: nil, workingDirectory: "/place")
        let programs = try ScenarioPrograms(resolution)
        #expect(programs.variables == (try resolution.variables()))
        #expect(programs.variables["SHAREDCORE_DURABILITY"] == "disk")
        let slim = try SlimExecutor(resolution).arguments(
            for: try #require(CallID("1@x")), as: "a", timeout: .seconds(1))
        #expect(
            slim.contains(sequence: "--durability", "disk") && slim.contains(sequence: "--handover-timeout-ms", "700"))
        #expect(slim.contains(sequence: "--directory", "/groups/default"))
    }
}

extension [String] {
    fileprivate func contains(sequence first: String, _ second: String) -> Bool {
        zip(self, dropFirst()).contains { $0 == (first, second) }
    }
}
