internal import CBackendPlugin
public import CoreAPI
internal import LogBackend
internal import Platform

/// A loaded plugin: its table of functions, and its description.
///
/// A plugin is loaded once and never unloaded.
///
/// Source: decision 50.
public struct BackendPlugin: Sendable {
    /// A setting that the plugin knows.
    public struct Setting: Hashable, Sendable {
        /// The key, with the plugin's name in front: `redis.url`.
        public let key: String
        /// The default; nil for none.
        public let fallback: String?
        /// One line for people.
        public let summary: String
        /// True if the value is a path, which the caller must make absolute.
        public let isPath: Bool
        /// True if the value is a secret, which nothing prints.
        public let isSecret: Bool
    }

    /// The name by which a configuration chooses the plugin.
    public let name: String
    /// The plugin's own version, for people.
    public let version: String
    /// The absolute path of the file.
    public let path: String
    /// The settings that the plugin knows, in the order of its table.
    public let settings: [Setting]
    /// The durability and the features of its table. An open group may promise others.
    public let durability: Durability
    public let features: Set<Capability>

    let table: PluginTable

    /// Loads the plugin of a name from a directory; nil if the directory has none.
    ///
    /// - Parameters:
    ///   - name: The name, as in the configuration.
    ///   - directory: The absolute path of the directory.
    /// - Throws: ``SharedCoreError/Code/forbidden`` if a user other than this one and root could change the file.
    ///   ``SharedCoreError/Code/incompatible`` for another version of the interface.
    ///   ``SharedCoreError/Code/unsupported`` for a file that cannot be loaded, or one with an invalid table.
    ///   ``SharedCoreError/Code/unavailable`` if the plugin's code does not return within 10 s.
    public static func load(_ name: String, from directory: String) throws(SharedCoreError) -> BackendPlugin? {
        guard isName(name) else { return nil }
        guard let path = try PluginDirectory.path(of: file(of: name), in: directory) else { return nil }
        return BackendPlugin(try PluginTable.load(path, named: name), named: name, at: path)
    }

    private init(_ table: PluginTable, named name: String, at path: String) {
        self.name = name
        self.path = path
        self.table = table
        version = table.version
        settings = table.settings
        durability = table.promises.durability
        features = table.promises.features
    }

    /// Joins a group whose log the plugin keeps.
    ///
    /// - Parameters:
    ///   - group: The group's name.
    ///   - stateDirectory: The absolute path of the directory that contains the groups.
    ///   - values: The values of ``settings`` by their keys; a missing value is the default.
    ///   - durability: The failures that a commit must survive; nil for the plugin's own choice.
    ///   - openTimeout: How long the plugin may try to reach its log; nil for 10 s.
    ///   - requirements: The features that the caller relies on.
    ///   - limits: The size limits of requests; nil for the defaults.
    ///   - historyByteCount: The bytes of memory for changes that watches resume from; nil for the default.
    ///   - clock: The clock by which entries expire; nil for the system's clock.
    ///   - description: The description that the participant gives of itself.
    /// - Throws: ``SharedCoreError/Code/invalidArgument`` for a key that the plugin does not have; otherwise the
    ///   plugin's errors, and those of ``ReplicatedGroup/open(log:as:options:)``.
    public func open(
        group: String, stateDirectory: String, values: [String: String] = [:], durability: Durability? = nil,
        openTimeout: Duration? = nil, requirements: Requirements = .none, limits: Limits? = nil,
        historyByteCount: Int? = nil, clock: (any TimeSource)? = nil,
        as description: SessionDescription = SessionDescription()
    ) async throws(SharedCoreError) -> any SharedGroup {
        var (log, options) = try await log(
            PluginPlace(
                group: group, stateDirectory: stateDirectory, durability: durability, readsOnly: false,
                values: try self.values(values), secrets: secrets(among: values),
                timeout: openTimeout ?? Self.openTimeout), requirements)
        options.adjust(limits, historyByteCount, clock)
        return try await ReplicatedGroup.open(log: log, as: description, options: options)
    }

