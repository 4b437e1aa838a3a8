internal import CoreAPI
internal import CoreAPITesting
internal import Glibc
internal import Platform
internal import TestSupport
internal import Testing

@testable internal import FileNotifyBackend

@Suite("Files that are damaged", .timeLimit(.minutes(10)))
struct DamagedFilesTests {
    /// A group with some content, which no process has open; its path.
    private func group(in directory: TemporaryDirectory) async throws -> String {
        let path = directory.path(of: "group")
        let peer = try await PeerProcess.joining(path)
        try await peer.tell("puts key 50")
        try await peer.tell("fill big 3 9000")
        try await peer.tell("close")
        return path
    }

    private func refusal(of path: String) async throws -> SharedCoreError.Code? {
        try await withTimeout(TestTimeout.usual, "the group opens or is refused") {
            try await code { try await FileGroup.open(directory: path).close() }
        }
    }

    private func change(_ path: String, at offset: Int, _ bytes: [UInt8]) throws {
        try OpenFile(path: path, .write).write(bytes, at: offset)
    }

    @Test("S11: a layout of another version is incompatible", arguments: ["journal-1", "sessions"])
    func otherVersion(file: String) async throws {
        let directory = try TemporaryDirectory()
        let path = try await group(in: directory)
        try change(path + "/" + file, at: 8, [9])
        #expect(try await refusal(of: path) == .incompatible)
    }

    @Test("S11: a file with foreign content is corrupt", arguments: ["journal-1", "sessions"])
    func otherFile(file: String) async throws {
        let directory = try TemporaryDirectory()
        let path = try await group(in: directory)
        try change(path + "/" + file, at: 0, Array("#!/bin/sh".utf8))
        #expect(try await refusal(of: path) == .corrupt)
    }

    /// The kinds of file in the place of a regular one.
    enum OtherKind: String, CaseIterable, CustomTestStringConvertible {
        case pipe, directory, socket, link, danglingLink, device

        var testDescription: String { rawValue }

        /// - Returns: Its name in messages; nil where this user may not make it.
        func make(at path: String) throws -> String? {
            switch self {
            case .pipe:
                #expect(mkfifo(path, 0o600) == 0)
                return "a FIFO"
            case .directory:
                #expect(mkdir(path, 0o700) == 0)
                return "a directory"
            case .socket:
                return mknod(path, S_IFSOCK | 0o600, 0) == 0 ? "a socket" : nil
            case .link, .danglingLink:
                let target = path + (self == .link ? ".moved" : ".nothing")
                #expect(symlink(target, path) == 0)
                return "a symbolic link"
            case .device:
                // As /dev/zero.
                return mknod(path, S_IFCHR | 0o600, dev_t(1 << 8 | 5)) == 0 ? "a device" : nil
            }
        }
    }

    @Test(
        "S11: something else than a file under a journal's name or that of sessions is corrupt, and says what it is",
        arguments: ["journal-1", "sessions"], OtherKind.allCases)
    func otherKind(file: String, kind: OtherKind) async throws {
        let directory = try TemporaryDirectory()
        let path = try await group(in: directory)
        let place = path + "/" + file
        #expect(rename(place, place + ".moved") == 0)
        guard let name = try kind.make(at: place) else { return }
        let error = try await withTimeout(TestTimeout.usual, "the group opens or is refused") {
            await #expect(throws: SharedCoreError.self) { try await FileGroup.open(directory: path).close() }
        }
        #expect(error?.code == .corrupt, "\(String(describing: error))")
        #expect(error?.message.contains(name) == true, "\(String(describing: error))")
        #expect(error?.location == place, "\(String(describing: error))")
        // The steps that the message names help.
        #expect(rename(place, place + ".away") == 0)
        #expect(rename(place + ".moved", place) == 0)
        let group = try await FileGroup.open(directory: path)
        #expect(try await group.text("key49") == "49")
        await group.close()
    }

