#if Etcd
    internal import CoreAPI
    internal import EtcdBackend
    internal import Glibc
    internal import Platform

    /// Three members on this machine, and the groups that a trial opens on them.
    final class TrialCluster {
        let nodes: [Node]
        let place: EtcdCluster
        /// The group of the trial. Each trial has a group of its own.
        private(set) var group = ""
        private var noted: [UInt8] = []

        /// The path of etcd.
        let program: String
        private let directory: String

        /// - Parameter certificates: The certificates that its members show and require of their clients; nil for
        ///   connections in the clear.
        init(program: String, in directory: String, certificates: Certificates? = nil) async throws {
            self.program = program
            self.directory = directory
            let ports = try Self.ports(for: 3)
            let more = certificates?.arguments(showing: "member") ?? []
            nodes = try (0..<3).map {
                try Node($0, of: ports, path: program, in: directory, isSecure: certificates != nil, more)
            }
            place = try EtcdCluster(nodes.map(\.endpoint), security: certificates?.security(showing: "client"))
            takeNewGroup()
            for node in nodes { try node.start() }
            try note(in: directory)
            for node in nodes { try await answers(node) }
        }

        /// Returns a member of a cluster of its own.
        func alone(
            _ name: String, host: String = "127.0.0.1", through entry: [String] = [], isSecure: Bool = false,
            _ more: [String] = []
        ) throws -> Node {
            let node = try Node(
                0, of: Self.ports(for: 1), path: program, in: directory, named: name, host: host, through: entry,
                isSecure: isSecure, more)
            try node.start()
            try note(node, in: directory)
            return node
        }

        /// Makes a directory for the files of a trial.
        func subdirectory(_ name: String) throws -> String {
            let path = directory + "/" + name
            _ = try Directory.create(path: path, permissions: 0o700)
            return path
        }

        /// Free ports, below those that the system gives away by itself.
        private static func ports(for count: Int) throws -> [(client: Int, peer: Int)] {
            for _ in 0..<100 {
                let first = Int.random(in: 5_000..<15_000) * 2
                let areFree = (first..<first + 2 * count).allSatisfy { isFree($0) }
                if areFree { return (0..<count).map { (client: first + 2 * $0, peer: first + 2 * $0 + 1) } }
            }
            throw TrialFailure(description: "no free ports were found")
        }

        private static func isFree(_ port: Int) -> Bool {
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            guard descriptor >= 0 else { return false }
            defer { Glibc.close(descriptor) }
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = in_port_t(port).bigEndian
            address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
            return withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            } == 0
        }

        func takeNewGroup() {
            group = "trial-" + String(UInt64.random(in: 0...UInt64.max), radix: 36)
        }

        /// Writes the numbers of the processes to a file, for the process that cleans up after a trial that was ended.
        private func note(in directory: String) throws {
            let numbers = nodes.compactMap(\.processID).map { "\($0)\n" }.joined()
            noted = Array(numbers.utf8)
            try OpenFile(path: directory + "/processes", .create).write(Array(numbers.utf8), at: 0)
        }

        private func note(_ node: Node, in directory: String) throws {
            noted += Array((node.processID.map { "\($0)\n" } ?? "").utf8)
            try OpenFile(path: directory + "/processes", .create).write(noted, at: 0)
        }

        func open(
            _ name: String, lease: Duration = .seconds(6), timeout: Duration = .seconds(10),
            at place: EtcdCluster? = nil
        ) async throws -> EtcdGroup {
            try await EtcdGroup.open(
                place ?? self.place, group: group, as: SessionDescription(role: .tool, name: name),
                options: EtcdGroupOptions(lease: lease, requestTimeout: timeout, historyByteCount: 4 << 20))
        }

        /// Waits until a member serves its clients, which it does as soon as it knows a leader.
        func answers(_ node: Node) async throws {
            let alone = try EtcdCluster([node.endpoint], security: place.security)
            try await eventually("\(node.name) answers") {
                guard let probe = try? await self.open("probe", timeout: .seconds(2), at: alone) else { return false }
                await probe.close()
                return true
            }
        }
    }

    /// The error of a failed trial.
    struct TrialFailure: Error, CustomStringConvertible {
        let description: String
    }

    func expect(_ condition: Bool, _ what: @autoclosure () -> String) throws {
        guard condition else { throw TrialFailure(description: what()) }
    }

    func eventually(
        _ what: String, timeout: Duration = .seconds(60), _ condition: () async throws -> Bool
    ) async throws {
        let end = ContinuousClock.now.advanced(by: timeout)
        while try await !condition() {
            try expect(ContinuousClock.now < end, "not in \(timeout): \(what)")
            try await Task.sleep(for: .milliseconds(20))
        }
    }
#endif
