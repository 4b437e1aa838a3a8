#if Etcd
    internal import CoreAPI
    internal import EtcdBackend
    internal import FoundationEssentials
    internal import Glibc
    internal import Platform

    /// The cost that each session of one group, and each group of one process, adds to that of the others.
    struct Growth {
        let place: EtcdCluster

        private static let rounds = 100
        private static let openings = 10
        private static let watched = Duration.seconds(5)

        /// The dimension that grows.
        enum Kind: String, CaseIterable {
            case sessions, groups
        }

        /// Prints a row of a table for each size. Each row is measured in a process of its own.
        func run() throws {
            print(
                "| | one more opens | put | by hand | ratio | get | by hand | ratio | list | kept alive | streams "
                    + "| memory |")
            print("|---|---|---|---|---|---|---|---|---|---|---|---|")
            fflush(nil)
            for kind in Kind.allCases {
                for count in [1, 10, 100, 1000] {
                    let row = try StartedProgram(
                        OwnProgram.path, ["row", "\(count)", kind.rawValue, place.endpoints[0].description],
                        streams: [OpenFile(path: "/dev/null", .read)] + [1, 2].map { try OpenFile(duplicating: $0) })
                    try expect(row.waitForEnd() == 0, "\(count) \(kind) were not measured")
                }
            }
        }

        /// Prints one row.
        func row(_ count: Int, _ kind: Kind) async throws {
            let prefix = "growth-" + String(UInt64.random(in: 0...UInt64.max), radix: 36)
            func name(_ number: Int) -> String { kind == .groups ? "\(prefix)-\(number)" : prefix }
            // The first one of a process pays for its connection.
            let probe = try await EtcdGroup.open(place, group: name(count))
            let before = Usage.now
            var handles: [EtcdGroup] = []
            for number in 0..<count { handles.append(try await EtcdGroup.open(place, group: name(number))) }
            let bytes = max(0, Usage.now.byteCount - before.byteCount) / count
            await probe.close()
            let opening = try await opening(name(count))
            let bare = try BareCalls(at: place)
            let first = handles[0]
            let value = [UInt8](repeating: 7, count: 100)
            let put = try await compare({ try await first.put("k", value) }, { try await bare.put("k", value) })
            let get = try await compare({ _ = try await first.get("k") }, { _ = try await bare.get("k") })
            let list = try await compare({ _ = try await first.list(.all) }, { _ = try await bare.get("k") })
            await bare.remove()
            let quiet = try await quiet()
            // All sessions that were kept alive still exist.
            for handle in handles { _ = try await handle.get("k", consistency: .causal) }
            print(
                "| \(count) \(kind == .groups ? "groups" : "sessions of one group") | \(Int(opening)) µs | \(put) | \(get) | \(Int(list.own)) µs | \(quiet) "
                    + "| \(bytes / 1024) KiB |")
            fflush(nil)
            for handle in handles { await handle.close() }
            for name in Set((0...count).map(name)) {
                try await EtcdGroup.erase(name, at: place, prefix: "/sharedcore")
            }
        }

        private struct Pair: CustomStringConvertible {
            let own: Double
            let byHand: Double

            var description: String {
                let ratio = (own / byHand * 100).rounded() / 100
                return "\(Int(own)) µs | \(Int(byHand)) µs | \(ratio)"
            }
        }

        /// The time that one more session takes to open.
        private func opening(_ name: String) async throws -> Double {
            var samples: [Double] = []
            for _ in 0..<Self.openings {
                let start = ContinuousClock.now
                let handle = try await EtcdGroup.open(place, group: name)
                samples.append(start.duration(to: .now).microseconds)
                await handle.close()
            }
            return samples.median
        }

        private func compare(
            _ own: () async throws -> Void, _ byHand: () async throws -> Void
        ) async throws -> Pair {
            var samples: (own: [Double], byHand: [Double]) = ([], [])
            for round in 0..<Self.rounds + 20 {
                var start = ContinuousClock.now
                try await own()
                // The first samples of a process are dropped.
                if round == 20 { samples = ([], []) }
                samples.own.append(start.duration(to: .now).microseconds)
                start = ContinuousClock.now
                try await byHand()
                samples.byHand.append(start.duration(to: .now).microseconds)
            }
            return Pair(own: samples.own.median, byHand: samples.byHand.median)
        }

        /// The traffic while no call is made.
        private func quiet() async throws -> String {
            let endpoint = place.endpoints[0]
            let before = (metrics: try Metrics(of: endpoint), usage: Usage.now, time: ContinuousClock.now)
            try await Task.sleep(for: Self.watched)
            let metrics = try Metrics(of: endpoint)
            let seconds = before.time.duration(to: .now).microseconds / 1e6
            func rate(_ name: String) -> Int {
                let count = metrics.sum(name, of: "LeaseKeepAlive") - before.metrics.sum(name, of: "LeaseKeepAlive")
                return Int((count / seconds).rounded())
            }
            let busy = (Usage.now.busy - before.usage.busy) / seconds
            return "\(rate("grpc_server_msg_received_total"))/s in \(rate("grpc_server_started_total")) calls, "
                + "\((busy * 1000).rounded() / 10) % of a core | \(metrics.open("Watch")) with "
                + "\(Int(metrics.sum("etcd_debugging_mvcc_watcher_total"))) watches, "
                + "\(try Self.connectionCount(to: endpoint)) connection"
        }

        /// The connections of this process to a member's listener.
        private static func connectionCount(to endpoint: EtcdCluster.Endpoint) throws -> Int {
            let port = ":" + String(endpoint.port, radix: 16, uppercase: true)
            let own = Set(
                try Directory(path: "/proc/self/fd").names().compactMap { number in
                    try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")
                })
            let table = String(
                decoding: try OpenFile(path: "/proc/self/net/tcp", .read).read(count: 1 << 22, at: 0), as: UTF8.self)
            return table.split(separator: "\n").dropFirst().count { line in
                // The other end's address, and the socket's number.
                let words = line.split(separator: " ")
                return words.count > 9 && words[2].hasSuffix(port) && own.contains("socket:[\(words[9])]")
            }
        }
    }

    /// The resources that this process uses.
    private struct Usage {
        let byteCount: Int
        /// Seconds.
        let busy: Double

        static var now: Usage {
            var usage = rusage()
            getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
            func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
            return Usage(
                byteCount: Int(ProcessMemory.ownByteCount(of: .current) ?? 0),
                busy: seconds(usage.ru_utime) + seconds(usage.ru_stime))
        }
    }

    extension Duration {
        var microseconds: Double { Double(components.seconds) * 1e6 + Double(components.attoseconds) / 1e12 }
    }

    extension [Double] {
        var median: Double { sorted()[count / 2] }
    }
#endif
