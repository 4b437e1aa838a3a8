#if Etcd
    internal import CoreAPI
    internal import EtcdBackend

    extension Trials {
        /// Who opens a session has none of the others kept alive before their time.
        func openingsRenewNobody() async throws -> String {
            let node = try cluster.alone("leases", [])
            defer { node.kill() }
            try await cluster.answers(node)
            let place = try EtcdPlace([node.endpoint])
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
    }
#endif
