internal import BackendRegistry
internal import BundledHarnesses
internal import CoreAPI
internal import CoreAPITesting
internal import Platform

/// Runs the cases on groups of a backend that the program adds. It cannot remove groups that are outside of the state
/// directory.
struct FactoryHarness: ConformanceHarness {
    private static let word = "added"

    let peer: PeerProgram?
    let stopLimitation: HarnessLimitation?
    private let factory: any BackendFactory
    private let configuration: BackendConfiguration

    var name: String { factory.name }
    var commitCost: CommitCost { .high }

    /// Opens a group to read the backend's capabilities.
    ///
    /// - Parameters:
    ///   - configuration: The configuration of all groups, without the name.
    ///   - peer: The program that acts as a second process; it calls ``open(_:among:as:)``.
    init(
        _ factory: any BackendFactory, configuration: BackendConfiguration, peer: PeerProgram?
    ) async throws(SharedCoreError) {
        self.factory = factory
        self.configuration = configuration
        var configuration = configuration
        configuration.group = Self.randomName()
        let group = try await factory.open(configuration, as: SessionDescription(role: .tool, name: "conformance"))
        let features = group.capabilities.features
        await group.close()
        // A group of one process has no second one.
        self.peer = features.contains(.multipleProcesses) ? peer : nil
        stopLimitation =
            features.contains(.stoppedWritersTolerated)
            ? nil : HarnessLimitation("a stopped process may delay the others with this backend")
    }

    func makeGroup(_ settings: GroupSettings) async throws -> any ConformanceGroup {
        guard settings.clock == nil, settings.limits == nil, settings.historyByteCount == nil else {
            throw HarnessLimitation(
                "a backend that a program adds opens groups by their configuration, which has no clock, limits or history size"
            )
        }
        var configuration = configuration
        configuration.group = Self.randomName()
        return FactoryTestGroup(factory: factory, configuration: configuration)
    }

    private static func randomName() -> String { "conformance-" + String(UInt64.random(in: 0...UInt64.max), radix: 36) }

    /// Opens the group at an address of ``line(of:)``; returns nil for another address.
    static func open(
        _ words: [String], among factories: [any BackendFactory], as description: SessionDescription
    ) async throws(SharedCoreError) -> (any SharedGroup)? {
        guard words.first == word else { return nil }
        let texts = AddressWords.texts(of: words)
        guard texts.count >= 5, let factory = factories.first(where: { $0.name == texts[1] }) else {
            throw SharedCoreError(.invalidArgument, "There is no such backend.", at: texts.dropFirst().first ?? word)
        }
        var settings: [String: String] = [:]
        for text in texts.dropFirst(5) {
            guard let sign = text.firstIndex(of: "=") else { continue }
            settings[String(text[..<sign])] = String(text[text.index(after: sign)...])
        }
        return try await factory.open(
            BackendConfiguration(
                backend: texts[1], group: texts[3], stateDirectory: texts[2],
                durability: Durability(rawValue: texts[4]),
                settings: settings),
            as: description)
    }

    /// Returns the address of a group for the peer.
    fileprivate static func line(of configuration: BackendConfiguration) -> String {
        let settings = configuration.settings.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        return AddressWords.line(
            of: [
                word, configuration.backend, configuration.stateDirectory, configuration.group,
                configuration.durability?.rawValue ?? "any",
            ] + settings)
    }
}

private struct FactoryTestGroup: ConformanceGroup {
    let factory: any BackendFactory
    let configuration: BackendConfiguration

    var address: String { FactoryHarness.line(of: configuration) }

    func open(
        _ description: SessionDescription, requiring requirements: Requirements
    ) async throws(SharedCoreError) -> any SharedGroup {
        var configuration = configuration
        configuration.requirements = requirements
        return try await factory.open(configuration, as: description)
    }

    func openToRead(_ description: SessionDescription) async throws -> any SharedGroup {
        do throws(SharedCoreError) {
            return try await factory.openToRead(configuration, as: description)
        } catch {
            guard error.code == .unsupported else { throw error }
            throw HarnessLimitation(error.message)
        }
    }

    func remove() async {}
}
