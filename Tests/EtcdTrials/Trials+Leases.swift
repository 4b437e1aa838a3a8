#if Etcd
    internal import CoreAPI
    internal import EtcdBackend
    internal import Glibc
    internal import Platform

    extension Trials {
        /// A process that opens a session keeps none of the other sessions alive before their time.
        func openingsRenewNobody() async throws -> String {
            let node = try cluster.alone("leases", [])
            defer { node.kill() }
            try await cluster.answers(node)
            let place = try EtcdCluster([node.endpoint])
            func renewalCount() throws -> Int {
                Int(try Metrics(of: node.endpoint).sum("grpc_server_msg_received_total", of: "LeaseKeepAlive"))
            }

            let before = try renewalCount()
            let began = ContinuousClock.now
            var handles: [EtcdGroup] = []
            for number in 0..<100 {
                handles.append(try await cluster.open("\(number)", lease: .seconds(60), at: place))
            }
            let renewals = try renewalCount() - before
            // However long a lease is, its turn comes every 3 s.
            let turns = Int(began.duration(to: .now) / .seconds(3)) + 2
            try expect(renewals <= turns * handles.count, "\(renewals) renewals in the time of \(turns) turns")
            for handle in handles { await handle.close() }
            return "\(renewals) renewals while 100 sessions opened"
        }

        /// A process is proven to have a session only when the kernel says so, also while it is stopped.
        func processIsProven() async throws -> String {
            let node = try cluster.alone("proof", [])
            defer { node.kill() }
            try await cluster.answers(node)
            let place = try EtcdCluster([node.endpoint])
            let group = try await cluster.open("main", at: place)
            do {
                try await provesProcesses(group, at: place)
            } catch {
                await group.close()
                throw error
            }
            await group.close()
            return "proven by the session's socket, also of a stopped process"
        }

        private func provesProcesses(_ group: EtcdGroup, at place: EtcdCluster) async throws {
            let key: Key = "held"
            let holder = try self.holder(of: key, at: place)
            var hasEnded = false
            func end() {
                guard !hasEnded else { return }
                hasEnded = true
                holder.kill()
                _ = try? holder.waitForEnd()
            }
            defer { end() }
            try await eventually("the holder holds") { try await group.get(key) != nil }
            guard let other = try await group.sessions().first(where: { $0.name == "holder" }) else {
                throw TrialFailure(description: "the holder has no session")
            }
            let own = ProcessIdentity.current
            try expect(await group.doubt(that: own, has: group.session.id) == nil, "this process is not proven")
            try expect(await group.doubt(that: own, has: other.id) != nil, "this process is taken for the holder's")
            Glibc.kill(holder.pid, SIGSTOP)
            let doubt = await group.doubt(that: other.process, has: other.id)
            Glibc.kill(holder.pid, SIGCONT)
            try expect(doubt == nil, "a stopped holder is not proven: \(doubt ?? "")")

            // More than the socket's queue holds. It is empty again with the next turn of the leases.
            for _ in 0..<100 { _ = await group.doubt(that: own, has: group.session.id) }
            try await eventually("this process is proven again, however often that was asked") {
                await group.doubt(that: own, has: group.session.id) == nil
            }
            end()
            try expect(
                await group.doubt(that: other.process, has: other.id) != nil, "a session without a socket is proven")
        }
    }
#endif
