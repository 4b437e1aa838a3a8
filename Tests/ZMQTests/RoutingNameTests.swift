internal import CoreAPI
internal import CoreAPITesting
internal import Glibc
internal import Platform
internal import TestSupport
internal import Testing

@testable import ZMQBackend

extension ZMQTests {
    /// Connections that choose the names under which the library keeps connections (decision 31).
    @Suite("Names that peers choose for their connections", .serialized)
    struct RoutingNameTests {
        enum Attacker: String, CaseIterable {
            case withKey = "a client with a key, over tcp"
            case otherUserOverNetwork = "another user without a key, over tcp"
            case otherUserAtSocket = "another user, at a socket that is open to all"

            var isLocal: Bool { self == .otherUserAtSocket }
        }

        private static let perSecond = 100
        /// For 10 s, or for a minute in long runs; a busy machine takes longer.
        private static let count = (TestScope.isAtLength ? 60 : 10) * perSecond

        private static let otherUser = ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]

        /// Begins an attack on a hub.
        private func attack(
            _ hub: HubChild, of stage: HubStage, with keys: CurveClientKeys?, through words: [String]
        ) throws -> ChildProcess {
            var command = words + [try ChildProcess.built("sharedcore-test-peer"), "routingNames"]
            command += ["\(hub.endpoint)", "\(Self.perSecond)"]
            if let keys { command += [keys.own.secretKey, keys.own.publicKey, keys.hub] }
            return try ChildProcess(command[0], Array(command.dropFirst()))
        }

        private func hub(of stage: HubStage, for attacker: Attacker) async throws -> HubChild {
            let hub = try await stage.hubProcess(at: attacker.isLocal ? nil : .tcp(host: "127.0.0.1", port: 0))
            guard attacker.isLocal else { return hub }
            for (path, mode) in [
                (stage.directory.path, 0o755), (stage.directory.path(of: "hub"), 0o777),
                (stage.directory.path(of: "hub.news"), 0o777),
            ] as [(String, mode_t)] { #expect(chmod(path, mode) == 0) }
            return hub
        }

        /// Attacks a hub, and makes puts of a client of that hub or of another one meanwhile.
        ///
        /// - Returns: The duration of each put.
        private func put(
            through client: ZMQGroup, while attacker: Attacker, attacks hub: HubChild, of stage: HubStage
        ) async throws -> [Duration] {
            let keys = attacker == .withKey ? try stage.clientKeys(for: hub.endpoint) : nil
            let attack = try attack(hub, of: stage, with: keys, through: attacker == .withKey ? [] : Self.otherUser)
            var times: [Duration] = []
            while attack.lines.count < Self.count / 100 {
                try #require(attack.ended == nil)
                let begin = ContinuousClock.now
                #expect(try await client.put("k", [UInt8(times.count & 0xFF)]).changed)
                times.append(ContinuousClock.now - begin)
                try await Task.sleep(for: .milliseconds(5))
            }
            attack.signal(.kill)
            return times.sorted()
        }

        @Test(
            "100 connections a second that choose the library's names and random ones end no hub, no session and no put",
            .enabled(if: getuid() == 0, "it takes root to be another user"), .timeLimit(.minutes(10)),
            arguments: Attacker.allCases)
        func names(_ attacker: Attacker) async throws {
            let (stage, otherStage) = (try HubStage(), try HubStage())
            let hub = try await hub(of: stage, for: attacker)
            let idle = try await stage.client(at: hub.endpoint)
            let client = try await stage.client(at: hub.endpoint)
            try await idle.put("mine", [1], lifetime: .session)
            let attacked = try await put(through: client, while: attacker, attacks: hub, of: stage)
            #expect(hub.process.ended == nil)
            #expect(try await Set(client.sessions().map(\.id)) == [idle.session.id, client.session.id])
            #expect(try await idle.get("mine")?.value == [1])
            // Another client is admitted as before.
            try await stage.client(at: hub.endpoint).close()
            if TestScope.isAtLength {
                let otherHub = try await self.hub(of: otherStage, for: attacker)
                let beside = try await put(through: client, while: attacker, attacks: otherHub, of: otherStage)
                print(
                    "\(attacker.rawValue): 99 of 100 puts took \(Self.p99(attacked)) at most, "
                        + "and \(Self.p99(beside)) while another hub of the machine was attacked")
                otherHub.process.signal(.kill)
            }
            await client.close()
            await idle.close()
            hub.process.signal(.kill)
        }

        private static func p99(_ times: [Duration]) -> Duration {
            times.isEmpty ? .zero : times[min(times.count - 1, times.count * 99 / 100)]
        }

        @Test("the attack is one: a process of the hub's own user ends it so at a socket")
        func ownUser() async throws {
            let stage = try HubStage()
            let hub = try await stage.hubProcess()
            let attack = try attack(hub, of: stage, with: nil, through: [])
            try await eventually("the hub has ended", timeout: TestTimeout.long) { hub.process.ended != nil }
            #expect(hub.process.ended == .killed(by: SIGABRT))
            withExtendedLifetime(attack) {}
        }
    }
}
