internal import CoreAPI
internal import CoreAPITesting
internal import Glibc
internal import Platform
internal import Replica
internal import StoreEngine
internal import TestSupport
internal import Testing

@testable internal import FileNotifyBackend

@Suite("A journal that is replaced", .timeLimit(.minutes(10)))
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
        try await peer.tell("arm compaction.afterSnapshot:stop,compaction.beforeSeal:fail,\(onlyWhenWoken)")
        try peer.send("compact")
        try await peer.stopped()
        // The commit is published and not signalled, so only the compaction itself finds it.
        try await writer.tell("arm commit.beforeRing:stop")
        try writer.send("put key new")
        try await writer.stopped()
        let revision = try #require(try await group.get("key")?.revision)
        #expect(revision > first)
        peer.signal(.continue)
        #expect(try await peer.answer().hasPrefix("error "))
        try await peer.tell("watched \(revision.rawValue)")
        await group.close()
    }

    @Test(
        "S10: a compaction that failed is tried again behind a quarter of a mebibyte, or when another has made the log shorter"
    )
    func nextTry() {
        let tries = CompactionTries()
        #expect(tries.mayBegin(atLength: 1))
        tries.ended(isDone: false, atLength: 2_000_000)
        for (length, mayBegin) in [(2_000_000, false), (2_262_144, false), (2_262_145, true), (1_999_999, true)] {
            #expect(tries.mayBegin(atLength: length) == mayBegin, "\(length)")
        }
        tries.ended(isDone: true, atLength: 1_000)
        #expect(tries.mayBegin(atLength: 2_000_000))
    }

    @Test("N9: a read wakes each wait, also for what was applied before it without a word")
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
        try await eventually("the watch hears of it") {
            recorder.mirror.entries["key"]?.value == Array("new".utf8)
        }
        try await recorder.stop()
        await group.close()
    }

    @Test("S10: what one participant was promised of the disk, the compaction of another that asked for nothing keeps")
    func compactionKeepsThePromise() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let modest = try await PeerProcess.joining(path)
        let careful = try await PeerProcess.joining(path, disk: true)
        try await careful.tell("put key kept")
        await careful.killNow()
        // First the disk refuses the snapshot and everything after it. Then it refuses only the complete snapshot under
        // its final name, and everything after it.
        for pass in 1...2 {
            try await modest.tell("arm build.synchronize:fail@\(pass)*")
            try modest.send("compact")
            _ = try await modest.answer()
            #expect(try groupNames(in: directory).contains("journal-1"), "the disk has nothing else")
            try await expectAgreement(in: path, key: "key", value: "kept")
        }
        try await modest.tell("arm none:fail")
        // If the failure was noticed, the repair begins by itself: then there is nothing left to do here.
        try await eventually("what failed is done") {
            _ = try await modest.tell("compact")
            return try !groupNames(in: directory).contains("journal-1")
        }
        try await expectAgreement(in: path, key: "key", value: "kept")
    }

    @Test("S10: a machine that was started anew keeps what was promised of the disk, whoever opens the group first")
    func restartKeepsThePromise() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let careful = try await FileGroup.open(
            directory: path, options: FileGroupOptions(durability: .disk, clock: ManualClock()))
        try await careful.put("key", text: "kept")
        await careful.close()
        // To the system's clock, the machine was started anew.
        let modest = try PeerProcess(failPoint: "build.synchronize:fail")
        _ = try await modest.answer()
        try modest.send("open \(path)")
        #expect(try await modest.answer().hasPrefix("error "), "the new journal goes to the disk first")
        try await modest.tell("open \(path)")
        #expect(try await modest.tell("get key") == "value kept")
    }

    @Test("S10, S12: a commit whose journal is replaced meanwhile waits for the one that took its place")
    func waitCoversTheSuccessor() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let careful = try await PeerProcess.joining(path, disk: true)
        try await careful.tell("arm durability.sync:stop,durability.successor:fail")
        try careful.send("put key new")
        try await careful.stopped()
        let other = try await PeerProcess.joining(path)
        #expect(try await other.tell("compact") == "true")
        #expect(try groupNames(in: directory).filter { $0.hasPrefix("journal-") } == ["journal-2"])
        careful.signal(.continue)
        #expect(try await careful.answer().hasPrefix("error outcomeUnknown"))
        #expect(try await other.tell("get key") == "value new")
        try await careful.tell("put key next")
    }

    @Test("S10: a record that no reader would take is not written into a new journal")
    func overlongRecord() async throws {
        let directory = try TemporaryDirectory()
        let group = try await FileGroup.open(directory: directory.path(of: "group"))
        let builder = try JournalBuilder(2, in: group.local.directory)
        let payload = [UInt8](repeating: 0, count: JournalChain.maximumPayloadByteCount + 1)
        let before = builder.offset
        #expect(throws: SharedCoreError.self) { try builder.append(payload) }
        #expect(builder.offset == before)
        try builder.append(Array(payload.dropLast()))
        await group.close()
    }

    @Test("S10, E2: limits that a record of the journal does not hold are refused at open; the largest work")
    func limitsThatFit() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let most = StoreState.maximumTransactionByteCount
        for limits in [
            Limits(valueByteCount: most + 1, transactionByteCount: most), Limits(transactionByteCount: most + 1),
        ] {
            let refusal = try await code {
                try await FileGroup.open(directory: path, options: FileGroupOptions(limits: limits))
            }
            #expect(refusal == .invalidArgument)
        }
        #expect(directory.names.isEmpty, "nothing was made")

        let limits = Limits(valueByteCount: most, transactionByteCount: most)
        let group = try await FileGroup.open(directory: path, options: FileGroupOptions(limits: limits))
        try await group.put("a", [UInt8](repeating: 1, count: 60_000))
        try await group.put("b", [UInt8](repeating: 2, count: most - 1))
        try await group.put("c", [UInt8](repeating: 3, count: 60_000))
        #expect(try await group.compactNow())
        let newcomer = try await PeerProcess.joining(path)
        #expect(try await newcomer.tell("get c").utf8.count > 60_000)
        await group.close()
    }

    @Test("S10: refused content is tried again also when another process has made room since")
    func compactedMeanwhile() async throws {
        let directory = try TemporaryDirectory()
        let group = try await FileGroup.open(directory: directory.path(of: "group"))
        for _ in 0..<5 { try await group.put("key", [UInt8](repeating: 7, count: 100_000)) }
        let log = await group.local.makeRoom()
        #expect(log > 500_000)
        #expect(try await group.compactNow())
        let refused = Transaction(operations: [.put("key", [7], .persistent)])
        #expect(await group.local.regainRoom(for: refused, from: log))
        let generation = group.generation
        #expect(await !group.local.regainRoom(for: refused, from: group.local.makeRoom()), "nothing more is gained")
        #expect(group.generation == generation, "so nothing is written anew")
        await group.close()
    }

    @Test("S10: a hub's order makes room for refused content where a compaction gives some back, and only there")
    func hubRegainsRoom() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let group = try await FileGroup.open(directory: path)
        for _ in 0..<5 { try await group.put("key", [UInt8](repeating: 7, count: 100_000)) }
        let order = try await FileOrder.open(directory: path, options: FileGroupOptions(), effectByteCount: 1 << 20)
        try await order.refresh()
        let refused = Transaction(operations: [.put("key", [7], .persistent)])
        let room = try #require(order.room(for: refused))
        #expect(room.make == nil)
        #expect(await room.regain())
        try await group.put("other", [1])
        let generation = group.generation
        #expect(await order.room(for: refused)?.regain() == false)
        #expect(order.room(for: Transaction(operations: [.delete("key")])) == nil)
        #expect(group.generation == generation)
        await group.close()
    }
}
