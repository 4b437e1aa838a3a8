internal import CoreAPI
internal import CoreAPITesting
internal import Glibc
internal import Platform
internal import Replica
internal import StoreEngine
internal import TestSupport
internal import Testing

@testable internal import FileNotifyBackend

@Suite("A journal that is replaced", .timeLimit(.minutes(5)))
struct CompactionTests {

    @Test("W1, N9: what a compaction came across under the lock reaches the watches also when the compaction fails")
    func failedCompactionWakes() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let group = try await FileGroup.open(directory: path)
        let peer = try await PeerProcess.joining(path)
        let writer = try await PeerProcess.joining(path)
        try await peer.tell("watch")
        let first = try await group.put("key", text: "old")
        try await peer.tell("watched \(first.rawValue)")
        try await peer.tell("arm compaction.afterSnapshot:stop,compaction.beforeSeal:fail")
        try peer.send("compact")
        try await peer.stopped()
        // Published, and not rung for: only the compaction itself comes across it.
        try await writer.tell("arm commit.beforeRing:stop")
        try writer.send("put key new")
        try await writer.stopped()
        let revision = try #require(try await group.get("key")?.revision)
        #expect(revision > first)
        peer.signal(SIGCONT)
        #expect(try await peer.answer().hasPrefix("error "))
        // Well below the interval at which everybody looks without having heard anything.
        try await peer.tell("watched \(revision.rawValue)", within: .seconds(6))
        await group.close()
    }

    @Test("N9: a look wakes whoever waits, also for what was applied before it without a word")
    func lookWakes() async throws {
        let directory = try TemporaryDirectory()
        let group = try await FileGroup.open(directory: directory.path(of: "group"))
        let recorder = WatchRecorder(try await group.watch("key"), of: ["key"])
        try await eventually("the watch begins") { recorder.mirror.eventCount == 1 }
        let writer = try await PeerProcess.joining(directory.path(of: "group"))
        try await writer.tell("arm commit.beforeRing:stop")
        try writer.send("put key new")
        try await writer.stopped()
        let local = group.local
        _ = try local.replica.change { state throws(SharedCoreError) in try local.follower.catchUp(&state) }
        local.look()
        try await eventually("the watch hears of it", within: .seconds(6)) {
            recorder.mirror.entries["key"]?.value == Array("new".utf8)
        }
        try await recorder.stop()
        await group.close()
    }
}
