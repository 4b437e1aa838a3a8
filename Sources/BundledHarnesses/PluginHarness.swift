package import CoreAPI
package import CoreAPITesting
internal import Platform
package import PluginBackend

/// Runs the cases on groups of a plugin. The plugin's stored groups are not removed.
package struct PluginHarness: ConformanceHarness {
    package let name: String
    package let peer: PeerProgram?
    private let plugin: BackendPlugin
    private let place: PluginAddress
    private let directory: @Sendable (_ group: String) -> String?

    /// Makes a harness on the groups of a plugin.
    ///
    /// - Parameters:
    ///   - values: The values of the plugin's settings by their keys.
    ///   - stateDirectory: The directory that contains the groups.
    ///   - peer: The program that acts as a second process.
    ///   - directory: Returns the directory that contains all files of a group, if the plugin has one.
    package init(
        _ plugin: BackendPlugin, values: [String: String], durability: Durability?, in stateDirectory: String,
        peer: PeerProgram?, directory: @escaping @Sendable (_ group: String) -> String? = { _ in nil }
    ) {
        self.directory = directory
        name = plugin.name
        self.peer = peer
        self.plugin = plugin
        place = PluginAddress(
            name: plugin.name, directory: Directory.parts(of: plugin.path).directory, stateDirectory: stateDirectory,
            values: values, durability: durability)
    }

    package var commitCost: CommitCost { .high }

    package var stopLimitation: HarnessLimitation? {
        plugin.features.contains(.stoppedWritersTolerated)
            ? nil : HarnessLimitation("a stopped process may delay the others with this plugin")
    }

    package func makeGroup(_ settings: GroupSettings) async throws -> any ConformanceGroup {
        let name = "conformance-" + String(UInt64.random(in: 0...UInt64.max), radix: 36)
        return PluginTestGroup(
            plugin: plugin, place: place, name: name, directory: directory(name), settings: settings)
    }

    /// Opens a group for a peer.
    static func open(
        _ words: some Sequence<String>, as description: SessionDescription
    ) async throws(SharedCoreError) -> any SharedGroup {
        let (place, group) = try PluginAddress.read(Array(words))
        guard let plugin = try BackendPlugin.load(place.name, from: place.directory) else {
            throw SharedCoreError(.unsupported, "There is no such plugin.", at: place.name)
        }
        return try await plugin.open(
            group: group, stateDirectory: place.stateDirectory, values: place.values, durability: place.durability,
            as: description)
    }
}

/// The texts of an address, each as a word without spaces.
package enum AddressWords {
    package static func line(of texts: [String]) -> String {
        texts.map { $0.replacing("%", with: "%25").replacing(" ", with: "%20") }.joined(separator: " ")
    }

    package static func texts(of words: [String]) -> [String] {
        words.map { $0.replacing("%20", with: " ").replacing("%25", with: "%") }
    }
}

/// The address of a plugin's groups. As words, it is passed to a peer in one line.
private struct PluginAddress: Sendable {
    let name: String
    let directory: String
    let stateDirectory: String
    let values: [String: String]
    let durability: Durability?

    func words(of group: String) -> String {
        let values = values.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        return AddressWords.line(
            of: ["plugin", name, directory, stateDirectory, group, durability?.rawValue ?? "any"] + values)
    }

    static func read(_ words: [String]) throws(SharedCoreError) -> (place: PluginAddress, group: String) {
        let words = AddressWords.texts(of: words)
        guard words.count >= 5 else {
            throw SharedCoreError(.invalidArgument, "The address is too short.", at: "plugin")
        }
        var values: [String: String] = [:]
        for word in words.dropFirst(5) {
            guard let sign = word.firstIndex(of: "=") else { continue }
            values[String(word[..<sign])] = String(word[word.index(after: sign)...])
        }
        return (
            PluginAddress(
                name: words[0], directory: words[1], stateDirectory: words[2], values: values,
                durability: Durability(rawValue: words[4])), words[3]
        )
    }
}

private struct PluginTestGroup: ConformanceGroup {
    let plugin: BackendPlugin
    let place: PluginAddress
    let name: String
    let directory: String?
    let settings: GroupSettings

    var address: String { place.words(of: name) }

    func open(
        _ description: SessionDescription, requiring requirements: Requirements
    ) async throws(SharedCoreError) -> any SharedGroup {
        try await plugin.open(
            group: name, stateDirectory: place.stateDirectory, values: place.values, durability: place.durability,
            requirements: requirements, limits: settings.limits, historyByteCount: settings.historyByteCount,
            clock: settings.clock, as: description)
    }

    func openToRead(_ description: SessionDescription) async throws -> any SharedGroup {
        try await plugin.openToRead(
            group: name, stateDirectory: place.stateDirectory, values: place.values, limits: settings.limits,
            historyByteCount: settings.historyByteCount, clock: settings.clock, as: description)
    }

    func remove() async {}
}
