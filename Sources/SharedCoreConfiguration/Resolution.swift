package import BackendRegistry
internal import CoreAPI
package import PluginBackend
internal import ProgramOutput

/// The configuration in force: the values of each source, by precedence, and the typed values.
///
/// Flags, or the values of an application, take precedence over the environment, the environment over the file, the
/// file over the defaults.
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
        var texts: [String: String]
        let origin: @Sendable (AnySetting) -> SettingOrigin?
    }

    /// The file that was read, if any.
    package let file: ConfigurationFile?
    /// The environment, for defaults that depend on it.
    package let environment: [String: String]
    /// The directory to which relative paths are relative, unless they are in a file.
    package let workingDirectory: WorkingDirectory

    /// The plugin that is the backend; nil for others, and before ``loadingBackend(among:)``.
    package private(set) var plugin: BackendPlugin?
    /// The backend, if it is a plugin or was added by the program; nil for a bundled one, and before ``loadingBackend(among:)``.
    package private(set) var factory: (any BackendFactory)?
    /// The backends that the program has added.
    package private(set) var added: [any BackendFactory] = []
    /// Every setting, with those of the plugin or the added backend at the end.
    package private(set) var settings = Settings.all

    private var layers: [Layer]
    /// Other configurations, which decide about some settings in place of this one.
    private var deciding: [(names: Set<String>, resolution: Resolution)] = []

    /// Resolves the configuration of a program with a command line.
    ///
    /// - Parameter flags: The values on the command line, by the settings' names.
    package init(
        flags: [String: String], environment: [String: String], file: ConfigurationFile?,
        workingDirectory: WorkingDirectory
    ) {
        self.init(
            Layer(texts: flags) { .flag($0.optionName) }, environment: environment, file: file,
            workingDirectory: workingDirectory)
    }

    /// Resolves the configuration of an application.
    ///
    /// - Parameter values: The values that an application passes, by the settings' names.
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

    /// Returns the same configuration with the settings of its backend, if that is a plugin or an added one. Loads the
    /// plugin; blocks.
    ///
    /// - Parameter added: The backends that the program has added; they take precedence over plugins with the same
    ///   names.
    /// - Throws: If the backend is neither bundled, added nor a plugin; for an added backend with an invalid name or
    ///   setting; for a plugin that cannot be loaded; and for an unknown key in the file.
    package func loadingBackend(among added: [any BackendFactory] = []) throws(ConfigurationFailure) -> Resolution {
        try Self.check(added)
        var resolution = self
        resolution.added = added
        let backend = try value(Settings.backend)
        if !Settings.backend.kind.choices.contains(backend) {
            let factory: any BackendFactory
            if let found = added.first(where: { $0.name == backend }) {
                factory = found
            } else {
                let plugin = try loadPlugin(backend)
                resolution.plugin = plugin
                factory = PluginFactory(plugin)
            }
            let settings = factory.settings.map(AnySetting.init)
            resolution.factory = factory
            resolution.settings += settings
            resolution.layers.append(
                Layer(texts: EnvironmentLayer.values(of: environment, for: settings)) {
                    .environment($0.environmentName)
                })
            if let file {
                let texts = file.others.map { ($0.name, $0.text) }
                resolution.layers.append(
                    Layer(texts: Dictionary(texts) { first, _ in first }) { file.origin(of: $0.name) })
            }
        }
        for other in file?.others ?? [] where !resolution.settings.contains(where: { $0.name == other.name }) {
            // The file may contain sections of backends that are not in use, of any kind.
            let section = String(other.name.prefix { $0 != "." })
            if let factory = resolution.factory, factory.name == section {
                throw .unknownKey(other.name, of: factory, at: other.place)
            }
            if added.contains(where: { $0.name == section }) { continue }
            guard try hasPlugin(section) else { throw other.failure }
        }
        return resolution
    }

    /// Refuses added backends that no configuration could name, and settings that conflict with others.
    private static func check(_ added: [any BackendFactory]) throws(ConfigurationFailure) {
        for (index, factory) in added.enumerated() {
            let name = factory.name
            func refuse(_ reason: String) -> ConfigurationFailure {
                ConfigurationFailure(.unsupported, at: nil, "The backend “\(name)” that this program adds \(reason).")
            }
            guard BackendPlugin.isName(name) else {
                throw refuse("has an invalid name; it must be 1 to 32 lower-case letters, digits and “-”")
            }
            guard !Settings.backend.kind.choices.contains(name) else { throw refuse("has the name of a bundled one") }
            guard !added[..<index].contains(where: { $0.name == name }) else { throw refuse("is added twice") }
            let keys = factory.settings.map(\.key)
            if let key = keys.first(where: { !$0.hasPrefix(name + ".") || $0 == name + "." }) {
                throw refuse("has the setting “\(key)”, which must begin with “\(name).”")
            }
            if let secret = factory.settings.first(where: { $0.isSecret && $0.fallback != nil }) {
                throw refuse("has the secret setting “\(secret.key)” with a default")
            }
            guard !collides(name, keys: keys) else { throw refuse("has the name or a setting of another setting") }
        }
    }

    /// Returns true if the keys of a backend, or their variables, conflict with those of other settings.
    private static func collides(_ name: String, keys: [String]) -> Bool {
        let own = keys.map { EnvironmentLayer.variable(of: $0) }
        return Set(own).count != own.count || Settings.all.contains { own.contains($0.environmentName) }
            || Settings.all.contains { $0.name == name || $0.name.hasPrefix(name + ".") }
    }

    /// The absolute path of the directory of the plugins.
    ///
    /// - Throws: If a file of the working directory names it: such a file may come from an archive, and could make this
    ///   program run its code.
    package var pluginDirectory: String {
        get throws(ConfigurationFailure) {
            guard let path = try absolutePath(Settings.pluginDirectory) else {
                throw ConfigurationFailure("pluginDirectory has no value; it must be a path.")
            }
            let found = find(Settings.pluginDirectory.erased)
            if case .file(let file, _, _)? = found?.origin, file == ConfigurationSearch.fileInWorkingDirectory,
                self.file?.isNamed == false
            {
                throw ConfigurationFailure(
                    .forbidden, at: found?.origin.description,
                    "pluginDirectory is not taken from a file that was found in the working directory; name the file with --config, "
                        + "or set \(Settings.pluginDirectory.erased.environmentName).")
            }
            return path
        }
    }

    /// The names of the installed plugins; none if the directory cannot be read.
    package var pluginNames: [String] {
        (try? pluginDirectory).flatMap { try? BackendPlugin.names(in: $0) } ?? []
    }

    /// Returns true if the directory has a plugin of a name. Blocks.
    func hasPlugin(_ name: String) throws(ConfigurationFailure) -> Bool {
        let directory = try pluginDirectory
        do throws(SharedCoreError) {
            return try BackendPlugin.names(in: directory).contains(name)
        } catch {
            throw ConfigurationFailure(error.code, at: error.location, error.message)
        }
    }

    private func loadPlugin(_ name: String) throws(ConfigurationFailure) -> BackendPlugin {
        let directory = try pluginDirectory
        do throws(SharedCoreError) {
            if let plugin = try BackendPlugin.load(name, from: directory) {
                guard !Self.collides(name, keys: plugin.settings.map(\.key)) else {
                    throw SharedCoreError(
                        .unsupported, "The name or a setting of the plugin conflicts with another setting.",
                        at: plugin.path
                    )
                }
                return plugin
            }
        } catch {
            throw ConfigurationFailure(
                error.code, at: error.location, error.cause.map { "\(error.message) (\($0))" } ?? error.message)
        }
        throw ConfigurationFailure(
            at: find(Settings.backend.erased)?.origin.description,
            "backend is “\(ProgramText.excerpt(name))”; it must be \(Settings.backend.kind.expectation) in \(directory)"
                + Spelling.suggestion(for: name, among: Settings.backend.kind.choices))
    }

    /// Returns the same configuration with some settings replaced, as if their flags had been given.
    package func overridden(by flags: [String: String]) -> Resolution {
        let layer = Layer(texts: flags) { .flag($0.optionName) }
        var resolution = self
        resolution.layers.insert(layer, at: 0)
        resolution.deciding = deciding.map { ($0.names.subtracting(flags.keys), $0.resolution) }
        return resolution
    }

    /// Returns the same configuration with some settings taken from another one, including their absence.
    package func taking(_ names: Set<String>, from other: Resolution) -> Resolution {
        var resolution = self
        resolution.deciding.insert((names, other), at: 0)
        return resolution
    }

    /// Returns the value of a setting in the first source that has it; nil if only the default is left.
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

    /// Returns the value of a setting; nil if it is not given, or given as `none`, and has no fixed default.
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

    /// Returns the value of a setting that has a fixed default.
    package func value<Value>(_ setting: Setting<Value>) throws(ConfigurationFailure) -> Value {
        guard let value = try optional(setting) else {
            throw ConfigurationFailure("\(setting.name) is not set; it must be \(setting.kind.expectation).")
        }
        return value
    }
}
