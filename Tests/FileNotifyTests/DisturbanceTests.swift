internal import CoreAPI
internal import CoreAPITesting
internal import Glibc
internal import Platform
internal import TestSupport
internal import Testing

@testable internal import FileNotifyBackend

@Suite("Processes that are disturbed", .serialized, .timeLimit(.minutes(10)))
struct DisturbanceTests {
    @Test("N9: the system says so when its queue has overflowed")
    func overflowIsReported() throws {
        let directory = try TemporaryDirectory()
        let files = try ["one", "two"].map { try OpenFile(path: directory.path(of: $0), .createNew) }
        let events = try FileEvents()
        for file in files { _ = try events.watchWrites(to: file) }
        let limit = try OpenFile(path: "/proc/sys/fs/inotify/max_queued_events", .read).read(count: 32, at: 0)
        let count = try #require(Int(String(decoding: limit, as: UTF8.self).filter(\.isNumber)))
        for index in 0...count { try files[index % 2].write([1], at: 0) }
        let taken = events.take()
        #expect(taken.count > count)
        #expect(taken.last == .overflow)
        #expect(events.take().isEmpty)
    }

    /// Adds one to a number by compare-and-set.
    private func increment(_ key: Key, in group: FileGroup) async throws {
        var isDone = false
        while !isDone {
            let entry = try await group.get(key)
            let value = entry.flatMap { Int(String(decoding: $0.value, as: UTF8.self)) } ?? 0
            let condition = entry.map { Transaction.Guard.revision(key, $0.revision) } ?? .absent(key)
            let refusal = try await code {
                try await group.put(key, Array("\(value + 1)".utf8), if: condition)
            }
            #expect(refusal == nil || refusal == .guardFailed)
            isDone = refusal != .guardFailed
        }
    }

    @Test("S6, S9, N3, L1: a storm of signals disturbs nothing", arguments: ["", " disk", " silent"])
    func signalStorm(options: String) async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let peer = try PeerProcess()
        _ = try await peer.answer()
        try await peer.tell("storm")
        try await peer.tell("open \(path)\(options)")
        let group = try await FileGroup.open(directory: path)
        try await peer.tell("observe name")
        try await peer.tell("watch")
        try peer.send("increment number 200")
        for _ in 0..<200 { try await increment("number", in: group) }
        _ = try await peer.answer(timeout: .seconds(60))
        #expect(try await group.text("number") == "400")
        try await peer.tell("fill big/ 20 300000", timeout: .seconds(60))
        #expect(try await group.list("big").entries.count == 20)
        #expect(try await peer.tell("compact") == "true")
        for count in 1...50 as ClosedRange<UInt64> { try await group.post("name", state: count) }
        try await eventually("every post is delivered") { try await peer.tell("seen") == "50 50" }
        let last = try await group.put("last", text: "x")
        #expect(try await peer.tell("watched \(last)").split(separator: " ")[2] == "0")
        #expect(try await peer.tell("sessions").split(separator: " ").count == 2)
        #expect(Int(try await peer.tell("stormed")) ?? 0 > 100, "it was disturbed")
        try await peer.tell("close")
        #expect(try await group.sessions().count == 1)
        await group.close()
    }
}
