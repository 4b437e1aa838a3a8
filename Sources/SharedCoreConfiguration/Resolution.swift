/// The configuration that is in force: what each source says, by precedence, and the typed values.
///
/// Flags, or the values of a program, come before the environment, the environment before the file, the file before the
/// defaults.
package struct Resolution: Sendable {
    /// The text of a setting and where it was written.
    package struct Found: Hashable, Sendable {
        package let text: String
        package let origin: SettingOrigin

        package init(text: String, origin: SettingOrigin) {
            self.text = text
            self.origin = origin
        }
    }

    /// A source of values, which are all texts at this point.
    private struct Layer {
        /// By the settings' names.
        let texts: [String: String]
        let origin: @Sendable (AnySetting) -> SettingOrigin?
    }

    /// The file that was read, if any.
    package let file: ConfigurationFile?
    /// The environment, for defaults that depend on it.
    package let environment: [String: String]
    /// The directory that relative paths start from, unless they stand in a file.
    package let workingDirectory: WorkingDirectory

    private let layers: [Layer]
    /// Other configurations, which decide about some settings in place of this one.
    private var deciding: [(names: Set<String>, resolution: Resolution)] = []

    /// - Parameter flags: The values that the command line gives, by the settings' names.
    package init(
        flags: [String: String], environment: [String: String], file: ConfigurationFile?,
        workingDirectory: WorkingDirectory
    ) {
        self.init(
            Layer(texts: flags) { .flag($0.optionName) }, environment: environment, file: file,
            workingDirectory: workingDirectory)
    }

    /// - Parameter values: The values that a program gives, by the settings' names.
    package init(
        values: [String: String], environment: [String: String], file: ConfigurationFile?,
        workingDirectory: WorkingDirectory
    ) {
        self.init(
            Layer(texts: values) { .value($0.name) }, environment: environment, file: file,
            workingDirectory: workingDirectory)
    }

    private init(
        _ given: Layer, environment: [String: String], file: ConfigurationFile?, workingDirectory: WorkingDirectory
    ) {
        self.file = file
        self.environment = environment
        self.workingDirectory = workingDirectory
        var layers = [
            given, Layer(texts: EnvironmentLayer.values(of: environment)) { .environment($0.environmentName) },
        ]
        if let file { layers.append(Layer(texts: file.values) { file.origin(of: $0.name) }) }
        self.layers = layers
    }

    private init(overriding former: Resolution, layers: [Layer]) {
        file = former.file
        environment = former.environment
        workingDirectory = former.workingDirectory
        self.layers = layers
    }

    /// The same configuration with some settings otherwise, as if their flags had been given.
    package func overridden(by flags: [String: String]) -> Resolution {
        let layer = Layer(texts: flags) { .flag($0.optionName) }
        var resolution = Resolution(overriding: self, layers: [layer] + layers)
        resolution.deciding = deciding.map { ($0.names.subtracting(flags.keys), $0.resolution) }
        return resolution
    }

    /// The same configuration with some settings as another one has them, given or not.
    package func taking(_ names: Set<String>, from other: Resolution) -> Resolution {
        var resolution = self
        resolution.deciding.insert((names, other), at: 0)
        return resolution
    }

    /// What the first source that knows a setting says; nil when only the default is left.
    package func find(_ setting: AnySetting) -> Found? {
        if let other = deciding.first(where: { $0.names.contains(setting.name) })?.resolution {
            return other.find(setting)
        }
        for layer in layers {
            if let text = layer.texts[setting.name], let origin = layer.origin(setting) {
                return Found(text: text, origin: origin)
            }
        }
        return nil
    }

    /// The value of a setting; nil when it was given nowhere, or as `none`, and has no fixed default.
    package func optional<Value>(_ setting: Setting<Value>) throws(ConfigurationFailure) -> Value? {
        let erased = setting.erased
        if let found = find(erased) {
            if setting.fallback.isGiven(by: found.text) { return nil }
            guard let value = setting.kind.parse(found.text) else {
                throw .wrongValue(found.text, of: erased, at: found.origin.description)
            }
            return value
        }
        guard case .text(let text) = setting.fallback else { return nil }
        return setting.kind.parse(text)
    }

    /// The value of a setting that has a fixed default.
    package func value<Value>(_ setting: Setting<Value>) throws(ConfigurationFailure) -> Value {
        guard let value = try optional(setting) else {
            throw ConfigurationFailure("\(setting.name) is not set; it must be \(setting.kind.expectation).")
        }
        return value
    }
}
