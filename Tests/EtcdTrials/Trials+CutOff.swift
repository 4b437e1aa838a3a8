#if Etcd
    internal import Coordination
    internal import CoreAPI
    internal import EtcdBackend
    internal import Glibc
    internal import Platform

    extension Trials {
        /// The core of a participant that is cut off from the cluster stops before its session can be over, so before
        /// another core starts.
        ///
        /// Source: contract L5, C19.
        func cutOff() async throws -> String {
            let single = try cluster.alone("cut")
            defer { single.kill() }
            try await cluster.answers(single)
            return try await parts([
                ("each of three members frozen in turn", eachFrozen),
                (
                    "the lines to three members cut, and an Executor waits",
                    { try await linesCut(to: cluster.nodes, next: .executor) }
                ),
                (
                    "the line to one member cut, and a Main takes over",
                    { try await linesCut(to: [single], next: .main) }
                ),
                ("one member frozen", { try await frozen(single) }),
                ("two of three members frozen", quorumFrozen),
            ])
        }

        /// A Main of this process with its core.
        private struct Afar {
            let group: EtcdGroup
            let main: MainParticipant
            let notes = CoreNotes()

            init(in group: String, lease: Int, at place: EtcdCluster) async throws {
                let (handle, notes) = (
                    try await EtcdGroup.open(
                        place, group: group, as: SessionDescription(role: .main, name: "afar"),
                        options: EtcdGroupOptions(lease: .seconds(lease))), notes
                )
                self.group = handle
                main = try MainParticipant(of: handle) { NotedCore(group: handle) { notes.write($0) } }
                try await main.start()
                try expect(
                    handle.lease?.duration == .seconds(lease), "its lease: \(String(describing: handle.lease))")
            }

            /// Returns true if the cluster has answered a request sent after `instant`.
            func isConfirmed(after instant: BootInstant) -> Bool {
                group.lease.map { $0.confirmedAt > instant } ?? false
            }

            /// Waits until the participant's core has stopped because it is cut off, and checks that it was in time.
            func expectStop() async throws {
                try await eventually("the core of a participant that is cut off stops") { !notes.stops.isEmpty }
                guard let stop = notes.stops.first else { return }
                try expect(stop.reason == "cutOff", "it stopped for another reason: \(notes.all)")
                try expect(stop.at < stop.leaseEnd, "its session might have been over by then: \(notes.all)")
                try expect(notes.starts.count == 1, "a core started in doubt: \(notes.all)")
            }

            func end() async {
                await main.stop()
                await group.close()
            }
        }

        /// No two cores ran at once.
        private func expectOneAtOnce(_ notes: [CoreNote]) throws {
            var count = 0
            for note in notes.sorted(by: { $0.at < $1.at }) {
                count += note.reason == nil ? 1 : -1
                try expect(count <= 1, "two cores ran at once: \(notes)")
            }
        }

        /// While one member is away, a lease is confirmed by another, and no core stops.
        private func eachFrozen() async throws {
            cluster.takeNewGroup()
            let afar = try await Afar(in: cluster.group, lease: 60, at: cluster.place)
            for node in cluster.nodes {
                node.stop()
                defer { node.resume() }
                let frozen = SystemClock().now()
                try await eventually("the lease is confirmed without \(node.name)") { afar.isConfirmed(after: frozen) }
            }
            for node in cluster.nodes { try await cluster.answers(node) }
            try expect(afar.notes.all.count == 1, "a core stopped although its session stands: \(afar.notes.all)")
            await afar.end()
        }

        /// A participant that reaches no member, and one in another process that does.
        private func linesCut(to nodes: [Node], next role: SessionRole) async throws {
            cluster.takeNewGroup()
            let lines = try nodes.map { try Line(to: $0) }
            defer { for line in lines { line.end() } }
            let ways = try lines.map { try EtcdCluster.Endpoint("127.0.0.1:\($0.port)") }
            let afar = try await Afar(in: cluster.group, lease: 9, at: EtcdCluster(ways))
            try await eventually("a renewal is answered over the line") {
                afar.isConfirmed(after: afar.notes.all[0].at)
            }
            for line in lines { line.stop() }
            let near = try Neighbour(role, of: cluster.group, lease: 60, at: EtcdCluster(nodes.map(\.endpoint)))
            defer { near.process.signal(.kill) }
            try await eventually("the other's core runs") { !near.notes.isEmpty }
            let start = near.notes[0]
            try expect(
                afar.notes.stops.first.map { $0.at < start.at } == true,
                "the core that is cut off runs beside another: \(afar.notes.all), \(start)")
            try await afar.expectStop()
            try expect(
                afar.group.lease.map { $0.end < start.at } == true,
                "the session was over before its lease: \(String(describing: afar.group.lease)), \(start)")

            afar.notes.awaitEnd(of: afar.main)
            for line in lines { line.breakConnections() }
            try await eventually("the one that was cut off hears of it") { afar.notes.end != nil }
            try expect(afar.notes.end == .sessionEnded, "\(String(describing: afar.notes.end))")
            try expect(afar.notes.starts.count == 1, "it started a core without its session: \(afar.notes.all)")
            try expectOneAtOnce(afar.notes.all + near.notes)
            await afar.end()
        }

        /// A cluster that stops answering stops the core. When it answers before the session is over, another core starts under a new
        /// epoch.
        private func frozen(_ node: Node) async throws {
            cluster.takeNewGroup()
            let afar = try await Afar(in: cluster.group, lease: 15, at: EtcdCluster([node.endpoint]))
            let epoch = await afar.main.epoch
            node.stop()
            defer { node.resume() }
            try await afar.expectStop()
            node.resume()
            try await eventually("another core of it runs") { afar.notes.starts.count == 2 }
            let later = await afar.main.epoch
            try expect(later ?? .zero > epoch ?? .zero, "the epoch is \(String(describing: later)) again")
            try expectOneAtOnce(afar.notes.all)
            await afar.main.stop()
            let history = try await Timeline(afar.group).history()
            try expect(TimelineChecker.check(history).isClean, "the timeline: \(TimelineChecker.check(history))")
            try expect(
                history.records.contains { $0.entry.kind == .coreStopped && $0.entry.reason.contains("cut off") },
                "the timeline does not tell of the cut")
            await afar.group.close()
        }

        /// Without a quorum no session can be renewed, and none is given away. With it, one core runs.
        private func quorumFrozen() async throws {
            cluster.takeNewGroup()
            let afar = try await Afar(in: cluster.group, lease: 9, at: cluster.place)
            let near = try Neighbour(.executor, of: cluster.group, lease: 300, at: cluster.place)
            defer { near.process.signal(.kill) }
            try await eventually("the other takes part") {
                try await afar.group.sessions().contains { $0.name == "near" }
            }
            for node in cluster.nodes.prefix(2) { node.stop() }
            defer { for node in cluster.nodes { node.resume() } }
            try await afar.expectStop()
            try await eventually("the session may be over") {
                afar.group.lease.map { $0.end < SystemClock().now() } ?? false
            }
            try expect(
                afar.notes.all.count == 2 && near.notes.isEmpty,
                "a core started without a quorum: \(afar.notes.all), \(near.notes)")
            for node in cluster.nodes { node.resume() }
            // Either core may run now: it depends on whether the cluster's election leaves the session its lease.
            try await eventually("a core runs again") { afar.notes.all.count > 2 || !near.notes.isEmpty }
            try expectOneAtOnce(afar.notes.all + near.notes)
            await afar.end()
            try expectOneAtOnce(afar.notes.all + near.notes)
            for node in cluster.nodes { try await cluster.answers(node) }
        }
    }
#endif
