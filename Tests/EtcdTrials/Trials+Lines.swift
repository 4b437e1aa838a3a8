#if Etcd
    internal import CoreAPI
    internal import EtcdBackend

    extension Trials {
        /// If a request is held up or an answer is lost, the next member is asked, and nothing is done twice.
        func lostOnTheWay() async throws -> String {
            let held = try await postOnce("held") { line, group in
                line.hold()
                let commit = Task { try await group.post("held", state: 1) }
                // More bytes than a keep-alive has.
                try await eventually("the request is held up") { line.heldCount > 200 }
                line.stop()
                let revision = try await commit.value
                line.release()
                try await eventually("the request arrives after all") { line.heldCount == 0 && line.lostCount > 0 }
                return revision
            }
            let lost = try await postOnce("lost") { line, group in
                line.lose()
                let commit = Task { try await group.post("lost", state: 1) }
                try await eventually("the answer is lost") { line.lostCount > 0 }
                return try await commit.value
            }
            return "one post each, at \(held) and \(lost)"
        }

        /// Posts once over a disturbed line, and checks how often the post was carried out.
        private func postOnce(
            _ name: NotificationName, _ trouble: (Line, EtcdGroup) async throws -> Revision
        ) async throws -> Revision {
            let line = try Line(to: cluster.nodes[0])
            defer { line.end() }
            let reader = try await cluster.open("reader", lease: .seconds(60))
            let place = try EtcdCluster([
                EtcdCluster.Endpoint("127.0.0.1:\(line.port)"), cluster.nodes[1].endpoint,
            ])
            let group = try await cluster.open("writer", lease: .seconds(60), timeout: .seconds(20), at: place)
            try await group.sync()
            let revision = try await trouble(line, group)
            // A late request is evaluated by its member in the member's own time: a few rounds through the same member.
            let beside = try await cluster.open("beside", at: EtcdCluster([cluster.nodes[0].endpoint]))
            for _ in 0..<50 { try await beside.sync() }
            let state = try await reader.state(of: name)
            try expect(state.count == 1, "\(name) was posted once, and counts \(state.count)")
            try expect(state.revision == revision, "\(name) was posted at \(revision), and stands at \(state.revision)")
            await close([reader, group, beside])
            return revision
        }

        /// Participants of one process share the replica, the connection and its end.
        func comingAndGoing() async throws -> String {
            try await parts([
                ("two of a group in one process", sharedFeed), ("a watch longer than its group", watchOutlivesGroup),
                ("the end of a session, then a read", endThenRead),
                ("the end of a session, then a put", endThenPut), ("made again in one commit", madeAgain),
            ])
        }

        private func sharedFeed() async throws {
            let line = try Line(to: cluster.nodes[0])
            defer { line.end() }
            try await shareFeed(over: line)
            // No handle is held any more, closed or not.
            try await eventually("the last one leaves no connection", timeout: .seconds(20)) {
                line.connectionCount == 0
            }
        }

        private func shareFeed(over line: Line) async throws {
            let place = try EtcdCluster([EtcdCluster.Endpoint("127.0.0.1:\(line.port)")])
            let first = try await cluster.open("first", at: place)
            let second = try await cluster.open("second", at: place)
            let record = WatchRecord(try await second.watch())
            try await first.put("of-the-first", [1], lifetime: .session)
            try await eventually("the one is told what the other does") {
                record.breach != nil || record.entries["of-the-first"] != nil
            }
            try expect(line.connectionCount == 1, "\(line.connectionCount) connections of one process")
            await first.close()
            try await second.put("after", [1])
            try await eventually("who stays is told", timeout: .seconds(20)) {
                record.breach != nil || record.entries["after"] != nil
            }
            try expect(record.breach == nil, record.breach ?? "")
            try expect(record.endedSessionKeys == ["of-the-first"], "what the first held did not go with it")
            await second.close()
        }

        /// No commit reports a session's end, so a linearizable read has to ask.
        private func endThenRead() async throws {
            for _ in 0..<20 {
                try await afterUnheardEnd { reader in
                    let held = try await reader.get("held")
                    try expect(held == nil, "what a closed session held is read")
                }
            }
        }

        /// The entries of the ended session have made room.
        private func endThenPut() async throws {
            try await afterUnheardEnd(limits: Limits(storeByteCount: 1000)) { reader in
                _ = try await reader.put("own", [UInt8](repeating: 1, count: 600))
            }
        }

        /// Calls `body` just after a session has ended, while the updates on the end are late.
        ///
        /// The member's message on the end is lost. On a new connection the member answers at once, and sends the
        /// missed updates within a tenth of a second.
        private func afterUnheardEnd(
            limits: Limits = EtcdGroupOptions.standardLimits, _ body: (EtcdGroup) async throws -> Void
        ) async throws {
            let line = try Line(to: cluster.nodes[0])
            defer { line.end() }
            let options = EtcdGroupOptions(lease: .seconds(60), limits: limits)
            let reader = try await EtcdGroup.open(
                EtcdCluster([EtcdCluster.Endpoint("127.0.0.1:\(line.port)")]), group: cluster.group, options: options)
            // A connection of its own, so that this process learns of its sessions only by the cluster's updates.
            let holder = try await EtcdGroup.open(
                EtcdCluster([cluster.nodes[1].endpoint]), group: cluster.group, options: options)
            try await holder.put("held", [UInt8](repeating: 1, count: 600), lifetime: .session)
            try await reader.sync()
            line.lose()
            await holder.close()
            line.breakConnections()
            try await body(reader)
            _ = try await reader.delete("own")
            await reader.close()
        }

        private func madeAgain() async throws {
            let group = try await cluster.open("again")
            let first = try await group.put("e", [1])
            let again = try await group.commit(
                Transaction(operations: [.delete("e"), .put("e", [2], .persistent)]))
            // One replica has read the end, and one has been notified of it.
            let late = try await cluster.open("late", at: EtcdCluster([cluster.nodes[1].endpoint]))
            for handle in [group, late] {
                let entry = try await handle.get("e")
                try expect(
                    entry?.creationRevision == again.revision,
                    "made at \(again.revision), told as made at \(entry?.creationRevision.description ?? "none")")
                let former = try? await handle.commit(
                    Transaction(guards: [.epoch("e", first.revision)], operations: [.put("e", [3], .persistent)]))
                try expect(former == nil, "the epoch of the entry before holds")
                _ = try await handle.commit(
                    Transaction(guards: [.epoch("e", again.revision)], operations: [.put("e", [4], .persistent)]))
            }
            await close([group, late])
        }
    }
#endif
