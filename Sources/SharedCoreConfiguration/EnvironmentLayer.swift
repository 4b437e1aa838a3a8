internal import Platform
internal import ProgramOutput

/// The settings that the environment gives: variables that begin with `SHAREDCORE_`.
package enum EnvironmentLayer {
    package static let prefix = "SHAREDCORE_"

    /// The file to read, when the caller does not name one.
    package static let fileVariable = prefix + "CONFIG"

    /// Variables that are no settings and decide where files are.
    private static let places = UserDirectory.variables + ["TMPDIR", "NOTIFY_SOCKET"]

    /// Reads the environment of this process. Variables that are not UTF-8 are left out if this package does not read
    /// them.
    package static func ofProcess() throws(ConfigurationFailure) -> [String: String] {
        var environment: [String: String] = [:]
        for variable in OwnProcess.environment {
            guard let name = String(validating: variable.name, as: UTF8.self) else { continue }
            do throws(ProgramText.NotText) {
                environment[name] = try ProgramText.text(variable.value)
            } catch {
                guard name.hasPrefix(prefix) || places.contains(name) else { continue }
                throw ConfigurationFailure(at: name, "\(error); it must be text.")
            }
        }
        return environment
    }

    /// True if this process has more rights than its caller (`AT_SECURE`): a set-user-ID or set-group-ID program, or
    /// one with capabilities. The environment is the caller's, and so are the files that it leads to.
    static var isForeign: Bool { OwnProcess.hasMoreRightsThanCaller }

    /// Returns the settings that variables give, by their names. An empty variable counts as unset.
    static func values(of environment: [String: String], for settings: [AnySetting] = Settings.all) -> [String: String]
    {
        var values: [String: String] = [:]
        for setting in settings {
            if let text = environment[setting.environmentName], !text.isEmpty { values[setting.name] = text }
        }
        return values
    }

    /// Returns the variable of a key.
    package static func variable(of key: String) -> String { prefix + name(of: key) }

    /// Returns the variable's name without the prefix: `MAXIMUM_TIMEOUT` for `maximumTimeout`.
    ///
    /// - Parameter key: ASCII.
    static func name(of key: String) -> String {
        var name: [UInt8] = []
        var isBehindLowercase = false
        for byte in key.utf8 {
            switch byte {
            case UInt8(ascii: "."), UInt8(ascii: "-"): name.append(UInt8(ascii: "_"))
            case UInt8(ascii: "a")...UInt8(ascii: "z"): name.append(byte - 0x20)
            case UInt8(ascii: "A")...UInt8(ascii: "Z") where isBehindLowercase: name += [UInt8(ascii: "_"), byte]
            default: name.append(byte)
            }
            isBehindLowercase = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
        }
        return String(decoding: name, as: UTF8.self)
    }
}
