#if Etcd
    internal import CoreAPI
    internal import EtcdBackend
    internal import Glibc
    internal import Platform

    /// Three members on this machine, and the groups that a trial opens on them.
    final class TrialCluster {
        let nodes: [Node]
        let place: EtcdPlace
        /// Each trial has one of its own.
        private(set) var group = ""

        init(program: String, in directory: String) async throws {
            // Below the ports that the system gives away by itself.
            let first = Int.random(in: 5_000..<15_000) * 2
            let ports = (0..<3).map { (client: first + 2 * $0, peer: first + 2 * $0 + 1) }
            nodes = try (0..<3).map { try Node($0, of: ports, path: program, in: directory) }
            place = try EtcdPlace(nodes.map(\.endpoint))
            takeNewGroup()
            for node in nodes { try node.start() }
            try note(in: directory)
            for node in nodes { try await answers(node) }
        }

        func takeNewGroup() {
            group = "trial-" + String(UInt64.random(in: 0...UInt64.max), radix: 36)
        }

        /// Leaves the numbers of the processes to whoever cleans up behind a trial that was ended.
        private func note(in directory: String) throws {
            let numbers = nodes.compactMap(\.processID).map { "\($0)\n" }.joined()
            try OpenFile(path: directory + "/processes", .create).write(Array(numbers.utf8), at: 0)
        }

        func open(
            _ name: String, lease: Duration = .seconds(3), timeout: Duration = .seconds(10), at place: EtcdPlace? = nil
        ) async throws -> EtcdGroup {
            try await EtcdGroup.open(
                place ?? self.place, group: group, as: SessionDescription(role: .tool, name: name),
                options: EtcdGroupOptions(lease: lease, requestTimeout: timeout, historyByteCount: 4 << 20))
        }

        /// Waits until a member serves its clients, which it does when it knows a leader.
        func answers(_ node: Node) async throws {
            let alone = try EtcdPlace([node.endpoint])
            try await eventually("\(node.name) answers") {
                guard let probe = try? await self.open("probe", timeout: .seconds(2), at: alone) else { return false }
                await probe.close()
                return true
            }
        }
    }

    /// Why a trial failed.
    struct TrialFailure: Error, CustomStringConvertible {
        let description: String
    }

    func expect(_ condition: Bool, _ what: @autoclosure () -> String) throws {
        guard condition else { throw TrialFailure(description: what()) }
    }

    func eventually(
        _ what: String, within patience: Duration = .seconds(60), _ condition: () async throws -> Bool
    ) async throws {
        let end = ContinuousClock.now.advanced(by: patience)
        while try await !condition() {
            try expect(ContinuousClock.now < end, "not in \(patience): \(what)")
            try await Task.sleep(for: .milliseconds(20))
        }
    }
#endif
