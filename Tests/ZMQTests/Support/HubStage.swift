internal import CoreAPI
internal import CoreAPITesting
internal import FileNotifyBackend
internal import InMemoryBackend
internal import Platform
internal import Replica
internal import TestSupport

@testable internal import ZMQBackend

/// A place for a hub: a directory with the group's files and the socket.
struct HubStage {
    let directory: TemporaryDirectory
    var lease = Duration.seconds(3)
    /// The keys of the hub and its client at a port.
    var keys: (hub: CurveKeyPair, client: CurveKeyPair)

    init() throws {
        directory = try TemporaryDirectory()
        keys = (try CurveKeyPair.generate(), try CurveKeyPair.generate())
    }

    func clientKeys(for endpoint: HubEndpoint) throws -> CurveClientKeys? {
        guard case .tcp = endpoint else { return nil }
        return try CurveClientKeys(own: keys.client, hub: keys.hub.publicKey)
    }

    var endpoint: HubEndpoint { .ipc(path: directory.path(of: "hub")) }
    var files: String { directory.path(of: "group") }

    /// A hub in this process.
    func hub(
        at endpoints: [HubEndpoint]? = nil, effectByteCount: Int = 4 << 20,
        files options: FileGroupOptions = FileGroupOptions(historyByteCount: 1 << 20),
        onRefusal: (@Sendable (SharedCoreError) -> Void)? = nil
    ) async throws -> Hub {
        try await Hub.start(
            HubOptions(
                group: "group", storage: .files(directory: files, options), endpoints: endpoints ?? [endpoint],
                keys: CurveHubKeys(own: keys.hub, clients: [keys.client.publicKey]), lease: lease,
                effectByteCount: effectByteCount, onRefusal: onRefusal))
    }

    /// The service of a hub, over an order of the test's own; not started yet.
    func service(_ order: any LocalOrder, at endpoint: HubEndpoint? = nil) throws -> HubService {
        try HubService(
            order: order,
            options: HubOptions(
                group: "group", storage: .memory(MemorySpace()), endpoints: [endpoint ?? self.endpoint],
                keys: CurveHubKeys(own: keys.hub, clients: [keys.client.publicKey])))
    }

    /// A hub in this process, on TCP at two ports that follow each other, and at the stage's socket.
    func hubAtFollowingPorts() async throws -> Hub {
        for _ in 0..<50 {
            let port = UInt16.random(in: 20_000..<32_000)
            if let hub = try? await hub(at: [.tcp(host: "127.0.0.1", port: port), endpoint]) { return hub }
        }
        throw HarnessLimitation("no port is free")
    }

    /// Starts a hub in a separate process. It listens when this returns.
    ///
    /// - Parameter words: The command that runs before it and executes it, such as a change of the network.
    func hubProcess(
        at endpoint: HubEndpoint? = nil, storage: String? = nil, failPoint: String? = nil,
        variables: [String: String] = [:], through words: [String] = [], memory: Int = ClientMemory.standard
    ) async throws -> HubChild {
        var arguments = [
            "hub", (endpoint ?? self.endpoint).description, storage ?? files,
            String(lease.wholeMilliseconds),
        ]
        arguments += [keys.hub.secretKey, keys.client.publicKey, "\(memory)"]
        let command = words + [try ChildProcess.built("sharedcore-test-peer")] + arguments
        let child = try ChildProcess(
            command[0], Array(command.dropFirst()),
            environment: variables.merging(failPoint.map { ["SHAREDCORE_FAIL_POINT": $0] } ?? [:]) { $1 })
        try await eventually("the hub listens") { !child.lines.isEmpty }
        let words = (child.lines.first ?? "").split(separator: " ").map(String.init)
        try expect(words.first ?? "", is: "ready", "the hub's first word of: \(child.lines)")
        return HubChild(process: child, endpoint: try HubEndpoint(words[1]))
    }

    /// Starts a participant in a separate process.
    func peer(at endpoint: HubEndpoint? = nil) async throws -> Peer {
        let peer = try Peer(PeerProgram(path: try ChildProcess.built("sharedcore-test-peer")))
        _ = try await peer.answer()
        let place = endpoint ?? self.endpoint
        let words = try clientKeys(for: place).map { " \($0.own.secretKey) \($0.hub)" } ?? ""
        try await peer.tell("open zmq \(place)\(words)")
        return peer
    }

    /// A participant that goes through a hub.
    func client(
        at endpoint: HubEndpoint? = nil, as description: SessionDescription = SessionDescription(),
        _ change: (inout ZMQGroupOptions) -> Void = { _ in }
    ) async throws -> ZMQGroup {
        var options = ZMQGroupOptions(
            historyByteCount: 1 << 20, openTimeout: TestTimeout.usual, requestTimeout: TestTimeout.usual)
        options.keys = try clientKeys(for: endpoint ?? self.endpoint)
        change(&options)
        return try await ZMQGroup.open(
            endpoint ?? self.endpoint, group: "group", as: description, options: options)
    }
}

/// A hub that runs in a process of its own.
struct HubChild {
    let process: ChildProcess
    let endpoint: HubEndpoint
}