    @Test(
        "S11: something else than a file under any other name of the directory holds up no process, and says what it is",
        arguments: ["journal-2", "spare", "bells", "left.new", "witness"], OtherKind.allCases)
    func otherKindElsewhere(file: String, kind: OtherKind) async throws {
        let directory = try TemporaryDirectory()
        let path = try await group(in: directory)
        let names = file == "bells" ? (0..<WakeChannels.count).map { "bell-\($0)" } : [file]
        for name in names {
            unlink(path + "/" + name)
            guard try kind.make(at: path + "/" + name) != nil else { return }
        }
        let peer = try await PeerProcess.joining(path)
        try await peer.tell("observe news")
        try await peer.tell("put key \(String(repeating: "x", count: 300))")
        let other = try await PeerProcess.joining(path)
        try await other.tell("post news 7")
        try await eventually("a process is woken") { try await peer.tell("seen").hasSuffix(" 7") }
        try await other.tell("hold owner other")
        // The peer needs the names of the spare file and of the next journal.
        for command in ["fillOne big 500000", "compact"] {
            try peer.send(command)
            let answer = try await peer.answer()
            #expect(answer.hasPrefix("ok") || answer.hasPrefix("error corrupt"), "\(command): \(answer)")
            #expect(answer.hasPrefix("ok") || answer.contains("where a regular file belongs"), "\(command): \(answer)")
        }
    }

    @Test("S11: a file that was cut is corrupt", arguments: ["journal-1", "sessions"], [0, 100, 4_095])
    func cutFile(file: String, count: Int) async throws {
        let directory = try TemporaryDirectory()
        let path = try await group(in: directory)
        #expect(truncate(path + "/" + file, count) == 0)
        #expect(try await refusal(of: path) == .corrupt)
    }

    @Test("S11: a journal that was cut below its published end is corrupt")
    func cutJournal() async throws {
        let directory = try TemporaryDirectory()
        let path = try await group(in: directory)
        #expect(truncate(path + "/journal-1", 4_096 + 300) == 0)
        #expect(try await refusal(of: path) == .corrupt)
    }

    @Test("S11: a journal that is missing is corrupt, and none is begun in its place")
    func missingJournal() async throws {
        let directory = try TemporaryDirectory()
        let path = try await group(in: directory)
        #expect(unlink(path + "/journal-1") == 0)
        #expect(try await refusal(of: path) == .corrupt)
        #expect(try Directory(path: path).names().filter { $0.hasPrefix("journal") }.isEmpty)
    }

    @Test("S9, S11: a missing file sessions is made again from the journals, and nothing is lost", arguments: [1, 3])
    func missingSessions(generation: Int) async throws {
        let directory = try TemporaryDirectory()
        let path = try await group(in: directory)
        for _ in 1..<generation {
            let peer = try await PeerProcess.joining(path)
            #expect(try await peer.tell("compact") == "true")
            try await peer.tell("close")
        }
        #expect(unlink(path + "/sessions") == 0)
        let group = try await FileGroup.open(directory: path)
        #expect(try await group.text("key49") == "49")
        #expect(try await group.get("big2")?.value.count == 9_000)
        #expect(group.generation == generation)
        let sessions = try await group.sessions().map(\.id)
        #expect(sessions == [group.session.id])
        try await group.put("key", text: "new")
        let peer = try await PeerProcess.joining(path)
        #expect(try await peer.tell("get key") == "value new")
        await group.close()
    }

    @Test("S9, S11: also after a start of the machine, and by several that open at once")
    func missingSessionsAfterStart() async throws {
        let directory = try TemporaryDirectory()
        let path = try await group(in: directory)
        #expect(unlink(path + "/sessions") == 0)
        let clock = ManualClock()
        let groups = try await together(8) { index in
            // Sizes of their own, so that each has an own part, as a process has.
            var options = FileGroupOptions(clock: clock)
            options.historyByteCount += index
            return try await FileGroup.open(directory: path, options: options)
        }
        for (index, group) in groups.enumerated() { try await group.put(Key("from\(index)"), text: "x") }
        for group in groups { #expect(try await group.list().entries.count == 50 + 3 + 8) }
        for group in groups { await group.close() }
    }

    @Test("S14, L1: while a process still has the journals open, a missing file sessions is corrupt, with the way out")
    func missingSessionsInUse() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let peer = try await PeerProcess.joining(path)
        try await peer.tell("put key one")
        #expect(unlink(path + "/sessions") == 0)
        let error = await #expect(throws: SharedCoreError.self) { try await FileGroup.open(directory: path) }
        #expect(error?.code == .corrupt)
        #expect(error?.message.contains("End all processes of the group") == true)
        #expect(!TemporaryDirectory.names(in: path).contains { $0.hasPrefix("sessions") })
        await peer.killNow()
        let group = try await FileGroup.open(directory: path)
        #expect(try await group.text("key") == "one")
        await group.close()
    }

