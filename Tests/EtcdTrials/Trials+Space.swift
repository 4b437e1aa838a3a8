#if Etcd
    internal import CoreAPI
    internal import EtcdBackend

    extension Trials {
        /// A cluster without space: refused writes are absent, present entries can be read, and sessions end.
        func spaceUsedUp() async throws -> String {
            let node = try cluster.alone("full", ["--quota-backend-bytes", "4194304"])
            defer { node.kill() }
            try await cluster.answers(node)
            let place = try EtcdCluster([node.endpoint])
            let group = try await cluster.open("filling", lease: .seconds(60), at: place)
            let holder = try await cluster.open("holder", lease: .seconds(60), at: place)
            try await holder.put("held", [1], lifetime: .session)
            try await group.put("brief", [1], lifetime: .expiring(after: .seconds(6)))
            // At the same time: a server checks for space before it accepts a request, and again when it carries the
            // request out.
            let (taken, refused) = try await withThrowingTaskGroup(of: (Set<Key>, Int).self) { writers in
                for writer in 0..<16 { writers.addTask { try await Self.fill(group, writer) } }
                var all: (taken: Set<Key>, refused: Int) = ([], 0)
                for try await (taken, refused) in writers {
                    all.taken.formUnion(taken)
                    all.refused += refused
                }
                return all
            }
            // An entry past its time cannot be removed now.
            try await eventually("the brief entry is not told any more", timeout: .seconds(30)) {
                try await group.get("brief", consistency: .causal) == nil
            }
            let standing = Set(try await group.list("v").entries.map(\.key))
            try expect(
                standing == taken,
                "taken, not there: \(taken.subtracting(standing)); refused, there: "
                    + "\(standing.subtracting(taken))")
            let brief = try await group.get("brief")
            try expect(brief == nil, "what is due is told")
            try await group.sync()
            let watch = try await group.watch(.all, from: .now)
            watch.cancel()
            await holder.close()
            let held = try await group.get("held")
            try expect(held == nil, "what a session held outlives it in a full cluster")
            await group.close()
            return "\(taken.count) taken, \(refused) refused"
        }

        /// Puts until there is no space three times.
        private static func fill(_ group: EtcdGroup, _ writer: Int) async throws -> (Set<Key>, Int) {
            var taken: Set<Key> = []
            var refused = 0
            let value = [UInt8](repeating: 7, count: 60_000)
            for number in 0..<1000 where refused < 3 {
                let key = try Key("v/\(writer)/\(number)")
                do throws(SharedCoreError) {
                    _ = try await group.put(key, value)
                    taken.insert(key)
                } catch {
                    try expect(error.code == .storageFull, "a put into a full cluster: \(error)")
                    refused += 1
                }
            }
            try expect(refused == 3, "the cluster is not full")
            return (taken, refused)
        }
    }
#endif
