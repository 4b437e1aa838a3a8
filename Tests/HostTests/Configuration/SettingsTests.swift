internal import Foundation
internal import SharedCoreConfiguration
internal import Testing

@testable internal import SharedCoreHost

@Suite("The table of settings is complete")
struct SettingsTests {
    @Test("E2: every setting that is declared is in the table, once")
    func declarations() throws {
        let file = URL(filePath: #filePath).appending(
            path: "../../../../Sources/SharedCoreConfiguration/Settings.swift")
        let source = try String(contentsOf: file.standardizedFileURL, encoding: .utf8)
        let declared = source.matches(of: /static let \w+ = Setting\(\s*"([^"]+)"/).map { String($0.output.1) }
        let listed = Settings.all.map(\.name).filter { !$0.hasPrefix("serviceLevels.") }
        #expect(listed.sorted() == declared.sorted())
    }

    /// For each setting without a default, whether a configuration has no value of it.
    private static let absences: [String: @Sendable (Resolution) throws -> Bool] = {
        var absences: [String: @Sendable (Resolution) throws -> Bool] = [:]
        func add<Value>(_ setting: Setting<Value>) {
            absences[setting.name] = { try $0.optional(setting) == nil }
        }
        for path in [
            Settings.zmqSecretKey, Settings.zmqClientKeys, Settings.etcdAuthorities, Settings.etcdCertificate,
            Settings.etcdKey, Settings.pushMaildir,
        ] {
            absences[path.name] = { try $0.absolutePath(path) == nil }
        }
        add(Settings.zmqHubKey)
        add(Settings.pushRoutes)
        add(Settings.mainCommand)
        add(Settings.mainWatchdog)
        return absences
    }()

    @Test("Every setting whose default is shown as “none” takes “none” for no value, wherever it is given")
    func none() throws {
        let settings = Settings.all.filter { if case .none = $0.fallback { true } else { false } }
        #expect(settings.map(\.name).sorted() == Self.absences.keys.sorted())
        func resolution(
            flags: [String: String] = [:], environment: [String: String] = [:], file: String? = nil
        ) throws -> Resolution {
            Resolution(
                flags: flags, environment: environment.merging(["HOME": "/home/u"]) { $1 },
                file: try file.map { try ConfigurationFile(path: "/c.yaml", content: Array($0.utf8)) },
                workingDirectory: "/place")
        }
        for setting in settings {
            let isAbsent = try #require(Self.absences[setting.name])
            let file = "\(setting.name): none"
            for given in [
                try resolution(flags: [setting.name: "none"], file: "\(setting.name): \(Self.value(of: setting))"),
                try resolution(environment: [setting.environmentName: "none"]), try resolution(file: file),
            ] {
                #expect(try isAbsent(given), "\(setting.name)")
                let row = try #require(try given.overview().first { $0.key == setting.name })
                #expect(row.value == "none" && row.origin != .fallback, "\(setting.name)")
                #expect(try given.variables()[setting.environmentName] == "none", "\(setting.name)")
            }
            #expect(setting.expectation.hasSuffix("or “none”"), "\(setting.name): \(setting.expectation)")
        }
        // A hub that is started, or one that is asked to, also ignores its parent's variable.
        #if ZMQ
            let given = try resolution(
                flags: ["zmq.secretKey": "none"], environment: ["SHAREDCORE_ZMQ_SECRET_KEY": "/key"])
            #expect(try given.hubSettings()["zmq.secretKey"] == nil)
            #expect(try given.hubVariables()["SHAREDCORE_ZMQ_SECRET_KEY"] == "none")
        #endif
    }

    /// Returns a valid value of a setting.
    private static func value(of setting: AnySetting) -> String {
        ["sub/x", "7s", "call=main"].first { setting.accepts($0) } ?? "none"
    }

    @Test(
        "A setting that always has a path does not take “none” for one",
        arguments: [Settings.coreMaildir, Settings.stateDirectory])
    func nonePath(setting: Setting<String>) throws {
        for (text, isRight) in [("none", false), ("./none", true)] {
            let resolution = Resolution(
                flags: [setting.name: text], environment: [:], file: nil, workingDirectory: "/place")
            if isRight {
                #expect(try resolution.absolutePath(setting) == "/place/none")
            } else {
                let failure = #expect(throws: ConfigurationFailure.self) { try resolution.absolutePath(setting) }
                #expect(failure?.description.contains("./none") == true)
            }
        }
    }
}
