#if Etcd
    internal import CoreAPI
    internal import EtcdBackend

    /// The cost of a put, a get and a reported change, beside the same calls made by hand in the same run.
    struct Measuring {
        private let place: EtcdCluster
        private let rounds = 1000
        private let value = [UInt8](repeating: 7, count: 100)

        private init(place: EtcdCluster) {
            self.place = place
        }

        /// Measures on one member, then over a member of three that is not their leader.
        static func run(program: String, in directory: String) async throws {
            let cluster = try await TrialCluster(program: program, in: directory)
            let alone = try cluster.alone("measured", [])
            try await cluster.answers(alone)
            guard let follower = try cluster.nodes.first(where: { try !Metrics(of: $0.endpoint).isLeader }) else {
                throw TrialFailure(description: "every member leads")
            }
            for (title, node) in [("one member", alone), ("a follower of three", follower)] {
                Swift.print("\n\(title)")
                let place = try EtcdCluster([node.endpoint])
                try await Measuring(place: place).run()
                try Growth(place: place).run()
            }
            for node in cluster.nodes + [alone] { node.kill() }
        }

        private func run() async throws {
            let name = "measuring-" + String(UInt64.random(in: 0...UInt64.max), radix: 36)
            let group = try await EtcdGroup.open(place, group: name)
            let bare = try BareCalls(at: place)
            try await compare(
                "put", { try await group.put("k", self.value) }, { try await bare.put("k", self.value) })
            try await compare("get", { _ = try await group.get("k") }, { _ = try await bare.get("k") })
            try await told(group, bare)
            let start = ContinuousClock.now
            for _ in 0..<rounds { _ = try await group.get("k", consistency: .causal) }
            Swift.print("get, causal: \(start.duration(to: .now).microseconds / Double(rounds)) us")
            await group.close()
            await bare.remove()
            try await EtcdGroup.erase(name, at: place, prefix: "/sharedcore")
        }

        private func told(_ group: EtcdGroup, _ bare: BareCalls) async throws {
            let (news, sender) = AsyncStream<Void>.makeStream()
            let watching = try await bare.watch { sender.yield() }
            var bareNews = news.makeAsyncIterator()
            let watch = try await group.watch(.all, from: .now)
            // Both wait for the reported change after the same put as above.
            var own: [Double] = []
            var byHand: [Double] = []
            for _ in 0..<rounds {
                var start = ContinuousClock.now
                async let event = watch.next()
                try await group.put("k", value)
                _ = try await event
                own.append(start.duration(to: .now).microseconds)
                start = ContinuousClock.now
                try await bare.put("k", value)
                _ = await bareNews.next()
                byHand.append(start.duration(to: .now).microseconds)
            }
            watching.cancel()
            Self.print("put, told by a watch", own, byHand)
        }

        private func compare(
            _ what: String, _ own: () async throws -> Void, _ byHand: () async throws -> Void
        ) async throws {
            var samples: (own: [Double], byHand: [Double]) = ([], [])
            for round in 0..<rounds + 100 {
                var start = ContinuousClock.now
                try await own()
                let first = start.duration(to: .now).microseconds
                start = ContinuousClock.now
                try await byHand()
                guard round >= 100 else { continue }
                samples.own.append(first)
                samples.byHand.append(start.duration(to: .now).microseconds)
            }
            Self.print(what, samples.own, samples.byHand)
        }

        private static func print(_ what: String, _ own: [Double], _ byHand: [Double]) {
            let (own, byHand) = (own.sorted(), byHand.sorted())
            func at(_ part: Double, _ samples: [Double]) -> Int { Int(samples[Int(Double(samples.count - 1) * part)]) }
            Swift.print(
                "\(what): \(at(0.5, own)) us (p99 \(at(0.99, own))), by hand \(at(0.5, byHand)) us (p99 "
                    + "\(at(0.99, byHand))), x \(Double(at(0.5, own)) / Double(at(0.5, byHand)))")
        }
    }
#endif
