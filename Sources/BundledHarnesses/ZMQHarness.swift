#if ZMQ
    internal import CoreAPI
    package import CoreAPITesting
    internal import FileNotifyBackend
    internal import InMemoryBackend
    internal import Platform
    internal import Synchronization
    internal import ZMQBackend

    /// Tries groups behind a hub, which lives in this process.
    package struct ZMQHarness: ConformanceHarness {
        /// How long clients wait for the hub: on a machine that does much else, its thread may not run for seconds.
        fileprivate static let patience = Duration.seconds(60)

        /// The store behind the hub.
        package enum Storage: Sendable {
            case memory, files, filesOnDisk
        }

        /// How clients reach the hub.
        package enum Transport: Sendable {
            case ipc
            /// Over the loopback device, with CURVE.
            case tcp
            case inproc
        }

        package let name: String
        package let peer: PeerProgram?
        private let storage: Storage
        private let transport: Transport
        private let parent: String

        /// - Parameters:
        ///   - parent: The directory in which each group gets one of its own; it must exist, and its path be short.
        ///   - peer: The program that plays a second process.
        package init(_ storage: Storage, over transport: Transport, in parent: String, peer: PeerProgram?) {
            self.name = "zmq \(transport) in front of \(storage)"
            self.storage = storage
            self.transport = transport
            self.parent = parent
            if case .inproc = transport { self.peer = nil } else { self.peer = peer }
        }

        package var commitCost: CommitCost { .high }

        package var stopLimitation: HarnessLimitation? {
            guard case .tcp = transport else { return nil }
            return HarnessLimitation(
                "over tcp a stopped process is not seen, and an owner waited for as long as its lease")
        }

        package var failPoints: FailPointSet {
            #if FAIL_POINTS
                FailPointSet(beforePublication: ["link.beforeSend"], afterPublication: ["link.afterAnswer"])
            #else
                FailPointSet()
            #endif
        }

        package func makeGroup(_ settings: GroupSettings) async throws -> any ConformanceGroup {
            let directory = parent + "/" + String(UInt64.random(in: 0...UInt64.max), radix: 36)
            _ = try Directory.create(path: directory, permissions: 0o700)
            let hub: HubOptions.Storage =
                switch storage {
                case .memory:
                    .memory(
                        MemorySpace(
                            clock: settings.clock ?? SystemClock(), limits: settings.limits ?? Limits(),
                            historyByteCount: settings.historyByteCount ?? 1 << 20))
                case .files, .filesOnDisk:
                    .files(
                        directory: directory + "/group",
                        FileGroupOptions(
                            durability: storage == .filesOnDisk ? .disk : .process, limits: settings.limits ?? Limits(),
                            historyByteCount: settings.historyByteCount ?? 1 << 20,
                            clock: settings.clock ?? SystemClock()))
                }
            let name = "group"
            var keys: (hub: CurveHubKeys, client: CurveClientKeys)?
            let endpoint: HubEndpoint
            switch transport {
            case .ipc: endpoint = .ipc(path: directory + "/hub")
            case .inproc: endpoint = .inproc(name: directory)
            case .tcp:
                endpoint = Self.unusedEndpoint
                let (hubPair, clientPair) = (try CurveKeyPair.generate(), try CurveKeyPair.generate())
                keys = (
                    try CurveHubKeys(own: hubPair, clients: [clientPair.publicKey]),
                    try CurveClientKeys(own: clientPair, hub: hubPair.publicKey)
                )
            }
            // The cases stop participants for as long as they take; leases that run out are tried in ZMQTests.
            let options = HubOptions(
                group: name, storage: hub, endpoints: [endpoint], keys: keys?.hub, lease: .seconds(600))
            return ZMQTestGroup(
                hub: try await start(options), options: options, parent: directory, keys: keys?.client,
                settings: settings)
        }

        /// A port, and the one after it for the stream, below those that the system gives away by itself: a hub that
        /// starts again finds both as it left them, also when other programs connect on this machine.
        private static var unusedEndpoint: HubEndpoint {
            .tcp(host: "127.0.0.1", port: UInt16.random(in: 5_000..<16_000) * 2)
        }

        /// Starts a hub, at another port when this one is taken.
        private func start(_ options: HubOptions) async throws(SharedCoreError) -> Hub {
            guard case .tcp = transport else { return try await Hub.start(options) }
            var options = options
            for _ in 1..<10 {
                do throws(SharedCoreError) {
                    return try await Hub.start(options)
                } catch {
                    guard error.code == .unavailable else { throw error }
                    options.endpoints = [Self.unusedEndpoint]
                }
            }
            return try await Hub.start(options)
        }
    }

    /// One group behind a hub of its own.
    private final class ZMQTestGroup: ConformanceGroup {
        private struct Running {
            var hub: Hub
            /// The run of the machine in which it was started.
            var bootID: BootID?
        }

        private let running: Mutex<Running>
        private let options: HubOptions
        private let endpoint: HubEndpoint
        private let parent: String
        private let keys: CurveClientKeys?
        private let settings: GroupSettings

        init(hub: Hub, options: HubOptions, parent: String, keys: CurveClientKeys?, settings: GroupSettings) {
            running = Mutex(Running(hub: hub, bootID: settings.clock?.bootID))
            endpoint = hub.endpoints[0]
            self.options = options
            self.parent = parent
            self.keys = keys
            self.settings = settings
        }

        var address: String {
            let words = ["zmq", endpoint.description] + (keys.map { [$0.own.secretKey, $0.hub] } ?? [])
            return words.joined(separator: " ")
        }

        /// The files behind the hub.
        var directory: String? {
            guard case .files(let directory, _) = options.storage else { return nil }
            return directory
        }

        func open(
            _ description: SessionDescription, requiring requirements: Requirements
        ) async throws(SharedCoreError) -> any SharedGroup {
            try await restartWithMachine()
            return try await ZMQGroup.open(
                endpoint, group: "group", as: description,
                options: ZMQGroupOptions(
                    requirements: requirements, historyByteCount: settings.historyByteCount ?? 1 << 20,
                    openTimeout: ZMQHarness.patience, requestTimeout: ZMQHarness.patience, keys: keys))
        }

        func openToRead(_ description: SessionDescription) async throws -> any SharedGroup {
            try await restartWithMachine()
            return try await ZMQGroup.openToRead(
                endpoint, group: "group", as: description,
                options: ZMQGroupOptions(
                    openTimeout: ZMQHarness.patience, requestTimeout: ZMQHarness.patience, keys: keys))
        }

        /// No hub outlives a run of the machine, which a case may play.
        private func restartWithMachine() async throws(SharedCoreError) {
            let bootID = settings.clock?.bootID
            let old = running.withLock { $0.bootID == bootID ? nil : $0.hub }
            guard let old else { return }
            await old.stop()
            var options = options
            options.endpoints = [endpoint]
            let hub = try await Hub.start(options)
            running.withLock { $0 = Running(hub: hub, bootID: bootID) }
        }

        func remove() async {
            await running.withLock { $0.hub }.stop()
            // A group that could not be removed is in the way of no other: each has a name of its own.
            Directory.removeWithFiles(path: parent + "/group")
            Directory.removeWithFiles(path: parent)
        }
    }

    extension ZMQHarness {
        /// Opens the group of an address that begins with `zmq`: an endpoint, perhaps the client's secret and the hub's
        /// public key, perhaps the path of a program that starts a hub where none is, perhaps the milliseconds for
        /// which the opening waits.
        static func open(
            _ words: ArraySlice<String>, as description: SessionDescription
        ) async throws(SharedCoreError) -> any SharedGroup {
            var words = Array(words)
            var options = ZMQGroupOptions(openTimeout: ZMQHarness.patience, requestTimeout: ZMQHarness.patience)
            if let milliseconds = words.last.flatMap({ Int($0) }) {
                options.openTimeout = .milliseconds(milliseconds)
                words.removeLast()
            }
            guard let first = words.first else {
                throw SharedCoreError(.invalidArgument, "The address names no endpoint.", at: "address")
            }
            // Before the path: a key may begin with a slash too.
            if words.count >= 3 {
                options.keys = try CurveClientKeys(own: CurveKeyPair(secretKey: words[1]), hub: words[2])
                words.removeSubrange(1...2)
            }
            if words.count == 2 { options.launcher = HubLauncher(program: words[1], arguments: []) }
            return try await ZMQGroup.open(try HubEndpoint(first), group: "group", as: description, options: options)
        }
    }
#endif
