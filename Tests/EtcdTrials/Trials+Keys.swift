#if Etcd
    internal import CoreAPI
    internal import EtcdBackend
    internal import Glibc
    internal import Platform
    internal import TestSupport

    extension Trials {
        /// An entry that was removed and made again in one transaction leaves a key behind. The key is removed when the
        /// group is opened, and stays as long as its entry.
        func leftoversGo() async throws -> String {
            let node = try cluster.alone("keys", [])
            defer { node.kill() }
            try await cluster.answers(node)
            let place = try EtcdCluster([node.endpoint])
            func keyCount() throws -> Int { Int(try Metrics(of: node.endpoint).sum("etcd_debugging_mvcc_keys_total")) }

            var group = try await cluster.open("writer", at: place)
            let keys = try (0..<300).map { try Key("again/\($0)") }
            for key in keys {
                try await group.put(key, [1])
                _ = try await group.commit(Transaction(operations: [.delete(key), .put(key, [2], .persistent)]))
            }
            // The entry that stays: its epoch is known by the key that it has left behind.
            guard let kept = try await group.get(keys[0]) else { throw TrialFailure(description: "nothing was put") }
            for key in keys.dropFirst() { try await group.delete(key) }
            await group.close()
            let before = try keyCount()
            for gone in [256, 299] {
                group = try await cluster.open("later", at: place)
                // The session is a key more.
                try await eventually("\(gone) of 299 keys went with the openings") {
                    try before - keyCount() == gone - 1
                }
                await group.close()
            }

            group = try await cluster.open("last", at: place)
            let again = try await group.get(keys[0])
            try expect(again?.creationRevision == kept.creationRevision, "an entry's creation is another one now")
            let guarded = Transaction(
                guards: [.epoch(keys[0], kept.creationRevision)], operations: [.put(keys[0], [3], .persistent)])
            _ = try await group.commit(guarded)
            try await makeAgainMeanwhile(keys[0], beside: keys[1], in: group, at: node)
            await group.close()
            return "299 keys"
        }

        /// An entry that is made again after a process has found its leftovers, and before these are removed, is known
        /// by its later leftovers.
        private func makeAgainMeanwhile(
            _ key: Key, beside other: Key, in group: EtcdGroup, at node: Node
        ) async throws {
            try await group.put(other, [1])
            _ = try await group.commit(Transaction(operations: [.delete(other), .put(other, [2], .persistent)]))
            for key in [key, other] { try await group.delete(key) }
            let finder = try ChildProcess(
                own, ["holder", cluster.group, "held", node.endpoint.description],
                environment: ["SHAREDCORE_FAIL_POINT": "leftovers.beforeRemoval:stop"])
            defer { finder.signal(.kill) }
            try await eventually("somebody has found what is left behind") { finder.isStopped }
            try await group.put(key, [1])
            let again = try await group.commit(Transaction(operations: [.delete(key), .put(key, [2], .persistent)]))
            finder.signal(.continue)
            let bare = try BareCalls(at: EtcdCluster([node.endpoint]), below: "/sharedcore\0\(cluster.group)/")
            try await eventually("what the other entry left behind goes") {
                try await bare.get("c/" + other.text) == nil
            }
            let kept = try await bare.get("c/" + key.text)
            try expect(kept != nil, "what an entry leaves behind is gone that was made again meanwhile")
            _ = try await group.commit(
                Transaction(guards: [.epoch(key, again.revision)], operations: [.put(key, [3], .persistent)]))
        }

        /// If more changes were missed than one message takes, they come in parts that end anywhere, and all of them
        /// are reported.
        func arrearsInParts() async throws -> String {
            let node = try cluster.alone("arrears", [])
            defer { node.kill() }
            try await cluster.answers(node)
            let place = try EtcdCluster([node.endpoint])
            let writer = try await cluster.open("writer", at: place)
            let start = try await writer.put("k", [1]).revision
            // A message takes 256 MiB. Two of these are more than a part, so that parts end within a commit.
            let value = [UInt8](repeating: 7, count: 600 << 10)
            let commits = 230
            for _ in 0..<commits {
                _ = try await writer.commit(
                    Transaction(operations: [.put("a", value, .persistent), .put("b", value, .persistent)]))
            }
            let last = try await writer.put("k", [2]).revision
            let reader = try await EtcdGroup.open(
                place, group: cluster.group,
                options: EtcdGroupOptions(requestTimeout: .seconds(60), historyByteCount: 1 << 30))
            let watch = try await reader.watch(.all, from: .after(start))
            var told = 0
            while let event = try await watch.next() {
                guard case .changes(let changes) = event else {
                    throw TrialFailure(description: "what a reader has room for is told as \(event.revision) at once")
                }
                told += changes.changes.count
                if event.revision >= last { break }
            }
            watch.cancel()
            try expect(told == 2 * commits + 1, "\(told) of \(2 * commits + 1) changes are told")
            await reader.close()
            await writer.close()
            return "\(told) changes"
        }
    }
#endif
