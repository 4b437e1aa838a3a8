internal import CoreAPI
internal import FileNotifyBackend
internal import TestSupport
internal import Testing

@Suite("Two processes in one group")
struct BasicsTests {
    @Test("S4: what another process has committed is read", .timeLimit(.minutes(2)))
    func readsWhatAnotherProcessCommitted() async throws {
        let directory = try TemporaryDirectory()
        let group = try await FileGroup.open(directory: directory.path(of: "group"))
        let peer = try await PeerProcess.joining(directory.path(of: "group"))
        try await peer.tell("put a/b one")
        #expect(try await group.get("a/b").map { String(decoding: $0.value, as: UTF8.self) } == "one")
        try await group.put("a/b", Array("two".utf8))
        #expect(try await peer.tell("get a/b") == "value two")
        await group.close()
    }

    @Test("N4: a post of another process wakes an observer", .timeLimit(.minutes(2)))
    func postWakes() async throws {
        let directory = try TemporaryDirectory()
        let group = try await FileGroup.open(directory: directory.path(of: "group"))
        let recorder = ObservationRecorder(try await group.observe("news"))
        let peer = try await PeerProcess.joining(directory.path(of: "group"))
        try await peer.tell("posts news 5")
        try await recorder.reaches(5)
        #expect(recorder.deliveries.last?.state == 5)
        try await recorder.stop()
        await group.close()
    }

    @Test("N9, W1: who listens is woken at once also after others have replaced the journal", .timeLimit(.minutes(2)))
    func wokenInTheNextJournal() async throws {
        let directory = try TemporaryDirectory()
        let group = try await FileGroup.open(directory: directory.path(of: "group"))
        let recorder = WatchRecorder(try await group.watch("a"), of: ["a"])
        let peer = try await PeerProcess.joining(directory.path(of: "group"))
        for round in 0..<5 {
            #expect(try await peer.tell("compact") == "true")
            try await peer.tell("put a/b \(round)")
            // Well below the interval at which everybody looks without having heard anything.
            try await eventually("the watch hears of round \(round)", within: .seconds(6)) {
                recorder.mirror.entries["a/b"]?.value == Array("\(round)".utf8)
            }
        }
        try await recorder.stop()
        await group.close()
    }
}
