internal import CoreAPI
internal import CoreAPITesting
internal import FileNotifyBackend
internal import Glibc
internal import TestSupport
internal import Testing

@Suite("Many processes", .serialized, .timeLimit(.minutes(10)))
struct ManyProcessesTests {
    private func peers(_ count: Int, in directory: String) async throws -> [PeerProcess] {
        var peers: [PeerProcess] = []
        for _ in 0..<count { peers.append(try await PeerProcess.joining(directory)) }
        return peers
    }

    @Test("S6: 20 processes put 1,000 keys each, and none is lost")
    func noneIsLost() async throws {
        let directory = try TemporaryDirectory()
        let group = try await FileGroup.open(directory: directory.path(of: "group"))
        let peers = try await peers(20, in: directory.path(of: "group"))
        for (index, peer) in peers.enumerated() { try peer.send("puts p\(index)/ 1000") }
        for peer in peers { #expect(try await peer.answer(within: Patience.long).hasPrefix("ok")) }
        let snapshot = try await group.list()
        #expect(snapshot.entries.count == 20_000)
        #expect(Set(snapshot.entries.map(\.revision)).count == 20_000, "S3: no revision twice")
        await group.close()
    }

    @Test("S6: 8 processes add 250 each by compare-and-set, and the sum is exact")
    func sumIsExact() async throws {
        let directory = try TemporaryDirectory()
        let group = try await FileGroup.open(directory: directory.path(of: "group"))
        let peers = try await peers(8, in: directory.path(of: "group"))
        for peer in peers { try peer.send("increment n 250") }
        for peer in peers { #expect(try await peer.answer(within: Patience.long).hasPrefix("ok")) }
        #expect(try await group.text("n") == "2000")
        await group.close()
    }

    @Test(
        "S6, S9, S15: the sum is exact when processes are stopped at random and journals are replaced all the time",
        arguments: Seed.several(4))
    func sumIsExactUnderStops(seed: Seed) async throws {
        var random = SplitMix64(seed)
        let directory = try TemporaryDirectory()
        let group = try await FileGroup.open(directory: directory.path(of: "group"))
        let recorder = WatchRecorder(try await group.watch())
        let peers = try await peers(4, in: directory.path(of: "group"))
        for peer in peers { try peer.send("increment n 300") }
        for _ in 0..<30 {
            let peer = peers[Int.random(in: 0..<peers.count, using: &random)]
            peer.signal(SIGSTOP)
            switch Int.random(in: 0..<3, using: &random) {
            case 0: _ = try await group.compactNow()
            case 1: try await group.put("other", text: "x")
            default: break
            }
            // How long a stop lasts is left to chance; nothing is expected to happen meanwhile.
            try await Task.sleep(for: .milliseconds(Int.random(in: 0..<40, using: &random)))
            peer.signal(SIGCONT)
        }
        for peer in peers { #expect(try await peer.answer(within: Patience.long).hasPrefix("ok")) }
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

    @Test("W1: a watch sees every change of other processes under load, once and in order")
    func watchIsComplete() async throws {
        let directory = try TemporaryDirectory()
        var options = FileGroupOptions()
        options.historyByteCount = 64 << 20
        let group = try await FileGroup.open(directory: directory.path(of: "group"), options: options)
        let recorder = WatchRecorder(try await group.watch())
        let peers = try await peers(3, in: directory.path(of: "group"))
        let watcher = try await PeerProcess.joining(directory.path(of: "group"))
        try await watcher.tell("watch")
        for (index, peer) in peers.enumerated() { try peer.send("puts w\(index)/ 2000") }
        for peer in peers { #expect(try await peer.answer(within: Patience.long).hasPrefix("ok")) }
        let revision = try await group.put("last", text: "x")
        try await recorder.reaches(revision)
        #expect(recorder.mirror.changes.count == 6_001)
        #expect(recorder.mirror.laggedCount == 0)
        #expect(recorder.mirror.breaches.isEmpty, "\(recorder.mirror.breaches)")
        let watched = try await watcher.tell("watched \(revision)").split(separator: " ")
        #expect(watched[2] == "0", "the other watcher never goes back")
        try await recorder.stop()
        await group.close()
    }

    @Test("N3: the posts of several processes add up, and the last state is seen")
    func postsAddUp() async throws {
        let directory = try TemporaryDirectory()
        let group = try await FileGroup.open(directory: directory.path(of: "group"))
        let recorder = ObservationRecorder(try await group.observe("news"))
        let peers = try await peers(4, in: directory.path(of: "group"))
        try await peers[0].tell("observe news")
        for peer in peers.dropFirst() { try peer.send("posts news 2000") }
        for peer in peers.dropFirst() { #expect(try await peer.answer(within: Patience.long).hasPrefix("ok")) }
        try await group.post("news", state: 77)
        try await recorder.reaches(6_001)
        #expect(recorder.deliveries.last?.state == 77)
        try await eventually("the other process has seen them all") { try await peers[0].tell("seen") == "6001 77" }
        try await recorder.stop()
        await group.close()
    }

    @Test("N9: an observer that was stopped while others posted sees the last state when it goes on")
    func stoppedObserver() async throws {
        let directory = try TemporaryDirectory()
        let group = try await FileGroup.open(directory: directory.path(of: "group"))
        let peer = try await PeerProcess.joining(directory.path(of: "group"))
        try await peer.tell("observe news")
        peer.signal(SIGSTOP)
        try await peer.stopped()
        for state in 1...UInt64(30_000) { try await group.post("news", state: state) }
        peer.signal(SIGCONT)
        try await eventually("it has seen them all") { try await peer.tell("seen") == "30000 30000" }
        await group.close()
    }

    @Test("S14: two groups never see each other")
    func groupsAreApart() async throws {
        let directory = try TemporaryDirectory()
        let group = try await FileGroup.open(directory: directory.path(of: "one"))
        let recorder = WatchRecorder(try await group.watch())
        let posts = ObservationRecorder(try await group.observe("news"))
        let peer = try await PeerProcess.joining(directory.path(of: "two"))
        try await peer.tell("put key two")
        try await peer.tell("posts news 3")
        #expect(try await group.get("key") == nil)
        #expect(try await group.sessions().count == 1)
        #expect(try await group.state(of: "news") == .never)
        let revision = try await group.put("own", text: "x")
        try await recorder.reaches(revision)
        #expect(recorder.mirror.changes.map(\.key) == ["own"])
        #expect(posts.deliveries.isEmpty)
        try await recorder.stop()
        try await posts.stop()
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
        for peer in peers { #expect(try await peer.answer(within: Patience.long).hasPrefix("ok")) }
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
