internal import CoreAPI
internal import CoreAPITesting
internal import FileNotifyBackend
internal import Platform
internal import TestSupport
internal import Testing

/// A later sync never repairs one that failed, because the kernel takes the pages for written. So all processes abandon
/// the journal, and the group continues in a new one.
@Suite("A disk that fails", .timeLimit(.minutes(10)))
struct DiskFailureTests {
    private func generation(in directory: TemporaryDirectory) throws -> Int {
        try #require(try groupNames(in: directory).compactMap { Int($0.dropFirst("journal-".count)) }.max())
    }

    private func error(_ peer: PeerProcess, _ command: String) async throws -> String {
        try peer.send(command)
        return try await peer.answer().split(separator: " ").prefix(2).joined(separator: " ")
    }

    @Test("S10, S12: an answer that says that something is stored waits for the disk, also a refusal and a repetition")
    func refusalsWait() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let peer = try await PeerProcess.joining(path, disk: true)
        try await peer.tell("arm fdatasync/journal:fail*")
        #expect(try await error(peer, "create key first") == "error outcomeUnknown")
        // The entry exists, so the guard fails. To report this would mean that the first attempt is stored.
        let second = try await error(peer, "create key second")
        #expect(second == "error unavailable" || second == "error outcomeUnknown")
        try await peer.tell("arm none:fail")
        try await eventually("the group is written anew, at its next try") {
            let third = try await error(peer, "create key third")
            #expect(third == "error guardFailed" || third == "error unavailable")
            return third == "error guardFailed"
        }
        #expect(try generation(in: directory) > 1, "the entry is on the disk in a journal of its own")
        #expect(try await peer.tell("get key") == "value first")
    }

    @Test("S10: after a failed sync no process relies on the journal, also one whose own sync would succeed")
    func abandonedForAll() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let first = try await PeerProcess.joining(path, disk: true)
        let second = try await PeerProcess.joining(path, disk: true)
        try await first.tell("put key old")
        let before = try generation(in: directory)
        try await first.tell("arm fdatasync/journal:fail*")
        #expect(try await error(first, "put key new") == "error outcomeUnknown")
        try await second.tell("put key newer")
        #expect(try generation(in: directory) > before)
        try await first.tell("arm none:fail")
        #expect(try await first.tell("get key") == "value newer")
        try await first.tell("put key newest")
        #expect(try await second.tell("get key") == "value newest")
    }

    @Test("S10: what the system writes or reads only in part is gone on with, and refused where it then fails")
    func shortCalls() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let peer = try await PeerProcess.joining(path, failPoint: "pwrite.short:fail*,pread.short:fail*")
        try await peer.tell("put key old")
        #expect(try await peer.tell("compact") == "true")
        try await peer.tell("arm pwrite.short/journal-:fail,pwrite/journal-:fail=28@2")
        #expect(try await error(peer, "put key new") == "error storageFull")
        let other = try await PeerProcess.joining(path)
        #expect(try await other.tell("get key") == "value old")
        try await peer.tell("put key newer")
        #expect(try await other.tell("get key") == "value newer")
    }

    @Test("S10: until the group is on the disk again, durable commits are refused and change nothing, and others go on")
    func refusedBeforePublication() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let first = try await PeerProcess.joining(path, disk: true)
        let second = try await PeerProcess.joining(path, disk: true)
        let other = try await PeerProcess.joining(path)
        for peer in [first, second, other] { try await peer.tell("arm fdatasync/journal:fail*") }
        #expect(try await error(first, "put key new") == "error outcomeUnknown")
        for _ in 0..<3 {
            let refusals = [try await error(first, "put refused value"), try await error(second, "put refused value")]
            #expect(refusals == ["error unavailable", "error unavailable"])
        }
        #expect(try await other.tell("get refused") == "nothing")
        try await other.tell("put other value")
        try await other.tell("hold mine value")
        await other.killNow()
        #expect(try await second.tell("get other") == "value value")
        #expect(try await first.tell("sessions").split(separator: " ").count == 2)
        #expect(try await first.tell("get mine") == "nothing")
        for peer in [first, second] { try await peer.tell("arm none:fail") }
        try await eventually("the disk works again") {
            try first.send("put key newest")
            return try await first.answer().hasPrefix("ok")
        }
        try await second.tell("put refused value")
        #expect(try await first.tell("get refused") == "value value")
    }

    @Test("S9, S10: what the disk dropped with the error is written again from memory")
    func droppedPages() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let peer = try await PeerProcess.joining(path, disk: true)
        try await peer.tell("put kept old")
        let journal = try OpenFile(path: path + "/journal-1", .write)
        let durable = try journal.read(count: 8, at: 1_024).reversed().reduce(0) { $0 << 8 | Int($1) }
        try await peer.tell("arm fdatasync/journal:fail*")
        #expect(try await error(peer, "fillOne large 20000") == "error outcomeUnknown")
        // The file as it was synced last: later bytes are gone from the page cache.
        let end = try journal.status().byteCount
        try journal.write([UInt8](repeating: 0, count: end - durable), at: durable)
        try await peer.tell("arm none:fail")
        try await eventually("the disk works again") {
            try peer.send("put small new")
            return try await peer.answer().hasPrefix("ok")
        }
        let group = try await FileGroup.open(directory: path)
        #expect(try await group.get("large")?.value == [UInt8](repeating: 7, count: 20_000))
        #expect(try await group.text("kept") == "old")
        #expect(try await group.text("small") == "new")
        await group.close()
    }

    @Test("S9, S10: a group whose last process died behind a failed sync opens with all that was confirmed")
    func nobodyLeft() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let peer = try await PeerProcess.joining(path, disk: true)
        try await peer.tell("put kept old")
        let journal = try OpenFile(path: path + "/journal-1", .write)
        let durable = try journal.read(count: 8, at: 1_024).reversed().reduce(0) { $0 << 8 | Int($1) }
        try await peer.tell("arm fdatasync/journal:fail*")
        #expect(try await error(peer, "fillOne large 20000") == "error outcomeUnknown")
        await peer.killNow()
        let end = try journal.status().byteCount
        try journal.write([UInt8](repeating: 0, count: end - durable), at: durable)
        let group = try await FileGroup.open(directory: path, options: FileGroupOptions(durability: .disk))
        #expect(try await group.text("kept") == "old")
        #expect(try await group.get("large") == nil)
        try await group.put("next", text: "new")
        #expect(try generation(in: directory) > 1)
        let second = try await FileGroup.open(directory: path)
        #expect(try await second.text("next") == "new")
        await second.close()
        await group.close()
    }

    @Test(
        "S9, S10: a process that is killed while it writes a journal leaves nothing, also where each file needs a name",
        arguments: ["", "openat(O_TMPFILE):fail=95*,"])
    func nothingLeft(_ fault: String) async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let other = try await PeerProcess.joining(path, failPoint: fault + "none:fail")
        try await other.tell("put key value")
        for _ in 0..<3 {
            let peer = try await PeerProcess.joining(path, failPoint: fault + "compaction.afterSnapshot:kill")
            try peer.send("compact")
            try await peer.ended()
        }
        let left = try groupNames(in: directory).filter { $0.hasSuffix(".new") }
        #expect(left.isEmpty == fault.isEmpty, "\(left)")
        #expect(try await other.tell("compact") == "true")
        #expect(try groupNames(in: directory).filter { $0.hasSuffix(".new") } == [])
        #expect(try await other.tell("get key") == "value value")
    }

    @Test("S10: waitUntilDurable(through:) waits for what others wrote, and fails where the disk does not confirm it")
    func settled() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let peer = try await PeerProcess.joining(path, disk: true)
        let other = try await PeerProcess.joining(path)
        let revision = try await other.tell("put key value")
        #expect(try await peer.tell("get key") == "value value")
        try await peer.tell("arm fdatasync/journal-:fail*")
        let answer = try await error(peer, "settled \(revision)")
        #expect(answer == "error outcomeUnknown")
        try await peer.tell("arm none:fail")
        try await eventually("the disk works again") {
            try peer.send("settled \(revision)")
            return try await peer.answer().hasPrefix("ok")
        }
        #expect(try await error(peer, "settled 1000000") == "error invalidArgument")
    }

    /// The files that a commit on the disk relies on: the journal, its predecessor, the successor of an abandoned
    /// journal, and the directory of all.
    enum Support: String, CaseIterable, CustomTestStringConvertible {
        case journal = "fdatasync/journal-2"
        case predecessor = "fdatasync/journal-1"
        case successor = "fdatasync/journal-3"
        case everyJournal = "fdatasync/journal-"
        case sessions = "fdatasync/sessions"
        case directory = "fsync/group"

        var testDescription: String { rawValue }

        func failures(_ error: Int, _ count: String) -> String {
            (self == .successor ? "\(Self.journal.rawValue):fail=\(error)," : "") + "\(rawValue):fail=\(error)*\(count)"
        }

        /// True if no process syncs the file again after the first failure.
        var isGivenUp: Bool { self == .journal || self == .predecessor }

        /// The number of failures that the test expects; nil if that depends on which process writes the journal.
        func failureCount(outOf count: Int) -> Int? {
            if isGivenUp { return 1 }
            return count == .max || self == .successor && count > 1 ? nil : count
        }
    }

    @Test(
        "S10, S12: after any failures, what was confirmed stands, and the group works when the cause is gone",
        arguments: Support.allCases, TestScope.isCheck ? [1, 10, Int.max] : [10])
    func matrix(_ place: Support, _ count: Int) async throws {
        // EIO, ENOSPC, EDQUOT, EROFS
        for number in TestScope.isCheck ? [5, 28, 122, 30] : [5, 28] {
            let directory = try TemporaryDirectory()
            let path = directory.path(of: "group")
            let peer = try await PeerProcess.joining(path, disk: true)
            let other = try await PeerProcess.joining(path, disk: true)
            var confirmed: [String] = []
            var unknown = 0
            try await peer.tell("put k0 v")
            // Passed over by a process that does not wait for the disk, so that a predecessor and the directory are not
            // synced yet.
            let frozen = try await PeerProcess.joining(path)
            try await frozen.tell("arm commit.afterLock:stop")
            try frozen.send("put frozen v")
            try await frozen.stopped()
            let passing = try await PeerProcess.joining(path)
            try await passing.tell("put passing v")
            #expect(try generation(in: directory) == 2)
            try await peer.tell("arm \(place.failures(number, count == .max ? "" : "\(count)"))")
            var index = 0
            func put() async throws {
                index += 1
                try peer.send("put k\(index) v")
                let answer = try await peer.answer()
                if answer.hasPrefix("ok") { confirmed.append("k\(index)") } else { unknown += 1 }
                #expect(
                    ["ok", "error"].contains(answer.split(separator: " ").first.map(String.init)), "\(answer)")
            }
            func failureCount() async throws -> Int {
                let answer = try await peer.tell("strikes \(place.rawValue)")
                return try #require(Int(answer))
            }
            for _ in 1...20 { try await put() }
            let expected = place.failureCount(outOf: count)
            if let expected {
                try await eventually("\(place) fails \(expected) times with \(number)", timeout: .seconds(120)) {
                    if try await failureCount() == expected { return true }
                    // The file `sessions` and the names are synced when a journal is replaced.
                    if place == .sessions { _ = try await error(peer, "compact") }
                    try await put()
                    return false
                }
            }
            if place.isGivenUp { for _ in 1...5 { try await put() } }
            let failures = try await failureCount()
            let possible = expected.map { $0...$0 } ?? 1...count
            #expect(possible.contains(failures), "\(place) \(number): \(failures)")
            try await peer.tell("arm none:fail")
            try await eventually("the disk works again") {
                try peer.send("put last v")
                return try await peer.answer().hasPrefix("ok")
            }
            try await other.tell("put other v")
            for key in confirmed + ["last", "k0"] { #expect(try await other.tell("get \(key)") == "value v") }
            if place != .sessions { #expect(unknown > 0, "\(place) \(number)") }
            // One process that did not run when the disk failed beside those that did, and one after all of them.
            let later = try await PeerProcess.joining(path, disk: true)
            for key in confirmed + ["last", "other", "k0"] { #expect(try await later.tell("get \(key)") == "value v") }
            try await later.tell("put later v")
            for process in [peer, other, frozen, passing, later] { await process.killNow() }
            let group = try await FileGroup.open(directory: path, options: FileGroupOptions(durability: .disk))
            for key in confirmed + ["last", "other", "later", "k0"] { #expect(try await group.text(Key(key)) == "v") }
            try await group.put("final", text: "v")
            await group.close()
        }
    }
}
