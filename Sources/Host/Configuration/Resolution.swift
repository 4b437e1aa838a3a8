internal import BackendRegistry
internal import Configuration
internal import CoreAPI

/// The configuration that is in force: what each source says, by precedence, and the typed values.
///
/// Flags come before the environment, the environment before the file, the file before the defaults.
struct Resolution: Sendable {
    /// The text of a setting and where it was written.
    struct Found: Hashable, Sendable {
        let text: String
        let origin: SettingOrigin
    }

    /// A source of values, which are all texts at this point.
    private struct Layer {
        let snapshot: any ConfigSnapshot
        let origin: @Sendable (AnySetting) -> SettingOrigin?
    }

    /// The file that was read, if any.
    let file: ConfigurationFile?
    /// The environment, for defaults that depend on it.
    let environment: [String: String]
    /// The directory that relative paths start from, unless they stand in a file.
    let workingDirectory: WorkingDirectory

    private let layers: [Layer]
    /// Other configurations, which decide about some settings in place of this one.
    private var deciding: [(names: Set<String>, resolution: Resolution)] = []

    /// - Parameter flags: The values that the command line gives, by the settings' names.
    init(
        flags: [String: String], environment: [String: String], file: ConfigurationFile?,
        workingDirectory: WorkingDirectory
    ) {
        self.file = file
        self.environment = environment
        self.workingDirectory = workingDirectory
        var layers = [
            Self.layer(of: flags),
            Layer(
                snapshot: EnvironmentLayer.provider(of: environment).snapshot(),
                origin: { .environment($0.environmentName) }),
        ]
        if let file { layers.append(Self.layer(of: file.values, named: file.path) { file.origin(of: $0.name) }) }
        self.layers = layers
    }

    private init(overriding former: Resolution, layers: [Layer]) {
        file = former.file
        environment = former.environment
        workingDirectory = former.workingDirectory
        self.layers = layers
    }

    /// The same configuration with some settings otherwise, as if their flags had been given.
    func overridden(by flags: [String: String]) -> Resolution {
        var resolution = Resolution(overriding: self, layers: [Self.layer(of: flags)] + layers)
        resolution.deciding = deciding.map { ($0.names.subtracting(flags.keys), $0.resolution) }
        return resolution
    }

    /// The same configuration with some settings as another one has them, given or not.
    func taking(_ names: Set<String>, from other: Resolution) -> Resolution {
        var resolution = self
        resolution.deciding.insert((names, other), at: 0)
        return resolution
    }

    private static func layer(
        of texts: [String: String], named name: String = "flags",
        origin: @escaping @Sendable (AnySetting) -> SettingOrigin? = { .flag($0.optionName) }
    ) -> Layer {
        var values: [AbsoluteConfigKey: ConfigValue] = [:]
        for setting in Settings.all {
            if let text = texts[setting.name] { values[setting.key] = ConfigValue(.string(text), isSecret: false) }
        }
        return Layer(snapshot: InMemoryProvider(name: name, values: values).snapshot(), origin: origin)
    }

    /// What the first source that knows a setting says; nil when only the default is left.
    func find(_ setting: AnySetting) throws(CommandFailure) -> Found? {
        if let other = deciding.first(where: { $0.names.contains(setting.name) })?.resolution {
            return try other.find(setting)
        }
        for layer in layers {
            do {
                let result = try layer.snapshot.value(forKey: setting.key, type: .string)
                if case .string(let text) = result.value?.content, let origin = layer.origin(setting) {
                    return Found(text: text, origin: origin)
                }
            } catch {
                throw .configuration("\(setting.name): \(error).")
            }
        }
        return nil
    }

    /// The value of a setting; nil when it was given nowhere and has no fixed default.
    func optional<Value>(_ setting: Setting<Value>) throws(CommandFailure) -> Value? {
        let erased = setting.erased
        if let found = try find(erased) {
            guard let value = setting.kind.parse(found.text) else {
                throw .wrongValue(found.text, of: erased, at: found.origin.description)
            }
            return value
        }
        guard case .text(let text) = setting.fallback else { return nil }
        return setting.kind.parse(text)
    }

    /// The value of a setting that has a fixed default.
    func value<Value>(_ setting: Setting<Value>) throws(CommandFailure) -> Value {
        guard let value = try optional(setting) else {
            throw .configuration("\(setting.name) is not set; it must be \(setting.kind.expectation).")
        }
        return value
    }
}
