#if Etcd
    internal import CoreAPI
    package import CoreAPITesting
    package import EtcdBackend
    internal import Platform
    internal import Synchronization

    /// Runs the cases on groups of an etcd cluster, under a separate prefix.
    package struct EtcdHarness: ConformanceHarness {
        /// The program of etcd, for the cases that kill a server and use up its space.
        package struct ServerProgram: Sendable {
            let path: String
            let parent: String

            /// Names the program of a server, and the place of its files.
            ///
            /// - Parameters:
            ///   - path: Its path, or a name that is looked up in `PATH`.
            ///   - parent: The directory in which each server gets one for its files; it must exist.
            package init(_ path: String, in parent: String) {
                self.path = path
                self.parent = parent
            }
        }

        package let name: String
        package let peer: PeerProgram?
        private let place: EtcdCluster
        private let server: ServerProgram?

        /// Makes a harness on a running cluster.
        ///
        /// - Parameters:
        ///   - place: A cluster in which keys may be written and removed. Its members are neither killed nor filled.
        ///   - peer: The program that acts as a second process.
        ///   - server: The program of servers that are killed and filled; nil to leave out these cases.
        package init(at place: EtcdCluster, peer: PeerProgram?, server: ServerProgram? = nil) {
            self.place = place
            self.peer = peer
            self.server = server
            name = "etcd with \(place.endpoints.count) endpoint\(place.endpoints.count == 1 ? "" : "s")"
        }

        package var commitCost: CommitCost { .high }

        package var failPoints: FailPointSet {
            #if FAIL_POINTS
                FailPointSet(beforePublication: ["etcd.beforeSend"], afterPublication: ["etcd.afterAnswer"])
            #else
                FailPointSet()
            #endif
        }

        package func makeGroup(_ settings: GroupSettings) async throws -> any ConformanceGroup {
            let name = String(UInt64.random(in: 0...UInt64.max), radix: 36)
            switch settings.fault {
            case nil: return EtcdTestGroup(place: place, name: name, settings: settings)
            case .cut, .delay:
                guard place.endpoints.allSatisfy({ ["127.0.0.1", "localhost"].contains($0.host) }) else {
                    throw HarnessLimitation("connections are cut and delayed to members at the loopback interface only")
                }
                return EtcdTestGroup(place: place, name: name, settings: settings)
            case .restart, .full:
                guard let server else {
                    throw HarnessLimitation("servers are killed and filled only where the program of etcd is known")
                }
                let own = try await OwnEtcdServer(server, named: name, isSmall: settings.fault == .full)
                return EtcdTestGroup(place: own.place, name: name, settings: settings, server: own)
            }
        }

        fileprivate static let prefix = "/sharedcore-conformance"

        /// The lease is long, because the cases stop participants for a long time. Scripts/try-etcd tests leases that
        /// end.
        fileprivate static let lease = Duration.seconds(600)
    }

    /// One group under a name of its own.
    private final class EtcdTestGroup: ConformanceGroup {
        private let place: EtcdCluster
        private let name: String
        private let settings: GroupSettings
        /// The server of this group alone, in a case that breaks it.
        private let server: OwnEtcdServer?
        /// The connections of the handles, in a case that breaks them.
        private let connections = FaultyConnections()

        init(place: EtcdCluster, name: String, settings: GroupSettings, server: OwnEtcdServer? = nil) {
            self.place = place
            self.name = name
            self.settings = settings
            self.server = server
        }

        var address: String {
            (["etcd", name] + place.endpoints.map(\.description) + EtcdHarness.words(of: place.security))
                .joined(separator: " ")
        }

        func open(
            _ description: SessionDescription, requiring requirements: Requirements
        ) async throws(SharedCoreError) -> any SharedGroup {
            var (place, ways) = (place, [FaultyConnection]())
            if [.cut, .delay].contains(settings.fault) { (place, ways) = try Self.faultyConnections(to: place) }
            let group = try await EtcdGroup.open(
                place, group: name, as: description, options: options(requiring: requirements))
            if !ways.isEmpty { connections.add(ways, of: group) }
            return group
        }

        func openToRead(_ description: SessionDescription) async throws -> any SharedGroup {
            try await EtcdGroup.openToRead(place, group: name, as: description, options: options(requiring: .none))
        }

        private func options(requiring requirements: Requirements) -> EtcdGroupOptions {
            EtcdGroupOptions(
                prefix: EtcdHarness.prefix, lease: EtcdHarness.lease,
                // A call over a cut connection waits for all of it.
                requestTimeout: settings.fault == .cut ? .seconds(3) : .seconds(10),
                limits: settings.limits ?? EtcdGroupOptions.standardLimits,
                historyByteCount: settings.historyByteCount ?? 1 << 20, requirements: requirements,
                clock: settings.clock ?? SystemClock())
        }

        /// Makes a cluster address with connections that can fail, one to each member. The endpoints are new, so the
        /// handles that use them share no connection with other handles of the process.
        private static func faultyConnections(
            to place: EtcdCluster
        ) throws(SharedCoreError) -> (EtcdCluster, [FaultyConnection]) {
            var ways: [FaultyConnection] = []
            var endpoints: [EtcdCluster.Endpoint] = []
            for endpoint in place.endpoints {
                let way = try FaultyConnection(toLoopbackPort: UInt16(endpoint.port))
                ways.append(way)
                // The host stays: a certificate names it.
                endpoints.append(try EtcdCluster.Endpoint("\(endpoint.host):\(way.port ?? 0)"))
            }
            return (try EtcdCluster(endpoints, security: place.security), ways)
        }

        func cut(_ handle: any SharedGroup) async throws { try connections.cut(handle) }
        func mend(_ handle: any SharedGroup) async throws { try connections.mend(handle) }

        func delay(_ handle: any SharedGroup, by time: Duration) async throws {
            try connections.delay(handle, by: time)
        }

        func restartServer() async throws { try await ownServer().restart() }
        func fillServer() async throws { try await ownServer().fill() }
        func emptyServer() async throws { try await ownServer().empty() }

        private func ownServer() throws -> OwnEtcdServer {
            guard let server else { throw HarnessLimitation("the server of this group has other users") }
            return server
        }

        func remove() async {
            connections.end()
            if let server { return await server.remove() }
            // A group that could not be removed is harmless: each has its own name.
            try? await EtcdGroup.erase(name, at: place, prefix: EtcdHarness.prefix)
        }
    }

    /// A server of one group, with its files in a directory of its own.
    private final class OwnEtcdServer: Sendable {
        let place: EtcdCluster
        private let program: String
        private let arguments: [String]
        private let directory: String
        private let process = Mutex<ChildProcess?>(nil)

        /// Starts it at ports below the system's automatic ones, so that a restarted server finds them free.
        ///
        /// - Parameter isSmall: Whether its space is 4 MiB.
        init(_ server: EtcdHarness.ServerProgram, named name: String, isSmall: Bool) async throws {
            program = server.path
            directory = server.parent + "/" + name
            let port = try Self.freePorts()
            let (client, peer) = ("http://127.0.0.1:\(port)", "http://127.0.0.1:\(port + 1)")
            place = try EtcdCluster([EtcdCluster.Endpoint("127.0.0.1:\(port)")])
            arguments =
                [
                    "--name", name, "--data-dir", directory, "--log-level", "error", "--listen-client-urls", client,
                    "--advertise-client-urls", client, "--listen-peer-urls", peer, "--initial-advertise-peer-urls",
                    peer, "--initial-cluster", "\(name)=\(peer)",
                ] + (isSmall ? ["--quota-backend-bytes", "\(4 << 20)"] : [])
            _ = try Directory.create(path: directory, permissions: 0o700)
            do { try await start() } catch let error as SystemCallError {
                // Only the first start shows that the program is not there. A later one that fails is a failure.
                throw HarnessLimitation("a server of etcd cannot be started here: \(error)")
            }
        }

        /// Returns a free port that is followed by another one.
        private static func freePorts() throws -> UInt16 {
            for _ in 0..<100 {
                let port = UInt16.random(in: 5_000..<16_000) * 2
                let listeners = [port, port + 1].compactMap { try? StreamListener(loopbackPort: $0) }
                if listeners.count == 2 { return port }
            }
            throw HarnessLimitation("no free ports were found for a server of etcd")
        }

        /// Starts it, and waits until it answers.
        private func start() async throws {
            let child = try await ChildProcess.start(program, arguments, keepsErrors: true)
            process.withLock { $0 = child }
            let calls = try BareCalls(at: place)
            try await eventually("etcd answers") {
                guard !child.hasEnded else {
                    throw SharedCoreError(
                        .unavailable, "The server of a test has ended.", at: "\(place.endpoints[0])",
                        cause: child.errorText(upTo: 1000))
                }
                do { return try await calls.get("ready") == nil } catch { return false }
            }
        }

        func restart() async throws {
            await process.withLock { $0 }?.killNow()
            try await start()
        }

        /// Puts values until the server raises its alarm, after which it refuses every put.
        func fill() async throws {
            let calls = try BareCalls(at: place, below: Self.filler)
            let value = [UInt8](repeating: 7, count: 60_000)
            for number in 0..<200 {
                do { try await calls.put("\(number)", value) } catch {
                    guard (error as? SharedCoreError)?.code == .storageFull else { throw error }
                    return
                }
            }
            throw SharedCoreError(
                .invalidArgument, "The server of a test takes more than its quota.", at: "\(place.endpoints[0])")
        }

        func empty() async throws {
            let calls = try BareCalls(at: place, below: Self.filler)
            await calls.remove()
            try await calls.reclaimSpace()
        }

        private static let filler = "/filler/"

        func remove() async {
            await process.withLock { $0 }?.killNow()
            for folder in ["/member/snap", "/member/wal", "/member", ""] {
                Directory.removeWithFiles(path: directory + folder)
            }
        }
    }

    extension EtcdHarness {
        /// Returns the words of an address that describe how connections are secured. A word has no spaces, unlike
        /// paths.
        fileprivate static func words(of security: EtcdCluster.Security?) -> [String] {
            guard let security else { return [] }
            let paths = [("ca", security.authorities), ("certificate", security.certificate), ("key", security.key)]
            return ["secure="]
                + paths.compactMap { name, path in
                    path.map {
                        "\(name)=" + $0.split(separator: " ", omittingEmptySubsequences: false).joined(separator: "%20")
                    }
                }
        }

        private static func security(in words: ArraySlice<String>) -> EtcdCluster.Security? {
            guard words.contains("secure=") else { return nil }
            func path(_ name: String) -> String? {
                words.first { $0.hasPrefix(name + "=") }
                    .map { $0.dropFirst(name.count + 1).split(separator: "%20", omittingEmptySubsequences: false) }
                    .map { $0.joined(separator: " ") }
            }
            return EtcdCluster.Security(authorities: path("ca"), certificate: path("certificate"), key: path("key"))
        }

        /// Opens the group of an address that begins with `etcd`.
        static func open(
            _ words: ArraySlice<String>, as description: SessionDescription
        ) async throws(SharedCoreError) -> any SharedGroup {
            guard let name = words.first else {
                throw SharedCoreError(.invalidArgument, "The address names no group.", at: "address")
            }
            var endpoints: [EtcdCluster.Endpoint] = []
            for word in words.dropFirst() where !word.contains("=") { endpoints.append(try EtcdCluster.Endpoint(word)) }
            return try await EtcdGroup.open(
                EtcdCluster(endpoints, security: security(in: words)), group: name, as: description,
                options: EtcdGroupOptions(prefix: prefix, lease: lease, requestTimeout: .seconds(60)))
        }
    }
#endif
