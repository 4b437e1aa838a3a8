#if Etcd
    internal import CoreAPI
    internal import EtcdBackend
    internal import Glibc
    internal import Platform

    /// What a put, a get, a change that is told, and a session cost, beside the same calls made by hand in the same run.
    struct Measuring {
        let place: EtcdPlace
        private let rounds = 1000
        private let value = [UInt8](repeating: 7, count: 100)

        init(at place: EtcdPlace) {
            self.place = place
        }

        func run() async throws {
            let name = "measuring-" + String(UInt64.random(in: 0...UInt64.max), radix: 36)
            let group = try await EtcdGroup.open(place, group: name)
            let bare = try BareCalls(at: place)
            try await compare(
                "put", { try await group.put("k", self.value) }, { try await bare.put("k", self.value) })
            try await compare("get", { _ = try await group.get("k") }, { _ = try await bare.get("k") })
            try await told(group, bare)
            let start = ContinuousClock.now
            for _ in 0..<rounds { _ = try await group.get("k", consistency: .causal) }
            Swift.print("get, causal: \(Self.microseconds(start.duration(to: .now)) / Double(rounds)) us")
            await group.close()
            await bare.remove()
            for count in [1, 10, 100, 1000] {
                try await sessions(count, named: { _ in name })
                try await sessions(count, named: { "\(name)-\($0)" })
            }
            try await EtcdGroup.erase(name, at: place, prefix: "/sharedcore")
        }

        private func told(_ group: EtcdGroup, _ bare: BareCalls) async throws {
            let (news, sender) = AsyncStream<Void>.makeStream()
            let watching = try await bare.watch { sender.yield() }
            var bareNews = news.makeAsyncIterator()
            let watch = try await group.watch(.all, from: .now)
            // Both wait for what is told, after the same put as above.
            var own: [Double] = []
            var byHand: [Double] = []
            for _ in 0..<rounds {
                var start = ContinuousClock.now
                async let event = watch.next()
                try await group.put("k", value)
                _ = try await event
                own.append(Self.microseconds(start.duration(to: .now)))
                start = ContinuousClock.now
                try await bare.put("k", value)
                _ = await bareNews.next()
                byHand.append(Self.microseconds(start.duration(to: .now)))
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
                let first = Self.microseconds(start.duration(to: .now))
                start = ContinuousClock.now
                try await byHand()
                guard round >= 100 else { continue }
                samples.own.append(first)
                samples.byHand.append(Self.microseconds(start.duration(to: .now)))
            }
            Self.print(what, samples.own, samples.byHand)
        }

        private func sessions(_ count: Int, named name: (Int) -> String) async throws {
            let before = Self.residentByteCount
            let start = ContinuousClock.now
            var handles: [EtcdGroup] = []
            for number in 0..<count { handles.append(try await EtcdGroup.open(place, group: name(number))) }
            let opened = Self.microseconds(start.duration(to: .now)) / Double(count)
            let bytes = (Self.residentByteCount - before) / count
            for handle in handles { await handle.close() }
            let kind = name(0) == name(1) ? "sessions of one group" : "groups"
            Swift.print("\(count) \(kind): \(opened) us and \(bytes / 1024) KiB each")
            guard name(0) != name(1) else { return }
            for number in 0..<count { try await EtcdGroup.erase(name(number), at: place, prefix: "/sharedcore") }
        }

        private static var residentByteCount: Int {
            let bytes = (try? OpenFile(path: "/proc/self/statm", .read).read(count: 256, at: 0)) ?? []
            let words = String(decoding: bytes, as: UTF8.self).split(separator: " ")
            return (words.count > 1 ? Int(words[1]) ?? 0 : 0) * Int(getpagesize())
        }

        private static func microseconds(_ duration: Duration) -> Double {
            Double(duration.components.attoseconds) / 1e12 + Double(duration.components.seconds) * 1e6
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