    @Test("S11: processes that open a new group at once make one, wherever each of them has come to")
    func openedAtOnce() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let late = try PeerProcess(failPoint: "first.beforeList:stop")
        _ = try await late.answer()
        try late.send("open \(path)")
        try await late.stopped()
        // This process has the first journal open, and has not said yet that the group begins there.
        let early = try PeerProcess(failPoint: "build.afterRename:stop")
        _ = try await early.answer()
        try early.send("open \(path)")
        try await early.stopped()
        late.signal(.continue)
        #expect(try await late.answer().hasPrefix("ok"))
        early.signal(.continue)
        #expect(try await early.answer().hasPrefix("ok"))
        try await early.tell("put key one")
        #expect(try await late.tell("get key") == "value one")
        #expect(try await late.tell("sessions").split(separator: " ").count == 2)
    }

    @Test(
        "S11: a process that comes second in finding the journals of a file sessions that knows of none goes on there")
    func recoveredAtOnce() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let former = try await PeerProcess.joining(path)
        try await former.tell("put key one")
        #expect(try await former.tell("compact") == "true")
        await former.killNow()
        try await former.ended()
        try change(path + "/sessions", at: 64, [UInt8](repeating: 0, count: 8))
        let late = try PeerProcess(failPoint: "first.beforeRecovery:stop")
        _ = try await late.answer()
        try late.send("open \(path)")
        try await late.stopped()
        let early = try await PeerProcess.joining(path)
        late.signal(.continue)
        #expect(try await late.answer().hasPrefix("ok"))
        #expect(try await late.tell("get key") == "value one")
        #expect(try await early.tell("sessions").split(separator: " ").count == 2)
    }

    @Test("S11: without a whole journal a missing file sessions is corrupt, and no group is begun beside the old one")
    func missingSessionsAndDamage() async throws {
        let directory = try TemporaryDirectory()
        let path = try await group(in: directory)
        let names = Set(TemporaryDirectory.names(in: path))
        #expect(unlink(path + "/sessions") == 0)
        try change(path + "/journal-1", at: 4_100, [0xff, 0xff, 0xff])
        #expect(try await refusal(of: path) == .corrupt)
        #expect(Set(TemporaryDirectory.names(in: path)) == names.subtracting(["sessions"]))
    }

    @Test("S9, S11: a file sessions that knows of no journal begins no group beside those that are there")
    func forgottenFloor() async throws {
        let directory = try TemporaryDirectory()
        let path = try await group(in: directory)
        let peer = try await PeerProcess.joining(path)
        #expect(try await peer.tell("compact") == "true")
        try await peer.tell("close")
        await peer.killNow()
        try change(path + "/sessions", at: 64, [UInt8](repeating: 0, count: 8))
        let group = try await FileGroup.open(directory: path)
        #expect(try await group.text("key49") == "49")
        #expect(group.generation == 2)
        await group.close()
    }

    /// Expects that opening is refused as corrupt, and that it gives back its resources.
    ///
    /// Of several attempts, at least one must give them back: the process is shared with concurrent tests.
    private func expectCheapRefusal(of path: String) async throws {
        let growth = try await OwnResources.leastGrowth(batches: 5) {
            let code = try await refusal(of: path)
            #expect(code == .corrupt)
        }
        #expect(growth < 64 << 20)
    }

    @Test("S11: an absurd length of a record takes no memory to speak of")
    func absurdLength() async throws {
        let directory = try TemporaryDirectory()
        let path = try await group(in: directory)
        for length in [UInt64(UInt32.max), UInt64.max >> 1] {
            try change(path + "/journal-1", at: 4_096, (0..<8).map { UInt8(truncatingIfNeeded: length >> ($0 * 8)) })
            try await expectCheapRefusal(of: path)
        }
    }

    @Test("S11: an absurd published end is corrupt and takes no memory to speak of")
    func absurdTail() async throws {
        let directory = try TemporaryDirectory()
        let path = try await group(in: directory)
        for tail in [1 << 62, 7, UInt64.max >> 1] {
            try change(path + "/journal-1", at: 1_024, (0..<8).map { UInt8(truncatingIfNeeded: tail >> ($0 * 8)) })
            try await expectCheapRefusal(of: path)
        }
    }

    @Test("S11: a byte that was changed anywhere below the published end is noticed", arguments: Seed.several(20))
    func changedByte(seed: Seed) async throws {
        var random = SeededRandom(seed)
        let directory = try TemporaryDirectory()
        let path = try await group(in: directory)
        let file = try OpenFile(path: path + "/journal-1", .write)
        let tail = try file.read(count: 8, at: 1_024).reversed().reduce(0) { $0 << 8 | Int($1) }
        let offset = Int.random(in: 4_096..<tail, using: &random)
        let byte = try file.read(count: 1, at: offset)[0]
        try file.write([byte ^ UInt8.random(in: 1...255, using: &random)], at: offset)
        #expect(try await refusal(of: path) == .corrupt)
    }

    @Test(
        "E2: garbage anywhere in the files never traps or hangs",
        arguments: Seed.several(TestScope.isCheck ? 40 : 10), [Durability.process, .disk])
    func garbage(seed: Seed, durability: Durability) async throws {
        var random = SeededRandom(seed)
        let directory = try TemporaryDirectory()
        let path = try await group(in: directory)
        let name = random.once(in: 4) ? "sessions" : "journal-1"
        let file = try OpenFile(path: path + "/" + name, .write)
        let size = try file.status().byteCount
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let offset = Int.random(in: 0..<min(size, 12_000), using: &random)
            try file.write(random.bytes(Int.random(in: 1...64, using: &random)), at: offset)
        }
        // In a process of its own, which only a trap ends.
        let peer = try PeerProcess()
        _ = try await peer.answer()
        try peer.send("open \(path)\(durability == .disk ? " disk" : "")")
        let answer = try await peer.answer()
        #expect(answer.hasPrefix("ok") || answer.hasPrefix("error "))
        if answer.hasPrefix("ok") {
            try peer.send("put key after")
            _ = try await peer.answer()
        }
    }

    @Test("S9: bytes after the published end are ignored")
    func behindTheEnd() async throws {
        let directory = try TemporaryDirectory()
        let path = try await group(in: directory)
        let file = try OpenFile(path: path + "/journal-1", .write)
        let tail = try file.read(count: 8, at: 1_024).reversed().reduce(0) { $0 << 8 | Int($1) }
        var random = SeededRandom(seed: 1)
        try file.write(random.bytes(5_000), at: tail)
        let group = try await FileGroup.open(directory: path)
        #expect(try await group.text("key49") == "49")
        try await group.put("key", text: "new")
        #expect(try await group.text("key") == "new")
        await group.close()
    }

    @Test("E2, S10: an absurd durable end in a file is ignored", arguments: [1 << 63 + 5, .max, 1 << 62] as [UInt64])
    func absurdDurableEnd(word: UInt64) async throws {
        let directory = try TemporaryDirectory()
        let path = try await group(in: directory)
        let file = try OpenFile(path: path + "/journal-1", .write)
        try file.write((0..<8).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) }, at: 1_024 + 192)
        let peer = try await PeerProcess.joining(path, disk: true)
        try await peer.tell("put key after")
        let words = try file.read(count: 200, at: 1_024)
        #expect(words[192...].elementsEqual(words[..<8]), "what was published is known to be on the disk")
    }

    @Test("E2: an absurd number of a journal never traps", arguments: ["18446744073709551615", "4611686018427387904"])
    func absurdNumber(number: String) async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let group = try await FileGroup.open(directory: path, options: FileGroupOptions(clock: ManualClock()))
        try await group.put("key", text: "kept")
        await group.close()
        #expect(close(creat(path + "/journal-" + number, 0o600)) == 0)
        // To the system's clock, the machine was started anew: a number above all others is searched.
        let peer = try await PeerProcess.joining(path)
        #expect(try await peer.tell("get key") == "value kept")
    }

    @Test("E2: a header whose number cannot be counted on from is corrupt", arguments: [0, 1 << 62, .max] as [UInt64])
    func absurdHeader(number: UInt64) throws {
        func header(_ generation: UInt64, _ incarnation: UInt64) throws -> JournalHeader {
            let header = JournalHeader(
                generation: generation, incarnation: incarnation, bootID: BootID(high: 1, low: 1), salt: 1,
                hasSnapshot: true, continuation: nil)
            return try JournalHeader(page: header.bytes, at: "header")
        }
        #expect(try header(1, 1).generation == 1)
        #expect(throws: SharedCoreError.self) { try header(number, 1) }
        #expect(throws: SharedCoreError.self) { try header(1, number) }
    }
}
