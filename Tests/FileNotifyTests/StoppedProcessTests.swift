internal import CoreAPI
internal import CoreAPITesting
internal import FileNotifyBackend
internal import Glibc
internal import Platform
internal import TestSupport
internal import Testing

@Suite("A process that is stopped", .timeLimit(.minutes(5)))
struct StoppedProcessTests {
    @Test(
        "S15: stopped in a compaction, it holds up nobody, and it goes on when continued",
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
        // Others compact meanwhile, more than once, so that a late one would find its number free.
        for _ in 0..<3 {
            _ = try await group.compactNow()
            try await group.put("other", text: "compacted")
        }
        try await expectAgreement(in: directory.path(of: "group"), key: "other", value: "compacted")

        peer.signal(SIGCONT)
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
        peer.signal(SIGCONT)
        #expect(try await peer.answer().hasPrefix("ok"))
        await group.close()
    }

    @Test("S15: a writer that takes long is passed over a few times, then waited for, and not when it is stopped")
    func longJudgement() async throws {
        let directory = try TemporaryDirectory()
        let group = try await FileGroup.open(directory: directory.path(of: "group"))
        let busy = try await PeerProcess.joining(directory.path(of: "group"))
        let slow = try await PeerProcess.joining(directory.path(of: "group"))
        try busy.send("puts busy 100000000")
        // Long enough for the busy one to lose its patience also on a machine that starves it.
        try await slow.tell("arm commit.afterCatchUp:wait=2500*")
        try slow.send("put slow yes")
        let late = try await TestTimeout.$usual.withValue(TestTimeout.long) { try await slow.answer() }
        #expect(late.hasPrefix("ok"))
        #expect(try await group.text("slow") == "yes")

        // One that runs no longer is not waited for.
        try await slow.tell("arm commit.afterCatchUp:wait=2500*,commit.isLate:stop")
        try slow.send("put slow again")
        try await TestTimeout.$usual.withValue(TestTimeout.long) { try await slow.stopped() }
        for index in 0..<20 { try await group.put("key", text: "\(index)") }
        slow.signal(SIGCONT)
        let continued = try await TestTimeout.$usual.withValue(TestTimeout.long) { try await slow.answer() }
        #expect(continued.hasPrefix("ok"))
        #expect(try await group.text("slow") == "again")
        await busy.killNow()
        await group.close()
    }

    @Test("S15: stopped while it passes over a frozen writer, it holds up nobody either", arguments: FailPointSet.roll)
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
        for process in [peer, frozen] { process.signal(SIGCONT) }
        for process in [peer, frozen] { #expect(try await process.answer().hasPrefix("ok")) }
        for key in ["frozen", "slow"] as [Key] { #expect(try await group.text(key) == "yes") }
        #expect(try await group.text("key") == "39")
        await group.close()
    }
}