    /// Opens the group to read it at its present revision: no session, no revision.
    ///
    /// Source: contract L4.
    ///
    /// The parameters are those of ``open(group:stateDirectory:values:durability:openTimeout:requirements:limits:historyByteCount:clock:as:)``.
    ///
    /// - Throws: ``SharedCoreError/Code/unavailable`` if there is no such group, otherwise as that call.
    public func openToRead(
        group: String, stateDirectory: String, values: [String: String] = [:], openTimeout: Duration? = nil,
        limits: Limits? = nil, historyByteCount: Int? = nil, clock: (any TimeSource)? = nil,
        as description: SessionDescription = SessionDescription()
    ) async throws(SharedCoreError) -> any SharedGroup {
        var (log, options) = try await log(
            PluginPlace(
                group: group, stateDirectory: stateDirectory, durability: nil, readsOnly: true,
                values: try self.values(values), secrets: secrets(among: values),
                timeout: openTimeout ?? Self.openTimeout), .none)
        options.adjust(limits, historyByteCount, clock)
        return try await ReplicatedGroup.openToRead(log: log, as: description, options: options)
    }

    /// True while the file of a plugin is being loaded, also one that was given up. Its thread may hold the lock of the
    /// dynamic linker, for which `exit()` waits.
    package static var isLoading: Bool { PluginTable.isLoading }

    private static let openTimeout = Duration.seconds(10)

    /// Returns the values in the order of the settings.
    private func values(_ values: [String: String]) throws(SharedCoreError) -> [String?] {
        if let key = values.keys.sorted().first(where: { key in !settings.contains { $0.key == key } }) {
            throw SharedCoreError(.invalidArgument, "The plugin has no setting “\(key)”.", at: path)
        }
        return settings.map { values[$0.key] ?? $0.fallback }
    }

    private func secrets(among values: [String: String]) -> [String] {
        settings.filter(\.isSecret).compactMap { values[$0.key] }
    }

    private func log(
        _ place: PluginPlace, _ requirements: Requirements
    ) async throws(SharedCoreError) -> (PluginLog, LogGroupOptions) {
        let log = try await PluginLog.open(table, place)
        var options = LogGroupOptions(
            backend: name, features: log.promises.features, durability: log.promises.durability,
            wakeUp: log.promises.wakeUp, requirements: requirements)
        if let durability = place.durability, durability > (requirements.durability ?? .memory) {
            options.requirements.durability = durability
        }
        return (log, options)
    }

    /// Returns the names of the plugins in a directory, in alphabetical order; none if there is no directory.
    ///
    /// - Parameter directory: The absolute path of the directory.
    public static func names(in directory: String) throws(SharedCoreError) -> [String] {
        try PluginDirectory.files(in: directory).compactMap { file in
            guard file.hasPrefix(prefix), file.hasSuffix(suffix) else { return nil }
            let name = String(file.dropFirst(prefix.count).dropLast(suffix.count))
            return isName(name) ? name : nil
        }.sorted()
    }

    /// Returns true if a text can be the name of a plugin: a letter, then letters, digits and hyphens, at most 32 in
    /// all.
    public static func isName(_ text: String) -> Bool {
        guard (1...32).contains(text.utf8.count), let first = text.utf8.first else { return false }
        return isLetter(first) && text.utf8.allSatisfy { isLetter($0) || isDigit($0) || $0 == UInt8(ascii: "-") }
    }

    private static let prefix = "libsharedcore-"
    private static let suffix = ".so"

    private static func file(of name: String) -> String { prefix + name + suffix }

    private static func isLetter(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}

extension LogGroupOptions {
    fileprivate mutating func adjust(_ limits: Limits?, _ historyByteCount: Int?, _ clock: (any TimeSource)?) {
        if let limits { self.limits = limits }
        if let historyByteCount { self.historyByteCount = historyByteCount }
        if let clock { self.clock = clock }
    }
}
