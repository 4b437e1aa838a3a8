internal import CoreAPI
internal import CoreAPITesting
internal import FileNotifyBackend
internal import Glibc
internal import Platform
internal import TestSupport
internal import Testing

@Suite("A directory that is taken away under a group", .timeLimit(.minutes(5)))
struct LostDirectoryTests {
    /// What happens to the directory.
    enum Loss: String, CaseIterable, CustomTestStringConvertible {
        case removed, movedAway, replaced, emptied, emptiedAndBegunAgain

        var testDescription: String { rawValue }

        func happen(to path: String) async throws {
            switch self {
            case .removed: TemporaryDirectory.remove(path)
            case .movedAway: #expect(rename(path, path + ".away") == 0)
            case .replaced:
                #expect(rename(path, path + ".away") == 0)
                try await begin(path)
            case .emptied: try empty(path)
            case .emptiedAndBegunAgain:
                try empty(path)
                try await begin(path)
            }
        }

        private func empty(_ path: String) throws {
            for name in try Directory(path: path).names() { #expect(unlink(path + "/" + name) == 0) }
        }

        /// Somebody else begins a group there.
        private func begin(_ path: String) async throws {
            let peer = try await PeerProcess.joining(path)
            try await peer.tell("put begun again")
            try await peer.tell("close")
        }
    }

    private func refused(_ name: String, _ call: () async throws -> Void) async throws {
        try await eventually("\(name) is refused") {
            do {
                try await call()
                return false
            } catch let error as SharedCoreError {
                return error.code == .unavailable
            }
        }
    }

    @Test("S14: calls and waiting watches end as unavailable, and opening again recovers", arguments: Loss.allCases)
    func isNoticed(loss: Loss) async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let group = try await FileGroup.open(directory: path)
        try await group.put("key", text: "one")
        let waiting = try await group.watch()
        _ = try await waiting.next()
        let waiter = Task { try await waiting.next() }
        let asked = try await group.watch()

        try await loss.happen(to: path)
        // At once, or a tick of the clock later.
        try await refused("get") { _ = try await group.get("key") }
        try await refused("put") { try await group.put("key", text: "two") }
        try await refused("list") { _ = try await group.list() }
        try await refused("post") { try await group.post("name") }
        try await refused("watch") { _ = try await group.watch() }
        try await refused("observe") { _ = try await group.observe("name") }
        try await refused("sync") { try await group.sync() }
        try await refused("sessions") { _ = try await group.sessions() }
        try await refused("compaction") { _ = try await group.compactNow() }
        try await refused("next") { _ = try await asked.next() }
        let ended = try await within(Patience.usual, "the waiting watch ends") { await waiter.result }
        #expect(throws: SharedCoreError.self) { try ended.get() }

        let again = try await FileGroup.open(directory: path)
        try await again.put("key", text: "three")
        #expect(try await code { try await group.get("key") } == .unavailable, "it does not come over silently")
        let peer = try await PeerProcess.joining(path)
        #expect(try await peer.tell("get key") == "value three")
        if loss == .replaced || loss == .emptiedAndBegunAgain {
            #expect(try await peer.tell("get begun") == "value again")
        }
        // Closing leaves what stands there now alone.
        await group.close()
        #expect(try await peer.tell("put key four") != "")
        #expect(try await again.text("key") == "four")
        await again.close()
    }

    @Test("S14: another process that has the group open writes nowhere either")
    func otherProcess() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let peer = try await PeerProcess.joining(path)
        try await peer.tell("put key one")
        try await Loss.emptiedAndBegunAgain.happen(to: path)
        try await eventually("it is refused") {
            try peer.send("put key two")
            return try await peer.answer().hasPrefix("error unavailable")
        }
        let group = try await FileGroup.open(directory: path)
        #expect(try await group.get("key") == nil)
        try await peer.tell("open \(path)")
        try await peer.tell("put key three")
        #expect(try await group.text("key") == "three")
        await group.close()
    }

    @Test("S13: who only waits is told within the time in which everybody looks")
    func idleWaiter() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let group = try await FileGroup.open(directory: path)
        let observation = try await group.observe("name")
        let waiter = Task { try await observation.next() }
        try await Loss.removed.happen(to: path)
        let ended = try await within(.seconds(30), "the waiting observation ends") { await waiter.result }
        #expect(throws: SharedCoreError.self) { try ended.get() }
        await group.close()
    }
}
