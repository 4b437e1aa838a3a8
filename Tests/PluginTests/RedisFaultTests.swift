import CoreAPI
import CoreAPITesting
internal import CoreAPITestingAdapters
internal import Platform
internal import Synchronization
import TestSupport
import Testing

@testable import PluginBackend

/// The plugin for Redis, with a server that is killed and filled, and connections that are cut and slow. The other cases run with
/// `Scripts/try-plugins`.
@Suite("Faults of a Redis server and of its connections", .serialized, .enabled(if: TestScope.isAtLength))
struct RedisFaultTests {
    private static let cases = ConformanceSuite.cases.filter { $0.fault != nil }

    @Test("a log in a stream of Redis, in C", arguments: RedisFaultTests.cases)
    func conforms(conformanceCase: ConformanceCase) async throws {
        let build = try await PluginTests.build.value
        try await build.compileRedis()
        let plugin = try #require(try BackendPlugin.load("redis", from: build.path))
        let server = try await RedisServer()
        await conformanceCase.test(on: RedisHarness(plugin: plugin, server: server))
        await server.end()
    }
}

/// A server of its own, at a unix socket, which answers after its disk has confirmed.
private final class RedisServer: Sendable {
    let directory: TemporaryDirectory
    private let process = Mutex<ChildProcess?>(nil)

    var socket: String { directory.path + "/redis" }

    init() async throws {
        directory = try TemporaryDirectory()
        try await start()
    }

    private func start() async throws {
        let child = try await ChildProcess.start(
            "redis-server",
            [
                "--port", "0", "--unixsocket", socket, "--unixsocketperm", "700", "--dir", directory.path, "--save", "",
                "--appendonly", "yes", "--appendfsync", "always",
            ])
        process.withLock { $0 = child }
        try await eventually("Redis answers") { try await self.tell("ping") == "PONG" }
    }

    func restart() async throws {
        await end()
        try await start()
    }

    func end() async { await process.withLock { $0 }?.killNow() }

    /// Returns the first line of the answer to a command; nil if there is none.
    @discardableResult
    func tell(_ words: String...) async throws -> String? {
        let client = try await ChildProcess.start("redis-cli", ["-s", socket] + words, keepsErrors: true)
        _ = await client.end()
        return client.lines.first
    }
}

private struct RedisHarness: ConformanceHarness {
    let name = "redis"
    let plugin: BackendPlugin
    let server: RedisServer

    var commitCost: CommitCost { .high }

    func makeGroup(_ settings: GroupSettings) async throws -> any ConformanceGroup {
        RedisGroup(plugin: plugin, server: server, settings: settings)
    }
}

private final class RedisGroup: ConformanceGroup {
    private let plugin: BackendPlugin
    private let server: RedisServer
    private let settings: GroupSettings
    private let connections = FaultyConnections()

    init(plugin: BackendPlugin, server: RedisServer, settings: GroupSettings) {
        self.plugin = plugin
        self.server = server
        self.settings = settings
    }

    func open(
        _ description: SessionDescription, requiring requirements: Requirements
    ) async throws(SharedCoreError) -> any SharedGroup {
        let path = server.directory.path + "/" + String(UInt32.random(in: 0...UInt32.max), radix: 36)
        let connection = try FaultyConnection(at: path, to: server.socket)
        let group = try await plugin.open(
            group: "faults", stateDirectory: "/", values: ["redis.url": "unix:\(path)"], requirements: requirements,
            limits: settings.limits, historyByteCount: settings.historyByteCount, clock: settings.clock,
            as: description)
        connections.add([connection], of: group)
        return group
    }

    func remove() async { connections.end() }

    func cut(_ handle: any SharedGroup) async throws { try connections.cut(handle) }
    func mend(_ handle: any SharedGroup) async throws { try connections.mend(handle) }
    func delay(_ handle: any SharedGroup, by time: Duration) async throws { try connections.delay(handle, by: time) }
    func restartServer() async throws { try await server.restart() }
    func fillServer() async throws { try await server.tell("config", "set", "maxmemory", "1") }
    func emptyServer() async throws { try await server.tell("config", "set", "maxmemory", "0") }
}
