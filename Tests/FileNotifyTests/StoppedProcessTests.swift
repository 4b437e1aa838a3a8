internal import CoreAPI
internal import CoreAPITesting
internal import FileNotifyBackend
internal import Glibc
internal import Platform
internal import TestSupport
internal import Testing

@Suite("A process that is stopped", .timeLimit(.minutes(10)))
struct StoppedProcessTests {
    @Test(
        "S15: stopped in a compaction, it holds up no other, and it goes on when continued",
        arguments: FailPointSet.compaction)
    func compactionHoldsUpNobody(place: String) async throws {
        let directory = try TemporaryDirectory()
        let group = try await FileGroup.open(directory: directory.path(of: "group"))
        for index in 0..<50 { try await group.put(Key("key-\(index)"), text: "\(index)") }
        let recorder = WatchRecorder(try await group.watch())
        let peer = try await PeerProcess.joining(directory.path(of: "group"))
        try await peer.tell("arm \(place):stop")
        try peer.send("compact")
        try await peer.stopped()
        for index in 0..<20 { try await group.put("other", text: "\(index)") }
        try await expectAgreement(in: directory.path(of: "group"), key: "other", value: "19")
        // Other processes compact meanwhile, more than once, so that a late compaction would find its number free.
        for _ in 0..<3 {
            _ = try await group.compactNow()
            try await group.put("other", text: "compacted")
        }
        try await expectAgreement(in: directory.path(of: "group"), key: "other", value: "compacted")

        peer.signal(.continue)
        #expect(try await peer.answer().hasPrefix("ok"))
        #expect(try await peer.tell("get other") == "value compacted")
        try await peer.tell("put other peer")
        #expect(try await group.text("other") == "peer")
        let revision = try await group.put("other", text: "last")
        try await recorder.reaches(revision)
        try await expectAgreement(in: directory.path(of: "group"), key: "other", value: "last")
        for index in 0..<50 { #expect(try await group.text(Key("key-\(index)")) == "\(index)") }
        try await recorder.stop()
        #expect(recorder.mirror.breaches.isEmpty)
        await group.close()
    }

    @Test("S10, S15: behind four processes that stand still in their compactions, a commit compacts beside them")
    func compactsBehindFour() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let group = try await FileGroup.open(directory: path)
        var peers: [PeerProcess] = []
        for _ in 0..<4 { peers.append(try await PeerProcess.joining(path)) }
        let next = try await PeerProcess.joining(path)
        // Longer than processes wait for content, with next to no content in the file.
        try await peers[0].tell("fill large/ 3 1000000")
        for (number, peer) in peers.enumerated() {
            try await peer.tell("arm compaction.afterSnapshot:stop")
            // A peer compacts when it has read how long the log is: the first one behind its commit, the others before
            // theirs.
            try await peer.tell("get key")
            try peer.send(number == 0 ? "clear large" : "put key\(number) late")
            try await peer.stopped()
        }
        #expect(try await group.get("large/0") == nil)
        #expect(group.generation == 1, "no compaction has come further")
        #expect(try await next.tell("get key") == "nothing")
        try await next.tell("put key first")
        #expect(try await group.text("key") == "first")
        #expect(group.generation > 1, "the put waited for a compaction")
        try await expectAgreement(in: path, key: "key", value: "first")

        for peer in peers {
            peer.signal(.continue)
            #expect(try await peer.answer().hasPrefix("ok"))
        }
        for number in 1..<4 { #expect(try await group.text(Key("key\(number)")) == "late") }
        try await expectAgreement(in: path, key: "key", value: "first")
        await group.close()
    }

    @Test("S10, S15: a commit that waits for the spare file waits under no lock, and is not refused")
    func waitForSpareHoldsUpNobody() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let group = try await FileGroup.open(directory: path)
        let peer = try await PeerProcess.joining(path)
        // From then on the spare file is large enough for small content.
        try await group.put("key", text: "first")
        let spare = try OpenFile(path: path + "/spare", .write)
        #expect(try spare.tryLock(byteAt: 0))
        try await peer.tell("arm commit.awaitsSpare:stop")
        try peer.send("fillOne large 600000")
        try await peer.stopped()
        for index in 0..<20 { try await group.put("key", text: "\(index)") }
        #expect(group.generation == 1, "no writer was passed over")
        spare.unlock(byteAt: 0)
        peer.signal(.continue)
        #expect(try await peer.answer().hasPrefix("ok"))
        await group.close()
    }

    @Test("S15: a writer that takes long is waited for 10 s at most", .enabled(if: TestScope.isCheck))
    func longJudgement() async throws {
        let directory = try TemporaryDirectory()
        let group = try await FileGroup.open(directory: directory.path(of: "group"))
        let slow = try await PeerProcess.joining(directory.path(of: "group"))
        try await slow.tell("arm commit.beforePublish:stop*4,commit.isLate:stop,commit.beforePublish:wait=1000000")
        try slow.send("put slow yes")
        for round in 0..<4 {
            try await slow.stopped()
            try await group.put("key", text: "\(round)")
            slow.signal(.continue)
        }
        try await slow.stopped()
        slow.signal(.continue)
        // The writer never ends. F-S15a checks that it is waited for at all, which does not depend on time.
        _ = try await withTimeout(TestTimeout.long, "the others go on") { try await group.put("key", text: "later") }
        #expect(try await group.text("slow") == nil)
        await slow.killNow()
        await group.close()
    }

    @Test("S15: stopped while it passes over a frozen writer, it holds up none either", arguments: FailPointSet.roll)
    func rollHoldsUpNobody(place: String) async throws {
        let directory = try TemporaryDirectory()
        let group = try await FileGroup.open(directory: directory.path(of: "group"))
        let frozen = try await PeerProcess.joining(directory.path(of: "group"))
        let peer = try await PeerProcess.joining(directory.path(of: "group"))
        try await frozen.tell("arm commit.beforePublish:stop")
        try frozen.send("put frozen yes")
        try await frozen.stopped()
        try await peer.tell("arm \(place):stop")
        try peer.send("put slow yes")
        try await peer.stopped()
        for index in 0..<20 { try await group.put("key", text: "\(index)") }
        _ = try await group.compactNow()
        for index in 20..<40 { try await group.put("key", text: "\(index)") }
        try await expectAgreement(in: directory.path(of: "group"), key: "key", value: "39")
        for process in [peer, frozen] { process.signal(.continue) }
        for process in [peer, frozen] { #expect(try await process.answer().hasPrefix("ok")) }
        for key in ["frozen", "slow"] as [Key] { #expect(try await group.text(key) == "yes") }
        #expect(try await group.text("key") == "39")
        await group.close()
    }
}
