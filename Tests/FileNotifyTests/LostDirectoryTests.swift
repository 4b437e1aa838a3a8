internal import CoreAPI
internal import CoreAPITesting
internal import Glibc
internal import Platform
internal import StoreEngine
internal import TestSupport
internal import Testing

@testable internal import FileNotifyBackend

@Suite("A directory that is taken away under a group", .timeLimit(.minutes(10)))
struct LostDirectoryTests {
    /// The change of the directory.
    enum Loss: String, CaseIterable, CustomTestStringConvertible {
        case removed, movedAway, replaced, emptied, emptiedAndBegunAgain, journalReplaced

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
            case .journalReplaced: try replaceJournal(in: path)
            }
        }

        /// As a tool that restores a backup does: a copy takes the name.
        private func replaceJournal(in path: String) throws {
            let content = try OpenFile(path: path + "/journal-1", .read)
            let copy = try OpenFile(path: path + "/copy", .createNew)
            try copy.write(try content.read(count: try content.status().byteCount, at: 0), at: 0)
            #expect(rename(path + "/copy", path + "/journal-1") == 0)
        }

        private func empty(_ path: String) throws {
            for name in try Directory(path: path).names() { #expect(unlink(path + "/" + name) == 0) }
        }

        /// Another process begins a group there.
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
        let ended = try await withTimeout(TestTimeout.usual, "the waiting watch ends") { await waiter.result }
        #expect(throws: SharedCoreError.self) { try ended.get() }

        let again = try await FileGroup.open(directory: path)
        try await again.put("key", text: "three")
        #expect(try await code { try await group.get("key") } == .unavailable, "it does not come over silently")
        let peer = try await PeerProcess.joining(path)
        #expect(try await peer.tell("get key") == "value three")
        if loss == .replaced || loss == .emptiedAndBegunAgain {
            #expect(try await peer.tell("get begun") == "value again")
        }
        // Closing does not touch the files that are there now.
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

    @Test(
        "S14: a journal or a file sessions that is removed ends the group as unavailable",
        arguments: ["journal-1", "sessions"])
    func removedFile(name: String) async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let group = try await FileGroup.open(directory: path)
        try await group.put("key", text: "one")
        #expect(unlink(path + "/" + name) == 0)
        try await refused("put") { try await group.put("key", text: "two") }
        try await refused("get") { _ = try await group.get("key") }
        #expect(try await code { try await FileGroup.open(directory: path) } == .corrupt)
        await group.close()
    }

    @Test("S14: a journal that goes the usual way, with a compaction, is no loss")
    func obsoleteJournal() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let group = try await FileGroup.open(directory: path)
        let peer = try await PeerProcess.joining(path)
        for round in 0..<30 {
            #expect(try await peer.tell("compact") == "true")
            #expect(try await group.get("absent") == nil)
            try await group.put("key", text: "\(round)")
            #expect(try await peer.tell("get key") == "value \(round)")
        }
        await group.close()
    }

    /// A size to which a file is cut.
    private static let sizes = [0, 100, 4_096, 4_200]

    @Test(
        "S9, S14: a journal that is cut while it is open ends the group and no process, and nothing more is said to stand",
        arguments: sizes, [false, true])
    func cutJournal(size: Int, isDurable: Bool) async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let peer = try await PeerProcess.joining(path, disk: isDurable)
        let reader = try await PeerProcess.joining(path)
        try await peer.tell("puts key 20")
        #expect(truncate(path + "/journal-1", off_t(size)) == 0)
        for (asked, command) in [
            (peer, "put key after"), (reader, "get key3"), (peer, "get key3"), (peer, "put key after"),
        ] {
            try asked.send(command)
            let answer = try await asked.answer()
            // A value that was read before may be read for a tick of the clock.
            if command.hasPrefix("get"), answer == "ok value 3" { continue }
            #expect(answer.hasPrefix("error corrupt") || answer.hasPrefix("error unavailable"), "\(command): \(answer)")
        }
        try await eventually("reading is refused") {
            try reader.send("get key3")
            return try await reader.answer().hasPrefix("error")
        }
        // Both processes live, and serve another group.
        for asked in [peer, reader] {
            try await asked.tell("open \(directory.path(of: "other"))")
            try await asked.tell("put key one")
        }
    }

    @Test("S9, S14: the same for the file sessions", arguments: [0, 100])
    func cutSessions(size: Int) async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let peer = try await PeerProcess.joining(path)
        try await peer.tell("put key one")
        #expect(truncate(path + "/sessions", off_t(size)) == 0)
        try await eventually("writing is refused") {
            try peer.send("put key two")
            let answer = try await peer.answer()
            return answer.hasPrefix("error corrupt") || answer.hasPrefix("error unavailable")
        }
        try peer.send("compact")
        #expect(try await peer.answer().hasPrefix("error"))
        // The directory names no session any more, so it can be made again when no process has the group open.
        await peer.killNow()
        #expect(try await code { try await FileGroup.open(directory: path) } == .corrupt)
        #expect(unlink(path + "/sessions") == 0)
        let group = try await FileGroup.open(directory: path)
        #expect(try await group.get("key") != nil)
        await group.close()
    }

    @Test("S10: a commit that waits for the disk is not confirmed by what stands in for a page that is gone")
    func cutWhileSyncing() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let peer = try await PeerProcess.joining(path, disk: true)
        try await peer.tell("put key one")
        try await peer.tell("arm durability.sync:stop")
        try peer.send("put key two")
        try await peer.stopped()
        #expect(truncate(path + "/journal-1", 0) == 0)
        peer.signal(.continue)
        let answer = try await peer.answer()
        #expect(answer.hasPrefix("error outcomeUnknown"), "\(answer)")
    }

    @Test("E2: a bus error of something else ends the process as ever")
    func otherBusError() async throws {
        let directory = try TemporaryDirectory()
        // Without the handler of the language's runtime, which prints a backtrace and lets a signal that was sent go
        // by.
        let peer = try await PeerProcess.joining(
            directory.path(of: "group"), through: ["env", "SWIFT_BACKTRACE=enable=no"])
        peer.signal(ProcessSignal(rawValue: SIGBUS))
        try await peer.ended()
    }

    @Test("E2: a bus error of something else reaches the handler that an application has installed before")
    func otherHandler() async throws {
        let directory = try TemporaryDirectory()
        let child = try ChildProcess(
            ChildProcess.built("sharedcore-test-peer"), ["busError", directory.path(of: "file")])
        #expect(await child.end() == .exited(7))
    }

    @Test("S9, S14: a backup that is copied over a journal in use ends the group, and nothing follows it")
    func restoredInPlace() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let peer = try await PeerProcess.joining(path)
        try await peer.tell("put key one")
        let journal = try OpenFile(path: path + "/journal-1", .write)
        let backup = try journal.read(count: try journal.status().byteCount, at: 0)
        for value in ["two", "three"] { try await peer.tell("put key \(value)") }
        try journal.write(backup, at: 0)
        for command in ["put key four", "get key", "put key five"] {
            try peer.send(command)
            let answer = try await peer.answer()
            #expect(answer.hasPrefix("error corrupt") || answer.hasPrefix("error unavailable"), "\(command): \(answer)")
        }
        let names = TemporaryDirectory.names(in: path)
        #expect(!names.contains("journal-2"), "no journal goes on from what is gone")
    }

    /// A restoration in place after which the journal's commit word is the one that a handle knows.
    enum Restoration: String, CaseIterable, CustomTestStringConvertible {
        /// The older records are there already, and the journal's first page is not written over yet.
        case halfDone
        /// Another process has committed as many bytes since.
        case withOtherCommits

        var testDescription: String { rawValue }

        /// - Parameter backup: The journal before its last record.
        func happen(to journal: OpenFile, _ backup: [UInt8]) throws {
            switch self {
            case .halfDone: try journal.write(Array(backup[JournalHeader.byteCount...]), at: JournalHeader.byteCount)
            case .withOtherCommits: try writeOtherRecord(to: Journal(journal))
            }
        }

        /// Puts another value in the place of the last record's.
        private func writeOtherRecord(to journal: Journal) throws {
            let tail = journal.word.tail
            var (_, position) = try JournalFollower.snapshot(of: journal, limits: Limits(), historyByteCount: 0)
            var last = position
            var record: JournalRecord?
            while position.offset < tail {
                last = position
                try JournalFollower.read(from: &position, to: tail) { found throws(SharedCoreError) in
                    record = found
                    return false
                }
            }
            guard case .effect(let effect) = record,
                case .committed(let session, let number, let operations) = effect.body,
                case .put(let key, let value, let lifetime) = operations.first
            else { throw SharedCoreError(.corrupt, "The last record puts nothing.", at: journal.file.path) }
            let other = StoredValue.inline([UInt8](repeating: 0x2e, count: value.count))
            let changed = Effect(
                revision: effect.revision, time: effect.time,
                body: .committed(session, requestNumber: number, [.put(key, other, lifetime)]))
            let frame = last.chain.frame(try changed.payload(), interest: WakeChannels(of: changed).interestMask)
            try journal.file.write(frame, at: last.offset)
        }
    }

    @Test(
        "S9, S14: a restoration in place that leaves the journal's length as it was ends a handle at its next commit",
        arguments: Restoration.allCases)
    func restoredToTheSameLength(restoration: Restoration) async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let group = try await FileGroup.open(directory: path)
        try await group.put("key", text: "one")
        let journal = try OpenFile(path: path + "/journal-1", .write)
        let backup = try journal.read(count: try journal.status().byteCount, at: 0)
        try await group.put("key", text: "two")
        try restoration.happen(to: journal, backup)
        let tail = try Journal(journal).word.tail
        #expect(try await code { try await group.put("key", text: "three") } == .corrupt)
        #expect(try await code { try await group.get("key") } == .corrupt)
        #expect(try Journal(journal).word.tail == tail, "nothing is published behind it")
        await group.close()
        #expect(!TemporaryDirectory.names(in: path).contains("journal-2"), "no journal goes on from what is gone")
    }

    @Test(
        "S14: a process that only waits hears at once that files are removed, moved or replaced",
        arguments: Loss.allCases)
    func idleProcess(loss: Loss) async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let peer = try await waitingPeer(path)
        try await loss.happen(to: path)
        #expect(try await peer.answer().hasPrefix("error unavailable"))
    }

    /// A process that waits for a name and watches files.
    ///
    /// The system gives a user 128 inotify instances, and the tests that run meanwhile use all of them at times. A
    /// process that gets none reports that, and tries again only at its polls, which are switched off here. So another
    /// process takes its place. A process that has an instance must watch.
    private func waitingPeer(_ path: String) async throws -> PeerProcess {
        var waiting: PeerProcess?
        try await eventually("a process waits for events", timeout: TestTimeout.long) {
            let peer = try await PeerProcess.joining(path, failPoint: onlyWhenWoken)
            guard try await peer.tell("wakeUp") == "sharedMemory" else {
                waiting = peer
                return true
            }
            await peer.killNow()
            try await peer.ended()
            return false
        }
        let peer = try #require(waiting)
        try await peer.tell("put key one")
        try peer.send("await never")
        try await eventually("files are watched for the process") { Self.waitsForEvents(peer) }
        return peer
    }

    /// Returns true if a process has inotify watches.
    private static func waitsForEvents(_ peer: PeerProcess) -> Bool {
        let infos = "/proc/\(peer.pid)/fdinfo"
        return ((try? Directory(path: infos).names()) ?? []).contains { name in
            guard let file = try? OpenFile(path: infos + "/" + name, .read),
                let bytes = try? file.read(count: 4096, at: 0)
            else { return false }
            return String(decoding: bytes, as: UTF8.self).contains("inotify wd:")
        }
    }

    /// Random bytes that are written over a part of a file in place.
    enum Scribble: String, CaseIterable, CustomTestStringConvertible {
        case journalPage
        /// With a commit word that says that a sync has failed, or that the order goes on in another journal.
        case journalPageAbandoned, journalPageSealed, journalPageAbandonedAndSealed
        case journalHeader, journalRecords, wholeJournal
        case sessionsPage, sessionsFloor

        var testDescription: String { rawValue }

        func happen(in path: String, _ random: inout SeededRandom) throws {
            let isSessions = self == .sessionsPage || self == .sessionsFloor
            let file = try OpenFile(path: path + (isSessions ? "/sessions" : "/journal-1"), .write)
            let words = JournalHeader.wordsOffset
            let tail = isSessions ? 0 : try Journal(file).word.tail
            let range =
                switch self {
                case .journalPage, .journalPageAbandoned, .journalPageSealed, .journalPageAbandonedAndSealed,
                    .sessionsPage:
                    0..<MappedPage.byteCount
                case .journalHeader: 0..<words
                case .journalRecords: MappedPage.byteCount..<tail
                case .wholeJournal: 0..<(try file.status().byteCount)
                case .sessionsFloor: 64..<72
                }
            var bytes = random.bytes(range.count)
            let flags: UInt8? =
                switch self {
                case .journalPageAbandoned: 0x40
                case .journalPageSealed: 0x80
                case .journalPageAbandonedAndSealed: 0xc0
                default: nil
                }
            if let flags { bytes[words + 7] = bytes[words + 7] & 0x3f | flags }
            try file.write(bytes, at: range.lowerBound)
        }
    }

    @Test(
        "S9, S14: random bytes over a part of a group's files in place end a process that only waits as corrupt",
        arguments: Scribble.allCases, Seed.several(2))
    func writtenOverWhileIdle(scribble: Scribble, seed: Seed) async throws {
        var random = SeededRandom(seed)
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let peer = try await PeerProcess.joining(path)
        try await peer.tell("puts key 20")
        let journal = try Journal(try OpenFile(path: path + "/journal-1", .write))
        let page = try GroupPage(in: Directory(path: path), access: .readOnly)
        try peer.send("await never")
        // For wake channels; for signals where the tests that run meanwhile have left no inotify instance.
        try await eventually("the process waits") {
            !(journal.interest.isEmpty && page.signalInterest.isEmpty) && Self.isAsleep(peer)
        }
        try scribble.happen(in: path, &random)
        let answer = try await peer.answer(timeout: TestTimeout.long)
        #expect(answer.hasPrefix("error corrupt"), "\(answer)")
        #expect(answer.contains("written over") || answer.contains("damaged"), "\(answer)")
        // The process lives, and serves another group.
        try await peer.tell("open \(directory.path(of: "other"))")
        try await peer.tell("put key one")
    }

    /// Returns true if all threads of a process sleep.
    private static func isAsleep(_ peer: PeerProcess) -> Bool {
        let tasks = "/proc/\(peer.pid)/task"
        guard let threads = try? Directory(path: tasks).names() else { return false }
        return threads.allSatisfy { thread in
            guard let file = try? OpenFile(path: "\(tasks)/\(thread)/stat", .read),
                let bytes = try? file.read(count: 512, at: 0)
            else { return false }
            // Behind the name, which may have parentheses itself.
            let text = String(decoding: bytes, as: UTF8.self)
            return text[(text.lastIndex(of: ")") ?? text.startIndex)...].hasPrefix(") S")
        }
    }

    @Test("S9, S14: a floor that damage has raised removes no journal")
    func damagedFloor() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let peer = try await PeerProcess.joining(path)
        try await peer.tell("put key one")
        await peer.killNow()
        let group = try GroupDirectory(path: path)
        group.page.raiseFloor(to: 1 << 40)
        group.removeObsolete()
        #expect(TemporaryDirectory.names(in: path).contains("journal-1"))
        let journal = try #require(try group.journal(1))
        let (_, position) = try JournalFollower.snapshot(of: journal, limits: Limits(), historyByteCount: 0)
        #expect(position.offset > JournalHeader.byteCount, "and no journal gives its space back")
    }

    @Test("S10: the durable tail of a page that was written over confirms nothing")
    func damagedDurableTail() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let group = try await FileGroup.open(directory: path)
        try await group.put("key", text: "one")
        await group.close()
        let file = try OpenFile(path: path + "/journal-1", .write)
        let journal = try Journal(file)
        journal.raiseDurableTail(to: journal.word.tail)
        #expect(journal.durableTail == journal.word.tail)
        // The nonce.
        try file.write([UInt8](repeating: 7, count: 8), at: JournalHeader.wordsOffset + 8)
        #expect(journal.durableTail == 0)
    }

    @Test("S14: looking at the group's files asks for no times of the journal, which would make the next write slower")
    func asksForNoTimes() async throws {
        let directory = try TemporaryDirectory()
        let peer = try await PeerProcess.joining(directory.path(of: "group"))
        try await peer.tell("put key value")
        // The calls that ask for times.
        try await peer.tell("arm fstat/journal-:kill,lstat/journal-:kill")
        for number in 0..<5 {
            let tick = SystemClock.tick
            try await eventually("the files are looked at again") { SystemClock.tick != tick }
            try await peer.tell("put key \(number)")
            #expect(try await peer.tell("get key") == "value \(number)")
        }
    }

    @Test("S13: a process that only waits is told within the time of the regular read")
    func idleWaiter() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let group = try await FileGroup.open(directory: path)
        let observation = try await group.observe("name")
        let waiter = Task { try await observation.next() }
        try await Loss.removed.happen(to: path)
        let ended = try await withTimeout(.seconds(30), "the waiting observation ends") { await waiter.result }
        #expect(throws: SharedCoreError.self) { try ended.get() }
        await group.close()
    }

    @Test("S9: looks without the journal's lock, while other threads make the file longer, end no group")
    func looksBesidePuts() async throws {
        let directory = try TemporaryDirectory()
        let group = try await FileGroup.open(directory: directory.path(of: "group"))
        let local = group.local
        let isOver = Box(false)
        let endedCount = Box(0)
        // More than there are processors, so that each is interrupted anywhere.
        let lookerCount = 12
        for _ in 0..<lookerCount {
            try OwnedThread.start("looker") {
                while !isOver.value { local.lookAtJournal() }
                endedCount.update { $0 += 1 }
            }
        }
        var failure: (any Error)?
        do {
            // Each of the values takes more space than the journal has.
            for _ in 0..<40 { try await group.put("key", [UInt8](repeating: 7, count: 600_000)) }
        } catch {
            failure = error
        }
        isOver.update { $0 = true }
        try await eventually("the threads end") { endedCount.value == lookerCount }
        #expect(failure == nil)
        #expect(local.place.loss == nil)
        await group.close()
    }
}
