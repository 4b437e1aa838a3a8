internal import ArgumentParser
internal import BackendRegistry
internal import BundledHarnesses
internal import CoreAPI
internal import CoreAPITesting
internal import FoundationEssentials
internal import Platform
internal import ProgramOutput
internal import SharedCoreConfiguration
internal import Synchronization

#if Etcd
    internal import EtcdBackend
#endif
#if ZMQ
    internal import ZMQBackend
#endif

/// `conformance`: tries the contract on the configured backend.
struct ConformanceCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "conformance", abstract: "Test the contract's rules on the configured backend.",
        discussion: HelpPage.text(
            """
            Every case runs on groups of its own in a temporary directory. The result is a table; with --json it is an object for \
            each case and a last one with event=summary. Status 1 when a case failed; 130 or 143 when SIGINT or SIGTERM came \
            first: the results until then are printed.
            """, examples: ["sharedcore conformance --backend file", "sharedcore conformance --only S6"]))

    @OptionGroup(visibility: GlobalOptions.visibility) var global: GlobalOptions

    @Option(help: "Only the cases with this id or rule, or with this text in their title: S6, W1b, torn.")
    var only: String?

    @Option(help: "The seed of the random choices, to replay a failure that names it.")
    var seed: UInt64?

    func run() async throws {
        try await CommandFrame(global: global).run(until: []) { try await run(in: $0) }
    }

    func run(in context: CommandContext) async throws {
        try context.resolution.checkBackend(among: context.registry.names)
        let cases = only.map(ConformanceSuite.cases(matching:)) ?? ConformanceSuite.cases
        guard !cases.isEmpty else {
            throw CommandFailure(
                .usage, "no case has the id, the rule or the words “\(only ?? "")”; there are \(Self.rules).")
        }
        let directory = try ScratchDirectory(for: "conformance", environment: context.resolution.environment)
        defer { directory.remove(logger: context.logger) }
        let harness = try await harness(in: directory.path, for: context.resolution)
        let output = context.output
        let hasProgress = !output.json && StandardStream.error.isTerminal
        var report = ConformanceReport(backend: harness.name, caseCount: cases.count)
        let interruption = try Interruption<CaseResult>()
        for (number, conformanceCase) in cases.enumerated() where !interruption.isRaised {
            if hasProgress { ProgressBar.show(number, of: cases.count, at: conformanceCase.id) }
            let result = try await interruption.run { await conformanceCase.run(on: harness, seed: seed) }
            report.add(result)
            if output.json { try await output.emit(text: "", json: ConformanceReport.json(result)) }
        }
        if hasProgress { ProgressBar.clear() }
        try await output.emit(lines: report.lines, json: report.json)
        if report.interrupted > 0 { try interruption.check() }
        if report.count(of: "failed") > 0 { throw CommandFailure(.no) }
    }

    private func harness(in directory: String, for resolution: Resolution) async throws -> any ConformanceHarness {
        let own = try OwnProgram.path
        let peer = PeerProgram(path: own, arguments: [ConformancePeerCommand.name])
        let durability = try resolution.value(Settings.durability)
        if let plugin = resolution.plugin {
            let configuration = try resolution.backendConfiguration()
            return PluginHarness(
                plugin, values: configuration.settings, durability: configuration.durability, in: directory, peer: peer)
        }
        if let factory = resolution.factory {
            var configuration = try resolution.backendConfiguration()
            configuration.stateDirectory = directory
            do throws(SharedCoreError) {
                return try await FactoryHarness(factory, configuration: configuration, peer: peer)
            } catch {
                throw try CommandFailure.opening(error, with: resolution)
            }
        }
        switch try resolution.value(Settings.backend) {
        case "memory": return MemoryHarness()
        #if ZMQ
            case "zmq": return try zmqHarness(in: directory, for: resolution, durability: durability, peer: peer)
        #endif
        #if Etcd
            case "etcd":
                return EtcdHarness(
                    at: try resolution.etcdCluster(), peer: peer,
                    server: EtcdHarness.ServerProgram("etcd", in: directory))
        #endif
        default: return FileHarness(durability: durability, in: directory, peer: peer)
        }
    }

    #if ZMQ
        /// Returns the harness for hubs of this process with the configured endpoint and storage.
        private func zmqHarness(
            in directory: String, for resolution: Resolution, durability: Durability, peer: PeerProgram
        ) throws -> any ConformanceHarness {
            let storage: ZMQHarness.Storage =
                switch (try resolution.value(Settings.zmqStorage), durability) {
                case ("memory", _): .memory
                case (_, .disk): .filesOnDisk
                default: .files
                }
            var transport = ZMQHarness.Transport.ipc
            if case .tcp = try resolution.hubEndpoint() { transport = .tcp }
            return ZMQHarness(storage, over: transport, in: directory, peer: peer)
        }
    #endif

    private static var rules: String {
        var rules: [String] = []
        for conformanceCase in ConformanceSuite.cases where rules.last != conformanceCase.rule {
            rules.append(conformanceCase.rule)
        }
        return rules.joined(separator: ", ")
    }
}

/// The second process of a conformance case. Started by `conformance`, not by people.
struct ConformancePeerCommand: AsyncParsableCommand {
    static let name = "conformance-peer"
    static let configuration = CommandConfiguration(commandName: name, shouldDisplay: false)

    func run() async {
        // The terminal sends SIGINT to the whole foreground group, but only `conformance` should handle it: it ends its
        // peers.
        OwnProcess.ignore(.interrupt)
        let added = SharedCoreProgram.added
        await FileHarness.servePeer { words, description throws(SharedCoreError) in
            try await FactoryHarness.open(words, among: added, as: description)
        }
    }
}
