internal import CoreAPI
internal import CoreAPITesting
internal import FileNotifyBackend
internal import TestSupport
internal import Testing

@Suite("Two processes in one group")
struct BasicsTests {
    @Test("S4: what another process has committed is read", .timeLimit(.minutes(10)))
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

    @Test("N4: a post of another process wakes an observer", .timeLimit(.minutes(10)))
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

    @Test("N9, W1: a listener is woken at once also after others have replaced the journal", .timeLimit(.minutes(10)))
    func wokenInTheNextJournal() async throws {
        let directory = try TemporaryDirectory()
        let listener = try await PeerProcess.joining(directory.path(of: "group"), failPoint: onlyWhenWoken)
        try await listener.tell("watch a")
        let peer = try await PeerProcess.joining(directory.path(of: "group"))
        for round in 0..<5 {
            #expect(try await peer.tell("compact") == "true")
            let revision = try await peer.tell("put a/b \(round)")
            try await listener.tell("watched \(revision)")
        }
    }

    @Test("N4: a process that the system gives no inotify instance is woken all the same", .timeLimit(.minutes(10)))
    func wokenWithoutInotify() async throws {
        let directory = try TemporaryDirectory()
        let group = try await FileGroup.open(directory: directory.path(of: "group"))
        let script = "echo 0 > /proc/sys/user/max_inotify_instances && exec \"$0\""
        let peer = try await PeerProcess.joining(
            directory.path(of: "group"), failPoint: onlyWhenWoken,
            through: ["unshare", "--user", "--map-root-user", "sh", "-c", script])
        try await peer.tell("observe news")
        #expect(try openTargets(of: peer.pid).allSatisfy { !$0.contains("inotify") })
        for state in 1...UInt64(3) {
            try await group.post("news", state: state)
            try await eventually("the peer hears of it") { try await peer.tell("seen") == "\(state) \(state)" }
        }
        await group.close()
    }
}
