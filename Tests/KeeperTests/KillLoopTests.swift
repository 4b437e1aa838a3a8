internal import CoreAPI
internal import CoreAPITesting
internal import Glibc
internal import KeptSockets
internal import Platform
internal import TestSupport
internal import Testing

extension KeeperTests {
    @Suite("Kill loop", .enabled(if: TestScope.isCheck), .serialized)
    struct KillLoopTests {
        /// A seed of one's own replays a run, as far as processes do.
        private static let seed =
            getenv("SHAREDCORE_TEST_SEED").flatMap { UInt64(String(cString: $0)) }
            ?? UInt64.random(in: 0..<1_000_000)
        private static let rounds = 12

        @Test(
            "Host, keeper and Main are killed at random: one Main at a time, no orphan, no line lost, and the peer never sees a close"
        )
        func loop() async throws {
            let group = try SupervisedGroup()
            let stage = group.stage
            var chance = SeededRandom(seed: Self.seed)
            var host = try group.serve()
            try await stage.untilNoted("connected")
            var sent: [String] = []
            var story: [String] = ["seed \(Self.seed)"]
            let over = ContinuousClock.now + KillLoopTime.duration(or: .zero)
            var round = 0
            while round < Self.rounds || ContinuousClock.now < over {
                defer { round += 1 }
                // If two fall at once, a socket that no process holds any more is lost; so each round begins complete.
                var found: KeeperStatus?
                try await stage.until("\(story): a keeper has it all") { status in
                    found = status
                    return status.kept == ["line"] && status.presence != "silent" && status.main != nil
                }
                let status = try #require(found)
                if chance.next() % 2 == 0 {
                    sent.append("sleep")
                    try await group.server.send("sleep")
                    if chance.next() % 2 == 0 {
                        try await stage.until("\(story): it sleeps") { $0.presence == "asleep" }
                    }
                }
                let victim = ["host", "keeper", "main", "host and main"][Int(chance.next() % 4)]
                story.append(victim)
                if victim == "keeper" { kill(status.keeper, SIGKILL) }
                if victim.hasSuffix("main"), let main = status.main { kill(main, SIGKILL) }
                if victim.hasPrefix("host") {
                    host.signal(.kill)
                    _ = await host.end()
                    host = try group.serve()
                }
                sent.append("line \(round)")
                try await group.server.send("line \(round)")
                try await stage.untilNoted("read line \(round)")
            }
            #expect(stage.readLines.withoutRepeats == sent, "\(story)")
            #expect(group.server.connectionCount == 1, "\(story)")
            #expect(group.server.closeCount == 0, "\(story)")
            #expect(!stage.notes.contains("second"), "\(story)")

            // The last process to be killed may have been the keeper, and only a keeper can be told to end.
            try await stage.until("\(story): a keeper is there again") { $0.presence != "silent" && $0.main != nil }
            let main = try await stage.startedMain()
            #expect(await (try group.run(["keeper", "--end"])).end() == .exited(0))
            try await eventually("\(story): Main is gone") { kill(main, 0) != 0 || stage.mainPid == nil }
        }
    }
}
