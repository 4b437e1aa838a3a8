#if Etcd
    internal import CoreAPI
    internal import EtcdBackend
    internal import Glibc

    extension Trials {
        /// The requests that a review found to be answered wrong.
        func answers() async throws -> String {
            try await parts([
                ("many removals", manyRemovals), ("a retry beyond the limits", retryBeyondLimits),
                ("a refusal, then a causal read", refusalThenRead), ("leases of two lengths", mixedLeases),
                ("an opening that takes longer than its lease", slowOpening),
                ("an opening with a time of its own", limitedOpening),
                ("nested prefixes", nestedPrefixes), ("an epoch that never was", greatestEpoch),
            ])
        }

        /// Tries the parts one after the other, and says which failed.
        func parts(_ parts: [(String, () async throws -> Void)]) async throws -> String {
            var failures: [String] = []
            for (name, run) in parts {
                do {
                    try await run()
                } catch {
                    print("        \(name): \(error)")
                    fflush(nil)
                    failures.append(name)
                }
            }
            try expect(failures.isEmpty, failures.joined(separator: "; "))
            return "\(parts.count) kinds"
        }

        private func manyRemovals() async throws {
            let group = try await cluster.open("removals")
            let all = try (0..<100).map { Transaction.Operation.delete(try Key("d/\($0)")) }
            for last in [40, 99] {
                try await group.put(Key("d/\(last)"), [1])
                let commit = try await group.commit(Transaction(operations: all))
                let left = try await group.list("d").entries.map(\.key)
                try expect(commit.changed && left.isEmpty, "\(all.count) removals leave \(left)")
            }
            let nothing = try await group.commit(Transaction(operations: all))
            try expect(!nothing.changed, "removals of nothing are told as a change")
            // Guards, and more steps than one level of a transaction takes.
            let puts = try (0..<200).map { Transaction.Operation.put(try Key("d/\($0)"), [1], .persistent) }
            let guards = try (0..<36).map { Transaction.Guard.absent(try Key("d/\($0)")) }
            _ = try await group.commit(Transaction(guards: guards, operations: puts))
            let again = try? await group.commit(Transaction(guards: guards, operations: puts))
            try expect(again == nil, "guards before many steps do not hold it up")
            let count = try await group.list("d").entries.count
            try expect(count == 200, "\(count) entries instead of 200")
            await group.close()
        }

        private func retryBeyondLimits() async throws {
            let group = try await EtcdGroup.open(
                cluster.place, group: cluster.group + "-limits",
                options: EtcdGroupOptions(limits: Limits(storeByteCount: 1000)))
            let first = Transaction(
                operations: [.put("a", [UInt8](repeating: 1, count: 600), .persistent)], requestNumber: 1)
            let commit = try await group.commit(first)
            _ = try await group.commit(
                Transaction(operations: [
                    .put("a", [1], .persistent), .put("b", [UInt8](repeating: 2, count: 600), .persistent),
                ]))
            let retry = try await group.commit(first)
            try expect(retry == commit, "the retry came to \(retry), the request to \(commit)")
            await group.close()
        }

        /// Two replicas of one process: they differ in the history that they keep.
        private func refusalThenRead() async throws {
            let writer = try await cluster.open("writer")
            let other = try await EtcdGroup.open(
                cluster.place, group: cluster.group, options: EtcdGroupOptions(historyByteCount: 1 << 20))
            for number in 0..<300 {
                let key = try Key("r/\(number)")
                async let put: Void = { _ = try await writer.put(key, [1]) }()
                var isRefused = false
                while !isRefused {
                    do throws(SharedCoreError) {
                        _ = try await other.commit(Transaction(guards: [.absent(key)], operations: []))
                    } catch {
                        isRefused = true
                    }
                }
                let known = try await other.get(key, consistency: .causal)
                try expect(known != nil, "\(key) was found there, and a causal read does not know it")
                try await put
            }
            await other.close()
            await writer.close()
        }

        private func mixedLeases() async throws {
            // A cluster with a connection of its own: its keeper has had nothing but the long lease.
            let alone = try EtcdCluster([cluster.nodes[1].endpoint, cluster.nodes[0].endpoint])
            let long = try await cluster.open("long", lease: .seconds(60), at: alone)
            // The keeper has read the long lease and rests: no condition tells of that from outside.
            try await Task.sleep(for: .seconds(2))
            let short = try await cluster.open("short", lease: .seconds(3), at: alone)
            // Three times the short one, and half of the third of the long one.
            try await Task.sleep(for: .seconds(10))
            try await short.put("alive", [1])
            await short.close()
            await long.close()
        }

        /// The limit of an opening holds, though the calls to the cluster have a longer one.
        ///
        /// Source: contract C7.
        private func limitedOpening() async throws {
            let node = try cluster.alone("silent")
            defer { node.kill() }
            try await cluster.answers(node)
            node.stop()
            let began = ContinuousClock.now
            do throws(SharedCoreError) {
                _ = try await EtcdGroup.open(
                    EtcdCluster([node.endpoint]), group: cluster.group,
                    options: EtcdGroupOptions(openTimeout: .seconds(1), requestTimeout: .seconds(90)))
                throw SharedCoreError(.system, "A group was opened on a member that is stopped.", at: "trial")
            } catch {
                try expect(error.code == .unavailable, "an opening without a cluster: \(error)")
            }
            let waited = began.duration(to: .now)
            try expect(waited < .seconds(60), "it waits \(waited), for longer than it may")
        }

        /// The lease is granted, then one member after the other does not listen.
        private func slowOpening() async throws {
            let lines = try (0..<5).map { _ in try Line(to: cluster.nodes[0]) }
            defer { for line in lines { line.end() } }
            lines[0].hold(from: "slow-opening")
            for line in lines.dropFirst() { line.hold() }
            let doors = try lines.map { try EtcdCluster.Endpoint("127.0.0.1:\($0.port)") }
            let group = try await cluster.open(
                "slow-opening", lease: .seconds(9), timeout: .seconds(30),
                at: EtcdCluster(doors + [cluster.nodes[1].endpoint]))
            try await group.put("alive", [1])
            await group.close()
        }

        private func nestedPrefixes() async throws {
            let outer = try await EtcdGroup.open(
                cluster.place, group: "app1", options: EtcdGroupOptions(prefix: "/" + cluster.group))
            let inner = try await EtcdGroup.open(
                cluster.place, group: "e", options: EtcdGroupOptions(prefix: "/\(cluster.group)/app1"))
            try await inner.put("x", [1])
            try await outer.put("y", [2])
            let entries = try await outer.list().entries.map(\.key)
            try expect(entries == ["y"], "a group shows \(entries)")
            await inner.close()
            await outer.close()
        }

        /// A watch ends when its group is released without a close, also while the cluster does not answer.
        func watchOutlivesGroup() async throws {
            let line = try Line(to: cluster.nodes[0])
            defer { line.end() }
            let place = try EtcdCluster([EtcdCluster.Endpoint("127.0.0.1:\(line.port)")])
            func abandoned() async throws -> Watch {
                let group = try await cluster.open("let go", at: place)
                let watch = try await group.watch(.all, from: .now)
                line.hold()
                return watch
            }
            let watch = try await abandoned()
            let isOver = await withTaskGroup(of: Bool.self) { group in
                group.addTask {
                    do {
                        while try await watch.next() != nil {}
                        return true
                    } catch {
                        return (error as? SharedCoreError)?.code == .sessionEnded
                    }
                }
                group.addTask {
                    // The deadline.
                    try? await Task.sleep(for: .seconds(30))
                    watch.cancel()
                    return false
                }
                let first = await group.next() ?? false
                group.cancelAll()
                return first
            }
            try expect(isOver, "the watch goes on without its group")
        }

        private func greatestEpoch() async throws {
            let group = try await cluster.open("epoch")
            try await group.put("e", [1])
            for revision in [UInt64.max, UInt64(Int64.max), UInt64(Int64.max) - 1] {
                let greatest = Revision(rawValue: revision)
                for condition in [Transaction.Guard.epoch("e", greatest), .revision("e", greatest)] {
                    let commit = try? await group.commit(
                        Transaction(guards: [condition], operations: [.put("e", [2], .persistent)]))
                    try expect(commit == nil, "\(condition) holds")
                }
            }
            await group.close()
        }
    }
#endif
