internal import CoreAPI
internal import CoreAPITesting
internal import Glibc
internal import Platform
internal import TestSupport
internal import Testing

@testable internal import FileNotifyBackend

@Suite("A group that is opened to look only", .timeLimit(.minutes(10)))
struct ReaderTests {
    private var readOnly: FileGroupOptions { FileGroupOptions(access: .readOnly) }

    /// Everything in a group's files that a writer could have changed.
    private func content(of path: String) throws -> [String: [UInt8]] {
        var content: [String: [UInt8]] = [:]
        for name in try Directory(path: path).names() {
            let file = try OpenFile(path: path + "/" + name, .read)
            content[name] = try file.read(count: file.status().byteCount, at: 0)
        }
        return content
    }

    @Test("S4, L1: a reader sees every commit at once, is no participant, and changes no byte of any file")
    func looksOnly() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let peer = try await PeerProcess.joining(path)
        try await peer.tell("put a/key one")
        try await peer.tell("fill big 1 100000")
        let before = try content(of: path)

        let reader = try await FileGroup.open(directory: path, options: readOnly)
        #expect(try await reader.text("a/key") == "one")
        #expect(try await reader.get("big0")?.value.count == 100_000)
        #expect(try await reader.list("a").entries.map(\.key) == ["a/key"])
        let participants = try await reader.sessions()
        #expect(participants.map(\.process.pid) == [peer.pid])
        let watch = try await reader.watch()
        _ = try await watch.next()
        watch.cancel()
        let observation = try await reader.observe("name")
        observation.cancel()
        #expect(try await reader.state(of: "name") == .never)
        try await reader.sync()
        #expect(try content(of: path) == before)

