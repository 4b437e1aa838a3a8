internal import CoreAPI
internal import CoreAPITesting
internal import FileNotifyBackend
internal import Glibc
internal import Platform
internal import TestSupport
internal import Testing

@Suite("Many processes", .serialized, .timeLimit(.minutes(10)))
struct ManyProcessesTests {
    private func peers(_ count: Int, in directory: String) async throws -> [PeerProcess] {
        var peers: [PeerProcess] = []
        for _ in 0..<count { peers.append(try await PeerProcess.joining(directory)) }
        return peers
    }

    @Test(
        "S6, S9, S15: the sum is exact when processes are stopped at random and journals are replaced all the time",
        arguments: Seed.several(4))
    func sumIsExactUnderStops(seed: Seed) async throws {
        var random = SeededRandom(seed)
        let directory = try TemporaryDirectory()
        let group = try await FileGroup.open(directory: directory.path(of: "group"))
        let recorder = WatchRecorder(try await group.watch())
        let peers = try await peers(4, in: directory.path(of: "group"))
        for peer in peers { try peer.send("increment n 300") }
        for _ in 0..<30 {
            let peer = peers[Int.random(in: 0..<peers.count, using: &random)]
            peer.signal(.stop)
            switch Int.random(in: 0..<3, using: &random) {
            case 0: _ = try await group.compactNow()
            case 1: try await group.put("other", text: "x")
            default: break
            }
            // The length of a stop is left to chance; nothing is expected to happen meanwhile.
            try await Task.sleep(for: .milliseconds(Int.random(in: 0..<40, using: &random)))
            peer.signal(.continue)
        }
        for peer in peers { #expect(try await peer.answer(timeout: TestTimeout.long).hasPrefix("ok")) }
        #expect(try await group.text("n") == "1200")
        let revision = try await group.put("last", text: "x")
        try await recorder.reaches(revision)
        try await recorder.stop()
        #expect(recorder.mirror.breaches.isEmpty, "\(recorder.mirror.breaches)")
        if recorder.mirror.laggedCount == 0 {
            let counts = recorder.mirror.changes.filter { $0.key == "n" }.compactMap { $0.new?.value }
            #expect(counts == (1...1200).map { Array("\($0)".utf8) }, "W1: every step, once, in order")
        }
        await group.close()
    }

    @Test("S3, W1: processes that compact at the same time lose nothing")
    func concurrentCompaction() async throws {
        let directory = try TemporaryDirectory()
        let group = try await FileGroup.open(directory: directory.path(of: "group"))
        let recorder = WatchRecorder(try await group.watch(), keepsChanges: false)
        let peers = try await peers(3, in: directory.path(of: "group"))
        // Each value lies in the journal, 64 keys, 2,000 puts of 4 KiB each: long enough for many compactions.
        for (index, peer) in peers.enumerated() { try peer.send("fill c\(index)/ 64 8000") }
        for round in 0..<40 {
            try await group.put("round", text: "\(round)")
            _ = try await group.compactNow()
        }
        for peer in peers { #expect(try await peer.answer(timeout: TestTimeout.long).hasPrefix("ok")) }
        #expect(try await group.list("c0").entries.count == 64)
        for index in 0..<3 {
            let entries = try await group.list(KeyPrefix("c\(index)")).entries
            #expect(entries.count == 64 && entries.allSatisfy { $0.value == [UInt8](repeating: 7, count: 8000) })
        }
        let newcomer = try await PeerProcess.joining(directory.path(of: "group"))
        #expect(try await newcomer.tell("get round") == "value 39")
        let revision = try await group.put("last", text: "x")
        try await recorder.reaches(revision)
        #expect(recorder.mirror.entries.count == 3 * 64 + 2)
        try await recorder.stop()
        #expect(recorder.mirror.breaches.isEmpty, "\(recorder.mirror.breaches)")
        await group.close()
    }
}
