internal import CoreAPI
internal import CoreAPITesting
internal import Glibc
internal import Platform
internal import TestSupport
internal import Testing

@testable import ZMQBackend

extension ZMQTests {
    /// Very many connections at once that never become clients.
    @Suite("Strangers at a hub's doors", .enabled(if: TestScope.isCheck))
    struct StrangerTests {
        private static let count = 10_000
        /// The most that the memory of a hub may grow from one wave of strangers to the next: less than a KiB for each.
        private static let growthLimit = 8 << 20
        /// Retained memory grows with every wave. A wave may have some more connections at once than earlier ones.
        private static let mostWaves = 4

        private static func keepsNothing(_ resident: [Int]) -> Bool {
            resident.count > 1 && resident[resident.count - 1] - resident[resident.count - 2] < growthLimit
        }

        /// Has the C library write to memory as soon as it is allocated, so that the system provides all of it at once.
        /// A second wave then takes more memory only if something of the first is kept.
        private static let touchesAllMemory = ["MALLOC_PERTURB_": "1"]

        /// As many as this process may have connections, which root raises.
        private static func allowedCount() -> Int {
            var limit = rlimit()
            let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
            guard getrlimit(resource, &limit) == 0 else { return 0 }
            var wanted = limit
            wanted.rlim_max = max(limit.rlim_max, rlim_t(count + 1_000))
            wanted.rlim_cur = wanted.rlim_max
            if setrlimit(resource, &wanted) != 0 { SpareDescriptors.raiseLimit() }
            guard getrlimit(resource, &limit) == 0 else { return 0 }
            return min(count, Int(clamping: limit.rlim_cur) - 1_000)
        }

        /// The resource use of a hub that has had clients, one of which is still connected.
        private func restingUse(of hub: HubChild, _ stage: HubStage) async throws -> ProcessUse {
            let guest = try await stage.client(at: hub.endpoint)
            try await guest.put("k", [0])
            await guest.close()
            return try ProcessUse(of: hub.process.pid)
        }

        @Test("10,000 connections that are half open: the hub goes on, lets them go after 5 s and keeps nothing")
        func halfOpen() async throws {
            let stage = try HubStage()
            let allowed = Self.allowedCount()
            #expect(allowed == Self.count, "this machine allows \(allowed) connections")
            let hub = try await stage.hubProcess(variables: Self.touchesAllMemory)
            let client = try await stage.client(at: hub.endpoint)
            let before = try await restingUse(of: hub, stage)
            var resident: [Int] = []
            for wave in 1...Self.mostWaves {
                let openings: [Stranger.Opening] = [.silence, .halfGreeting]
                var mostOpen = 0
                var strangers = try (0..<allowed).map { number in
                    if number % 500 == 0 {
                        mostOpen = max(mostOpen, try ProcessUse(of: hub.process.pid).descriptorCount)
                    }
                    return try Stranger(at: hub.endpoint, openings[number % openings.count])
                }
                // Some strangers may be counted late: on a busy machine the hub drops the first ones before the last
                // are there.
                try await eventually("the hub has taken all of them in", timeout: TestTimeout.long) {
                    mostOpen = max(mostOpen, try ProcessUse(of: hub.process.pid).descriptorCount)
                    for stranger in strangers where !stranger.isTakenIn { stranger.listen() }
                    return strangers.allSatisfy(\.isTakenIn)
                }
                // The hub waits for the strangers to go on. One that greets and closes at once has only a few of them
                // open.
                #expect(mostOpen >= allowed / 20, "the most that the hub had open")
                #expect(try await client.put("k", [UInt8(wave)]).changed)
                let guest = try await stage.client(at: hub.endpoint)
                #expect(try await guest.get("k")?.value == [UInt8(wave)])
                await guest.close()
                // Libzmq's own limit is 30 s.
                try await eventually("the hub lets them go", timeout: .seconds(20)) {
                    try ProcessUse(of: hub.process.pid).descriptorCount <= before.descriptorCount + 8
                }
                #expect(strangers.count == allowed)
                strangers = []
                resident.append(try ProcessUse(of: hub.process.pid).residentByteCount)
                if Self.keepsNothing(resident) { break }
            }
            #expect(Self.keepsNothing(resident), "resident after each wave: \(resident)")
            #expect(hub.process.lines.count == 1, "what the hub says of those who said nothing")
            await client.close()
            hub.process.signal(.kill)
        }

        @Test("10,000 connections that speak nonsense: all are counted, few reported, and the hub keeps nothing")
        func nonsense() async throws {
            let stage = try HubStage()
            let allowed = Self.allowedCount()
            let hub = try await stage.hubProcess(variables: Self.touchesAllMemory)
            let client = try await stage.client()
            let before = try await restingUse(of: hub, stage)
            var resident: [Int] = []
            var others = 0
            let begin = ContinuousClock.now
            for wave in 1...Self.mostWaves {
                var strangers = try (0..<allowed).map { _ in try Stranger(at: hub.endpoint, .handshake) }
                try await eventually("all are through") {
                    for stranger in strangers where !stranger.isThrough { stranger.listen() }
                    return strangers.allSatisfy(\.isThrough)
                }
                for _ in 0..<3 {
                    for stranger in strangers { stranger.send([Wire.version, 200, 1, 2, 3]) }
                }
                #expect(try await client.put("k", [UInt8(wave)]).changed)
                try await eventually("each answer is there", timeout: TestTimeout.long) {
                    for stranger in strangers where stranger.messageCount < 3 { stranger.listen() }
                    return strangers.allSatisfy { $0.messageCount == 3 }
                }
                // A refusal that was not reported by itself is counted by the next report, which another one brings
                // about.
                try await eventually("all are counted", timeout: TestTimeout.long) {
                    if Self.refusalCount(in: hub) >= wave * allowed + others { return true }
                    let other = try Stranger(at: hub.endpoint, .handshake)
                    others += 1
                    try await eventually("it is through") {
                        other.listen()
                        return other.isThrough
                    }
                    other.send([Wire.version, 200, 1, 2, 3])
                    try await eventually("it is answered") {
                        other.listen()
                        return other.messageCount == 1
                    }
                    return false
                }
                // Beyond its limit, the hub forgets which connections it has counted.
                if wave * allowed + others <= RefusalReports.connectionLimit {
                    #expect(Self.refusalCount(in: hub) == wave * allowed + others, "each is counted once")
                }
                strangers = []
                try await eventually("the hub lets them go") {
                    try ProcessUse(of: hub.process.pid).descriptorCount <= before.descriptorCount + 8
                }
                resident.append(try ProcessUse(of: hub.process.pid).residentByteCount)
                if Self.keepsNothing(resident) { break }
            }
            #expect(Self.keepsNothing(resident), "resident after each wave: \(resident)")
            let seconds = Int(begin.duration(to: .now) / .seconds(1)) + 2
            #expect(hub.process.lines.count <= 1 + RefusalReports.limitPerSecond * seconds)
            await client.close()
            hub.process.signal(.kill)
        }

        /// The number of refused connections that the hub's reports count: one each, and those that were not reported.
        private static func refusalCount(in hub: HubChild) -> Int {
            hub.process.lines.dropFirst().reduce(0) { sum, line in
                sum + 1 + (line.firstMatch(of: /(\d+) other connections were refused/).flatMap { Int($0.1) } ?? 0)
            }
        }
    }
}
