#if ZMQ
    package import CoreAPI
    package import CoreAPITesting
    internal import FileNotifyBackend
    internal import InMemoryBackend
    internal import Platform
    internal import Synchronization
    internal import ZMQBackend

    /// Runs the cases on groups behind a hub in this process.
    package struct ZMQHarness: ConformanceHarness {
        /// How long clients wait for the hub: on a busy machine its thread may not run for seconds.
        fileprivate static let timeout = Duration.seconds(60)

        /// Returns how long a call waits. With a fault, some calls get no answer.
        fileprivate static func timeout(with fault: ServerFault?) -> Duration {
            fault == nil ? timeout : .seconds(2)
        }

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
        /// The program of a separate hub; nil to leave out the cases that kill or fill a hub.
        private let hub: PeerProgram?
        private let storage: Storage
        private let transport: Transport
        private let parent: String

        /// Creates a harness for one kind of storage and one transport.
        ///
        /// - Parameters:
        ///   - parent: An existing directory, in which each group gets a directory of its own. Its path must be short,
        ///     because the path of a socket has at most 107 bytes.
        ///   - peer: The program that acts as a second process. Not used over `inproc`.
        ///   - hub: A program that runs a hub on files. Its arguments are an endpoint, a directory and a lease in
        ///     milliseconds.
        package init(
            _ storage: Storage, over transport: Transport, in parent: String, peer: PeerProgram?,
            hub: PeerProgram? = nil
        ) {
            self.hub = hub
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

        /// Over `ipc`, stopped writers are tolerated although the backend does not promise it. A stopped hub delays all
        /// participants, but here the hub is in this process, and the cases stop only other processes.
        package var promisesOfParticipants: Set<Capability> {
            if case .ipc = transport { [.stoppedWritersTolerated] } else { [] }
        }

        package var failPoints: FailPointSet {
            #if FAIL_POINTS
                FailPointSet(beforePublication: ["link.beforeSend"], afterPublication: ["link.afterAnswer"])
            #else
                FailPointSet()
            #endif
        }

        package func makeGroup(_ settings: GroupSettings) async throws -> any ConformanceGroup {
            if let fault = settings.fault {
                guard case .ipc = transport else {
                    throw HarnessLimitation("connections are cut and hubs are killed at unix sockets only")
                }
                if [.restart, .full].contains(fault) { return try await makeGroup(settings, behindOwnHubFor: fault) }
            }
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
            // The lease is long, because the cases stop participants for a long time. ZMQTests tests leases that end.
            let options = HubOptions(
                group: name, storage: hub, endpoints: [endpoint], keys: keys?.hub, lease: .seconds(600))
            return ZMQTestGroup(
                hub: try await start(options), options: options, parent: directory, keys: keys?.client,
                settings: settings)
        }

        /// Makes a group behind a hub in a separate process, which can be killed.
        private func makeGroup(
            _ settings: GroupSettings, behindOwnHubFor fault: ServerFault
        ) async throws -> any ConformanceGroup {
            guard let hub, storage == .files else {
                throw HarnessLimitation("hubs that are killed and filled are on files, with a program of their own")
            }
            let directory = parent + "/" + String(UInt64.random(in: 0...UInt64.max), radix: 36)
            _ = try Directory.create(path: directory, permissions: 0o700)
            return try await HubProcessGroup(hub, in: directory, isSmall: fault == .full, settings: settings)
        }

        /// A port, and the next one for the stream, below the system's range of automatic ports. A restarted hub finds
        /// both free, even if other programs connect on this machine.
        private static var unusedEndpoint: HubEndpoint {
            .tcp(host: "127.0.0.1", port: UInt16.random(in: 5_000..<16_000) * 2)
        }

        /// Starts a hub, on another port if this one is in use.
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
            /// The boot id with which it was started.
            var bootID: BootID?
        }

        private let running: Mutex<Running>
        /// The connections of the handles, in a group with simulated faults of connections.
        private let connections = FaultyConnections()
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
            var (endpoint, ways) = (endpoint, [FaultyConnection]())
            if settings.fault != nil { (endpoint, ways) = try FaultyConnection.toHub(at: endpoint, in: parent) }
            let group = try await ZMQGroup.open(
                endpoint, group: "group", as: description,
                options: ZMQGroupOptions(
                    requirements: requirements, historyByteCount: settings.historyByteCount ?? 1 << 20,
                    openTimeout: ZMQHarness.timeout, requestTimeout: ZMQHarness.timeout(with: settings.fault),
                    keys: keys))
            if !ways.isEmpty { connections.add(ways, of: group) }
            return group
        }

        func cut(_ handle: any SharedGroup) async throws { try connections.cut(handle) }
        func mend(_ handle: any SharedGroup) async throws { try connections.mend(handle) }

        func delay(_ handle: any SharedGroup, by time: Duration) async throws {
            try connections.delay(handle, by: time)
        }

        func openToRead(_ description: SessionDescription) async throws -> any SharedGroup {
            try await restartWithMachine()
            return try await ZMQGroup.openToRead(
                endpoint, group: "group", as: description,
                options: ZMQGroupOptions(
                    openTimeout: ZMQHarness.timeout, requestTimeout: ZMQHarness.timeout, keys: keys))
        }

        /// Restarts the hub if a case has simulated a restart of the machine, because a hub ends with its machine.
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
            connections.end()
            await running.withLock { $0.hub }.stop()
            // A group that could not be removed is harmless: each has its own name.
            Directory.removeWithFiles(path: parent + "/group")
            Directory.removeWithFiles(path: parent)
        }
    }

    extension FaultyConnection {
        /// Makes two connections that can be cut and delayed, to the two sockets of a hub.
        ///
        /// - Returns: The endpoint at which the hub is reached through them.
        static func toHub(
            at endpoint: HubEndpoint, in directory: String
        ) throws(SharedCoreError) -> (HubEndpoint, [FaultyConnection]) {
            let path = directory + "/" + String(UInt32.random(in: 0...UInt32.max), radix: 36)
            let ends = [
                (HubEndpoint.ipc(path: path), endpoint), (HubEndpoint.ipc(path: path).stream(), endpoint.stream()),
            ]
            var ways: [FaultyConnection] = []
            for case (.ipc(let near), .ipc(let far)) in ends {
                ways.append(try FaultyConnection(at: near, to: far))
            }
            return (.ipc(path: path), ways)
        }
    }

    /// A group behind a hub in a separate process, which is killed or has little space.
    private final class HubProcessGroup: ConformanceGroup {
        private let program: PeerProgram
        private let parent: String
        private let isSmall: Bool
        private let settings: GroupSettings
        private let process = Mutex<ChildProcess?>(nil)

        private var endpoint: HubEndpoint { .ipc(path: parent + "/hub") }
        /// The directory that contains the group's directory. A file system of limited size may be mounted there.
        private var disk: String { parent + "/disk" }

        init(_ program: PeerProgram, in parent: String, isSmall: Bool, settings: GroupSettings) async throws {
            self.program = program
            self.parent = parent
            self.isSmall = isSmall
            self.settings = settings
            _ = try Directory.create(path: disk, permissions: 0o700)
            do { try await start() } catch let error as SharedCoreError {
                // An error of the hub itself is a failure.
                guard isSmall, let cause = error.cause, ["mount:", "unshare:"].contains(where: cause.hasPrefix) else {
                    throw error
                }
                throw HarnessLimitation("this user or machine cannot mount a small file system: \(cause)")
            }
        }

        private func start() async throws {
            var words = [program.path] + program.arguments + [endpoint.description, disk + "/group", "600000"]
            if isSmall {
                // A separate file system, which ends with the hub.
                words =
                    [
                        "unshare", "-m", "sh", "-c",
                        "mount -t tmpfs -o size=4m,mode=700 none '\(disk)' && exec \"$@\"", "sh",
                    ] + words
            }
            let child = try await ChildProcess.start(words[0], Array(words.dropFirst()), keepsErrors: true)
            guard try await child.nextLine(timeout: TestTimeout.usual)?.hasPrefix("ready ") == true else {
                throw SharedCoreError(
                    .unavailable, "The hub of a test does not start.", at: parent, cause: child.errorText(upTo: 1000))
            }
            process.withLock { $0 = child }
        }

        func open(
            _ description: SessionDescription, requiring requirements: Requirements
        ) async throws(SharedCoreError) -> any SharedGroup {
            try await ZMQGroup.open(
                endpoint, group: "group", as: description,
                options: ZMQGroupOptions(
                    requirements: requirements, historyByteCount: settings.historyByteCount ?? 1 << 20,
                    openTimeout: ZMQHarness.timeout, requestTimeout: ZMQHarness.timeout(with: settings.fault)))
        }

        func restartServer() async throws {
            await process.withLock { $0 }?.killNow()
            try await start()
        }

        func fillServer() async throws {
            let file = try OpenFile(path: fillerOfHub, .create)
            let piece = [UInt8](repeating: 0, count: 4096)
            var end = 0
            do throws(SystemCallError) {
                while true {
                    try file.write(piece, at: end)
                    end += piece.count
                }
            } catch {
                guard error.isStorageFull else { throw error }
            }
        }

        func emptyServer() async throws { try OpenFile(path: fillerOfHub, .create).truncate(to: 0) }

        /// The path of the file that fills the disk, through /proc: only the hub's mount namespace contains the file
        /// system.
        private var fillerOfHub: String { "/proc/\(process.withLock { $0?.pid ?? 0 })/root" + disk + "/filler" }

        func remove() async {
            await process.withLock { $0 }?.killNow()
            Directory.removeWithFiles(path: disk + "/group")
            Directory.removeWithFiles(path: disk)
            Directory.removeWithFiles(path: parent)
        }
    }

    extension ZMQHarness {
        /// Opens the group of an address that begins with `zmq`.
        ///
        /// After `zmq` the address has an endpoint, and may have, in this order: the client's secret and the hub's public
        /// key; the path of a program that starts a hub if there is none; the milliseconds for which the opening waits.
        static func open(
            _ words: ArraySlice<String>, as description: SessionDescription
        ) async throws(SharedCoreError) -> any SharedGroup {
            var words = Array(words)
            var options = ZMQGroupOptions(openTimeout: ZMQHarness.timeout, requestTimeout: ZMQHarness.timeout)
            if let milliseconds = words.last.flatMap({ Int($0) }) {
                options.openTimeout = .milliseconds(milliseconds)
                words.removeLast()
            }
            guard let first = words.first else {
                throw SharedCoreError(.invalidArgument, "The address names no endpoint.", at: "address")
            }
            // Parse the keys before the path, because a key may begin with a slash too.
            if words.count >= 3 {
                options.keys = try CurveClientKeys(own: CurveKeyPair(secretKey: words[1]), hub: words[2])
                words.removeSubrange(1...2)
            }
            if words.count == 2 { options.launcher = HubLauncher(program: words[1], arguments: []) }
            return try await ZMQGroup.open(try HubEndpoint(first), group: "group", as: description, options: options)
        }
    }
#endif
