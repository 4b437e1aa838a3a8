internal import CoreAPI
internal import CoreAPITesting
internal import FileNotifyBackend
internal import Glibc
internal import Platform
internal import TestSupport
internal import Testing

@Suite("A process that is killed", .timeLimit(.minutes(10)))
struct KilledProcessTests {
    @Test("S9: killed in a compaction, it harms nothing, and the next one succeeds", arguments: FailPointSet.compaction)
    func compactionIsHarmless(place: String) async throws {
        let directory = try TemporaryDirectory()
        let group = try await FileGroup.open(directory: directory.path(of: "group"))
        for index in 0..<50 { try await group.put(Key("key-\(index)"), text: "\(index)") }
        let recorder = WatchRecorder(try await group.watch())
        let peer = try await PeerProcess.joining(directory.path(of: "group"))
        try await peer.tell("arm \(place):kill")
        try peer.send("compact")
        try await peer.ended()
        let revision = try await group.put("key-0", text: "next")
        try await recorder.reaches(revision)
        for index in 1..<50 { #expect(try await group.text(Key("key-\(index)")) == "\(index)") }
        try await expectAgreement(in: directory.path(of: "group"), key: "key-0", value: "next")
        #expect(try await group.compactNow())
        try await group.put("key-0", text: "last")
        try await expectAgreement(in: directory.path(of: "group"), key: "key-0", value: "last")
        let unfinished = try groupNames(in: directory).filter { $0.hasSuffix(".new") }
        #expect(unfinished.isEmpty, "what the killed one left is removed")
        try await recorder.stop()
        #expect(recorder.mirror.breaches.isEmpty && recorder.mirror.laggedCount == 0)
        await group.close()
    }

    @Test("S9: killed while it makes a group where each file needs a name, it leaves nothing for long")
    func firstOpeningLeavesNothing() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let peer = try PeerProcess(failPoint: "openat(O_TMPFILE):fail=95*,build.beforeRename:kill")
        _ = try await peer.answer()
        try peer.send("open \(path)")
        try await peer.ended()
        #expect(try groupNames(in: directory).contains { $0.hasSuffix(".new") })
        let group = try await FileGroup.open(directory: path)
        try await group.put("key", text: "value")
        #expect(try groupNames(in: directory).filter { $0.hasSuffix(".new") } == [])
        await group.close()
    }

    @Test("S9, S15: killed while it passes over a frozen writer, it holds up no other", arguments: FailPointSet.roll)
    func rollIsHarmless(place: String) async throws {
        let directory = try TemporaryDirectory()
        let group = try await FileGroup.open(directory: directory.path(of: "group"))
        let frozen = try await PeerProcess.joining(directory.path(of: "group"))
        let peer = try await PeerProcess.joining(directory.path(of: "group"))
        try await frozen.tell("arm commit.beforePublish:stop")
        try frozen.send("put frozen yes")
        try await frozen.stopped()
        try await peer.tell("arm \(place):kill")
        try peer.send("put killed yes")
        try await peer.ended()
        try await group.put("key", text: "next")
        try await expectAgreement(in: directory.path(of: "group"), key: "key", value: "next")
        frozen.signal(.continue)
        #expect(try await frozen.answer().hasPrefix("ok"))
        #expect(try await group.text("frozen") == "yes")
        await group.close()
    }

    @Test(
        "L3: killed while it joins, it leaves no participant that is believed",
        arguments: ["session.afterLock", "session.afterRecord"])
    func joiningLeavesNobody(place: String) async throws {
        let directory = try TemporaryDirectory()
        let group = try await FileGroup.open(directory: directory.path(of: "group"))
        let peer = try PeerProcess(failPoint: "\(place):kill")
        _ = try await peer.answer()
        try peer.send("open \(directory.path(of: "group"))")
        try await peer.ended()
        #expect(try await group.sessions().map(\.id) == [group.session.id])
        await group.close()
    }

    @Test(
        "L1: killed while it leaves, it is gone with what lived with it",
        arguments: ["session.beforeEnd", "session.afterEnd"])
    func leavingLeavesNothing(place: String) async throws {
        let directory = try TemporaryDirectory()
        let group = try await FileGroup.open(directory: directory.path(of: "group"))
        let peer = try await PeerProcess.joining(directory.path(of: "group"))
        try await peer.tell("hold owner peer")
        try await peer.tell("arm \(place):kill")
        try peer.send("close")
        try await peer.ended()
        #expect(try await group.sessions().map(\.id) == [group.session.id])
        #expect(try await group.get("owner") == nil)
        await group.close()
    }
}

/// Expects that a newcomer, which reads everything from the files, finds a value.
func expectAgreement(
    in directory: String, key: String, value: String, sourceLocation: SourceLocation = #_sourceLocation
) async throws {
    let newcomer = try await PeerProcess.joining(directory)
    let answer = try await newcomer.tell("get \(key)")
    #expect(answer == "value \(value)", sourceLocation: sourceLocation)
}