        for count in 0..<50 {
            try await peer.tell("put a/key \(count)")
            #expect(try await reader.text("a/key") == "\(count)")
        }
        #expect(try await peer.tell("sessions").split(separator: " ").count == 1)
        await reader.close()
        #expect(try await code { try await reader.get("a/key") } == .closed)
    }

    @Test("W1, N2, N7: its watches and observations are complete, and it says that it looks at an interval")
    func watches() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let peer = try await PeerProcess.joining(path)
        let reader = try await FileGroup.open(directory: path, options: readOnly)
        guard case .polling(let interval) = reader.capabilities.wakeUp else {
            Issue.record("a reader looks by itself")
            return
        }
        #expect(interval <= .milliseconds(250))
        let recorder = try await WatchRecorder(reader, of: ["k"])
        let observed = ObservationRecorder(try await reader.observe("name"))
        for index in 0..<20 {
            let revision = Revision(rawValue: UInt64(try await peer.tell("put k/\(index) x")) ?? 0)
            try await peer.tell("post name \(index)")
            // Each process polls every ten seconds, so without the reader's own polls these waits would take minutes.
            try await recorder.reaches(revision)
            try await observed.reaches(UInt64(index + 1))
            if index % 5 == 0 { #expect(try await peer.tell("compact") == "true") }
        }
        #expect(recorder.mirror.breaches.isEmpty && recorder.mirror.laggedCount == 0)
        #expect(recorder.mirror.changedRevisions.count == 20)
        #expect(observed.count == 20)
        try await recorder.stop()
        try await observed.stop()
        await reader.close()
    }

    @Test("N9: a reader that begins and ends to listen all the time does not put off the looks of another one")
    func restlessReader() async throws {
        let directory = try TemporaryDirectory()
        let peer = try await PeerProcess.joining(directory.path(of: "quiet"))
        let group = try await FileGroup.open(directory: directory.path(of: "restless"))
        let reader = try await FileGroup.open(directory: directory.path(of: "quiet"), options: readOnly)
        let restless = try await FileGroup.open(directory: directory.path(of: "restless"), options: readOnly)
        let observed = ObservationRecorder(try await reader.observe("name"))
        let coming = Task {
            while !Task.isCancelled {
                try await restless.observe("name").cancel()
                // None of these calls waits: other tests need their turn.
                await Task.yield()
            }
        }
        for count in 1...5 as ClosedRange<UInt64> {
            try await peer.tell("post name \(count)")
            try await observed.reaches(count)
        }
        coming.cancel()
        _ = try? await coming.value
        try await observed.stop()
        for open in [reader, restless, group] { await open.close() }
    }

    @Test("S10: what writes is refused as forbidden, and nothing is written")
    func refusesToWrite() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let group = try await FileGroup.open(directory: path)
        let reader = try await FileGroup.open(directory: path, options: readOnly)
        #expect(try await code { try await reader.put("key", [1]) } == .forbidden)
        #expect(try await code { try await reader.delete("key") } == .forbidden)
        #expect(try await code { try await reader.post("name") } == .forbidden)
        #expect(try await code { try await reader.compactNow() } == .forbidden)
        #expect(try await group.list().entries.isEmpty)
        #expect(try await group.sessions().map(\.id) == [group.session.id])
        await reader.close()
        await group.close()
    }

    @Test("E1: where no participant was before, a reader makes nothing and says so as unavailable")
    func comesFirst() async throws {
        let directory = try TemporaryDirectory()
        let options = readOnly
        for name in ["group", "a/b/group"] {
            #expect(
                try await code { try await FileGroup.open(directory: directory.path(of: name), options: options) }
                    == .unavailable)
        }
        #expect(directory.names.isEmpty)

        // The machine was started anew, and no participant has begun its new run.
        let path = directory.path(of: "group")
        await (try await FileGroup.open(directory: path)).close()
        var later = readOnly
        later.clock = ManualClock()
        let elsewhere = later
        #expect(try await code { try await FileGroup.open(directory: path, options: elsewhere) } == .unavailable)
    }

    @Test("a requirement that a reader gives up is refused as unsupported")
    func givesUp() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let group = try await FileGroup.open(directory: path)
        for feature: Capability in [.promptDeathNotice, .deduplicatedRequests] {
            var options = readOnly
            options.requirements = Requirements(features: [feature])
            let refused = options
            #expect(try await code { try await FileGroup.open(directory: path, options: refused) } == .unsupported)
        }
        await group.close()
    }

    @Test("S8, L3: it does not show what is over, also when no participant is left to record it")
    func hidesWhatIsOver() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let clock = ManualClock()
        let group = try await FileGroup.open(directory: path, options: FileGroupOptions(clock: clock))
        try await group.put("brief", [1], lifetime: .expiring(after: .seconds(10)))
        let reader = try await FileGroup.open(
            directory: path, options: FileGroupOptions(clock: clock, access: .readOnly))
        #expect(try await reader.get("brief") != nil)
        await group.close()
        clock.advance(by: .seconds(11))
        #expect(try await reader.get("brief") == nil)
        #expect(try await reader.list().entries.isEmpty)
        await reader.close()

        let other = directory.path(of: "other")
        let peer = try await PeerProcess.joining(other)
        let second = try await FileGroup.open(directory: other, options: readOnly)
        try await peer.tell("hold held 1")
        #expect(try await second.sessions().count == 1)
        #expect(try await second.get("held") != nil)
        await peer.killNow()
        #expect(try await second.get("held") == nil, "what lived with a dead process")
        #expect(try await second.list().entries.isEmpty)
        #expect(try await second.sessions().isEmpty)
        await second.close()
    }

    @Test("L4: a group of an earlier run of the machine is read as the next participant would find it")
    func readsFormerRun() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let old = try await PeerProcess.joining(path)
        try await old.tell("put kept yes")
        try await old.tell("hold held 1")
        try await old.tell("fill big 1 100000")
        let group = try await FileGroup.open(directory: path)
        try await group.put("brief", [1], lifetime: .expiring(after: .seconds(10)))
        await group.close()
        let last = try await FileGroup.openToRead(directory: path).list().revision
        // No process records its death: all of them end with the machine.
        await old.killNow()
        let before = try content(of: path)

        // To a clock with another identity of the machine's run, the machine was started anew.
        let options = FileGroupOptions(clock: ManualClock())
        let reader = try await FileGroup.openToRead(directory: path, options: options)
        #expect(try await reader.text("kept") == "yes")
        #expect(try await reader.get("big0")?.value.count == 100_000)
        #expect(try await reader.get("brief") != nil, "it has its full duration again")
        #expect(try await reader.get("held") == nil)
        #expect(try await reader.sessions().isEmpty)
        #expect(try await reader.list().revision == last)
        #expect(try await code { try await reader.put("key", [1]) } == .forbidden)
        #expect(try await code { try await reader.watch() } == .unsupported)
        #expect(try content(of: path) == before)

        // Behind the first participant of the new run its journal is another file.
        let next = try await FileGroup.open(directory: path, options: options)
        #expect(try await reader.text("kept") == "yes", "the view stays")
        #expect(try await code { try await reader.get("big0") } == .unavailable)
        let later = try await FileGroup.openToRead(directory: path, options: options)
        #expect(try await later.get("big0")?.value.count == 100_000)
        #expect(try await later.sessions().map(\.id) == [next.session.id])
        for open in [reader, later, next] as [any SharedGroup] { await open.close() }
    }

    @Test("L4: what did not reach the disk in an earlier run is not read; what did and is damaged is corrupt")
    func readsFormerRunCutShort() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let clock = ManualClock()
        let old = try await FileGroup.open(
            directory: path, options: FileGroupOptions(durability: .disk, clock: clock))
        try await old.put("durable", text: "yes")
        await old.close()
        let other = try await FileGroup.open(directory: path, options: FileGroupOptions(clock: clock))
        for index in 0..<20 { try await other.put(Key("key\(index)"), [UInt8](repeating: 1, count: 100)) }
        await other.close()
        let journal = try OpenFile(path: path + "/journal-1", .write)
        let tail = try journal.read(count: 8, at: 1_024).reversed().reduce(0) { $0 << 8 | Int($1) }
        clock.reboot()
        try journal.write([UInt8](repeating: 0, count: 600), at: tail - 600)
        let options = FileGroupOptions(clock: clock)
        let reader = try await FileGroup.openToRead(directory: path, options: options)
        #expect(try await reader.text("durable") == "yes")
        #expect((11..<21).contains(try await reader.list().entries.count))
        await reader.close()
        #expect(try GroupScrub(of: path, options: options).byteCount < tail - 600, "check reads as far")

        try journal.write([UInt8](repeating: 0, count: tail - 4_200), at: 4_200)
        #expect(try await code { try await FileGroup.openToRead(directory: path, options: options) } == .corrupt)
        #expect(throws: SharedCoreError.self) { try GroupScrub(of: path, options: options) }
        #expect(try await code { try await FileGroup.open(directory: path, options: options) } == .corrupt)
    }

    @Test("L4: a group whose last process died behind a failed sync is read with all that was confirmed")
    func readsAbandoned() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let peer = try await PeerProcess.joining(path, disk: true)
        try await peer.tell("put kept old")
        let journal = try OpenFile(path: path + "/journal-1", .write)
        let durable = try journal.read(count: 8, at: 1_024).reversed().reduce(0) { $0 << 8 | Int($1) }
        try await peer.tell("arm fdatasync/journal:fail*")
        try peer.send("fillOne large 20000")
        #expect(try await peer.answer().hasPrefix("error outcomeUnknown"))
        let end = try journal.status().byteCount
        try journal.write([UInt8](repeating: 0, count: end - durable), at: durable)
        #expect(
            try await code { try await FileGroup.openToRead(directory: path) } == .unavailable, "a process has more")
        await peer.killNow()
        try await peer.ended()
        let before = try content(of: path)
        let reader = try await FileGroup.openToRead(directory: path)
        #expect(try await reader.text("kept") == "old")
        #expect(try await reader.get("large") == nil)
        #expect(try await reader.sessions().isEmpty)
        await reader.close()
        #expect(try GroupScrub(of: path).journalCount == 1)
        #expect(try content(of: path) == before)
    }

    @Test(
        "S10: another user looks where the modes let it, and is refused as forbidden where not",
        .enabled(if: geteuid() == 0))
    func otherUser() async throws {
        let directory = try TemporaryDirectory()
        #expect(chmod(directory.path, 0o755) == 0)
        let path = directory.path(of: "group")
        let group = try await FileGroup.open(directory: path)
        try await group.put("key", text: "one")
        let peer = try PeerProcess(through: ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"])
        _ = try await peer.answer()
        try peer.send("open \(path) readOnly")
        #expect(try await peer.answer().hasPrefix("error forbidden"))

        #expect(chmod(path, 0o755) == 0)
        try peer.send("open \(path) readOnly")
        #expect(try await peer.answer().hasPrefix("error forbidden"), "the files are closed still")
        for name in try groupNames(in: directory) { #expect(chmod(path + "/" + name, 0o644) == 0) }
        try await peer.tell("open \(path) readOnly")
        #expect(try await peer.tell("get key") == "value one")
        try await peer.tell("observe name")
        try await group.put("key", text: "two")
        #expect(try await peer.tell("get key") == "value two")
        try await group.post("name", state: 7)
        try await eventually("the other user's observer knows") { try await peer.tell("seen") == "1 7" }
        try peer.send("put key three")
        #expect(try await peer.answer().hasPrefix("error forbidden"))

        #expect(chmod(path, 0o777) == 0)
        let second = try PeerProcess(through: ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"])
        _ = try await second.answer()
        try second.send("open \(path) readOnly")
        #expect(try await second.answer().hasPrefix("error forbidden"), "anybody may have put anything there")
        await group.close()
    }
}
