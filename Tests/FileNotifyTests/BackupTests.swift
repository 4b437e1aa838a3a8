internal import CoreAPI
internal import CoreAPITesting
internal import Glibc
internal import Platform
internal import Replica
internal import StoreEngine
internal import TestSupport
internal import Testing

@testable internal import FileNotifyBackend

@Suite("Backups of groups in files", .timeLimit(.minutes(10)))
struct BackupTests {
    private let directory: TemporaryDirectory
    private let path: String
    private let backup: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.path(of: "group")
        backup = directory.path(of: "backup")
    }

    private func backUp(_ path: String, to backup: String) async throws -> GroupSummary {
        let group = try await FileGroup.open(directory: path)
        let summary = try await group.backUp(to: backup)
        await group.close()
        return summary
    }

    private func restore(_ backup: String, into path: String) throws -> GroupSummary {
        try FileGroup.restore(SalvagedGroup(readingFrom: backup), into: path)
    }

    /// The contents of the files in a directory, by name.
    private func files(in path: String) throws -> [String: [UInt8]] {
        var files: [String: [UInt8]] = [:]
        for name in TemporaryDirectory.names(in: path) {
            let file = try OpenFile(path: path + "/" + name, .read)
            files[name] = try file.read(count: file.status().byteCount, at: 0)
        }
        return files
    }

    @Test("S16: what stood at one revision comes back, without sessions and what lived with them")
    func comesBack() async throws {
        let group = try await FileGroup.open(directory: path)
        try await group.put("small", text: "kept")
        try await group.put("large", [UInt8](repeating: 5, count: 200_000))
        try await group.put("held", [1], lifetime: .session)
        try await group.post("name", state: 7)
        try await group.post("name", state: 8)
        _ = try await group.backUp(to: backup)
        try await group.put("small", text: "changed")
        try await group.put("later", [1])
        let last = try await group.delete("large").revision
        await group.close()

        let restored = try restore(backup, into: path)
        #expect(restored.revision > last)
        let new = try await FileGroup.open(directory: path)
        #expect(try await new.text("small") == "kept")
        #expect(try await new.get("large")?.value == [UInt8](repeating: 5, count: 200_000))
        #expect(try await new.get("held") == nil)
        #expect(try await new.get("later") == nil)
        #expect(try await new.state(of: "name").state == 8)
        #expect(try await new.sessions().map(\.id) == [new.session.id])
        // The watch's knowledge of the former group is no part of this one's history.
        let watch = try await new.watch(.all, from: .after(last))
        guard case .lagged(let snapshot) = try await watch.next() else {
            Issue.record("a watch of another incarnation is told that it lagged")
            return
        }
        #expect(Set(snapshot.entries.map(\.key)) == ["small", "large"])
        watch.cancel()
        #expect(try await new.put("small", text: "on") > restored.revision)
        await new.close()
        #expect(try SalvagedGroup(readingFrom: path).findings == [])
    }

    @Test("S16: a backup that is made while others write and compact has each commit whole or not at all")
    func whileOthersWrite() async throws {
        let writer = try await PeerProcess.joining(path)
        let group = try await FileGroup.open(directory: path)
        for number in 0..<30 {
            try await writer.tell("pair p \(number) 100000")
            try writer.send("pair p \(number + 1000) 100000")
            if number % 3 == 0 { _ = try await group.compactNow() }
            let place = backup + "\(number)"
            let summary = try await group.backUp(to: place)
            _ = try await writer.answer()
            let copy = try SalvagedGroup(readingFrom: place)
            #expect(copy.findings == [])
            #expect(copy.summary == summary)
            let target = directory.path(of: "target\(number)")
            _ = try FileGroup.restore(copy, into: target)
            let restored = try await FileGroup.open(directory: target)
            let pair = try await restored.list("p").entries
            #expect(pair.count == 2 && Set(pair.map(\.revision)).count == 1)
            let numbers = pair.map { String(decoding: $0.value.prefix { $0 != UInt8(ascii: " ") }, as: UTF8.self) }
            #expect(numbers == ["\(number)", "\(number)"] || numbers == ["\(number + 1000)", "\(number + 1000)"])
            await restored.close()
        }
        await group.close()
    }

    @Test("S16: one backup, restored again and again in one directory and in several, gives out no revision twice")
    func restoredTwice() async throws {
        let group = try await FileGroup.open(directory: path)
        let first = try await group.put("owner", [1]).revision
        _ = try await group.backUp(to: backup)
        await group.close()
        let salvaged = try SalvagedGroup(readingFrom: backup)
        var given: Set<Revision> = [first]
        for (seconds, name) in [(100, "group"), (100, "group"), (101, "other"), (102, "third"), (50, "group")] {
            let target = directory.path(of: name)
            _ = try FileGroup.restore(
                salvaged, into: target, unixSeconds: UInt64(seconds), options: FileGroupOptions())
            let group = try await FileGroup.open(directory: target)
            for _ in 0..<5 {
                let revision = try await group.put("owner", [1]).revision
                #expect(given.insert(revision).inserted, "\(revision) at \(seconds) in \(name)")
            }
            await group.close()
        }
    }

    @Test(
        "S16: a restoration that the disk did not confirm has an unknown outcome, and one that failed before it has none"
    )
    func failed() async throws {
        _ = try await backUp(path, to: backup)
        for (place, code) in [
            ("build.synchronize:fail", "system"), ("build.synchronize:fail@2", "system"),
            ("build.synchronize:fail@3", "outcomeUnknown"),
        ] {
            let restoring = try await PeerProcess.joining(directory.path(of: "elsewhere"))
            try await restoring.tell("arm \(place)")
            try restoring.send("restore \(backup) \(path)")
            let answer = try await restoring.answer()
            #expect(answer.hasPrefix("error \(code)"), "\(place): \(answer)")
            let newcomer = try await PeerProcess.joining(path)
            try await newcomer.tell("put key 1")
            await newcomer.killNow()
            try await newcomer.ended()
        }
    }

    @Test("S16: a damaged group in the backup's place is refused with the way out")
    func damagedTarget() async throws {
        let group = try await FileGroup.open(directory: path)
        for number in 0..<50 { try await group.put(Key("key\(number)"), text: "\(number)") }
        _ = try await group.backUp(to: backup)
        await group.close()
        // First in the records since the snapshot, then in the snapshot.
        for offset in [4096 + 1500, 4100] {
            try OpenFile(path: path + "/journal-1", .write).write(Array("XXXXXXXX".utf8), at: offset)
            let error = #expect(throws: SharedCoreError.self) { try restore(backup, into: path) }
            #expect(error?.code == .corrupt && error?.message.contains("move its directory away") == true)
        }
    }

    @Test(
        "S16: restoring in the year 2100, or by a clock beyond all years, and restarting the machine after it, epochs are left",
        arguments: [4_102_444_800, UInt64.max])
    func highRevisions(unixSeconds: UInt64) async throws {
        let group = try await FileGroup.open(directory: path)
        try await group.put("key", text: "kept")
        _ = try await group.backUp(to: backup)
        await group.close()
        _ = try FileGroup.restore(
            SalvagedGroup(readingFrom: backup), into: path, unixSeconds: unixSeconds, options: FileGroupOptions())
        for _ in 0..<2 {
            let restarted = try await FileGroup.open(directory: path, options: FileGroupOptions(clock: ManualClock()))
            #expect(try await restarted.text("key") == "kept")
            #expect(try await restarted.put("key", text: "kept").rawValue < 1 << 63)
            await restarted.close()
        }
    }

    @Test("S16: while a process has the group open, nothing is restored")
    func refusedWhileOpen() async throws {
        _ = try await backUp(path, to: backup)
        let peer = try await PeerProcess.joining(path)
        try await peer.tell("put key 1")
        let error = #expect(throws: SharedCoreError.self) { try restore(backup, into: path) }
        #expect(error?.code == .unavailable)
        #expect(try await peer.tell("get key") == "value 1")
        try await peer.tell("put key 2")
    }

    @Test("S16: a process that joins during a restoration keeps the group, and the restoration is refused")
    func joinedMeanwhile() async throws {
        _ = try await backUp(path, to: backup)
        for place in ["restore.beforeRecords", "incarnation.beforeSeal", "incarnation.afterSeal"] {
            let restoring = try await PeerProcess.joining(directory.path(of: "elsewhere"))
            try await restoring.tell("arm \(place):stop")
            try restoring.send("restore \(backup) \(path)")
            try await restoring.stopped()
            let peer = try await PeerProcess.joining(path)
            try await peer.tell("put key \(place)")
            restoring.signal(.continue)
            #expect(try await restoring.answer().hasPrefix("error unavailable"))
            #expect(try await peer.tell("get key") == "value \(place)")
            try await peer.tell("put key again")
            try await expectAgreement(in: path, key: "key", value: "again")
            await peer.killNow()
            try await peer.ended()
        }
    }

    @Test(
        "S16: a restoration that is killed has happened or has not",
        arguments: ["incarnation.beforeSeal", "incarnation.afterSeal", "build.beforeRename", "build.afterRename"])
    func killed(place: String) async throws {
        let group = try await FileGroup.open(directory: path)
        try await group.put("key", text: "old")
        _ = try await group.backUp(to: backup)
        try await group.put("key", text: "new")
        await group.close()
        let restoring = try await PeerProcess.joining(directory.path(of: "elsewhere"))
        try await restoring.tell("arm \(place):kill")
        try restoring.send("restore \(backup) \(path)")
        try await restoring.ended()
        // The copy is complete, and so is a copy of it.
        let left = try SalvagedGroup(readingFrom: path)
        #expect(left.findings == [])
        let copy = directory.path(of: "copy")
        _ = try FileGroup.restore(left, into: copy)
        try await expectAgreement(in: copy, key: "key", value: place == "build.afterRename" ? "old" : "new")
        let between = try await FileGroup.open(directory: path)
        #expect(try await between.text("key") == (place == "build.afterRename" ? "old" : "new"))
        let last = try await between.put("key", text: "between")
        await between.close()
        // By a clock that was set back.
        let restored = try FileGroup.restore(
            SalvagedGroup(readingFrom: backup), into: path, unixSeconds: 1, options: FileGroupOptions())
        #expect(restored.revision > last)
        try await expectAgreement(in: path, key: "key", value: "old")
    }

    @Test("S11, S16: a journal that went on from an ended one, and is gone, is missed")
    func lostSuccessor() async throws {
        let frozen = try await PeerProcess.joining(path)
        try await frozen.tell("put key 1")
        try await frozen.tell("arm commit.beforePublish:stop")
        try frozen.send("put key 2")
        try await frozen.stopped()
        let writer = try await PeerProcess.joining(path)
        try await writer.tell("put key 3")
        for peer in [frozen, writer] {
            await peer.killNow()
            try await peer.ended()
        }
        #expect(try SalvagedGroup(readingFrom: path).findings == [])
        try Directory(path: path).remove("journal-2")
        let left = try SalvagedGroup(readingFrom: path)
        #expect(left.findings.count == 1 && left.findings.first?.contains("journal-2 is not there") == true)
        #expect(throws: SharedCoreError.self) { try FileGroup.restore(left, into: directory.path(of: "other")) }
    }

    @Test(
        "S11: a group whose newest journal is gone is refused by all that open it, with the way out",
        arguments: [true, false])
    func refusesWithoutSuccessor(isOnDisk: Bool) async throws {
        let frozen = try await PeerProcess.joining(path)
        try await frozen.tell("put key 1")
        try await frozen.tell("arm commit.afterLock:stop")
        try frozen.send("put key 2")
        try await frozen.stopped()
        let writer = try await PeerProcess.joining(path, disk: isOnDisk)
        try await writer.tell("put key 3")
        for peer in [frozen, writer] {
            await peer.killNow()
            try await peer.ended()
        }
        // As a copy that was made of only some of the files.
        try Directory(path: path).remove("journal-2")
        let names = TemporaryDirectory.names(in: path).sorted()
        for access in [FileGroupOptions.Access.participant, .readOnly] {
            let error = await #expect(throws: SharedCoreError.self) {
                try await FileGroup.open(directory: path, options: FileGroupOptions(access: access)).close()
            }
            #expect(error?.code == .corrupt, "\(String(describing: error))")
            for part in ["journal-2 is missing", "backup", "sharedcore salvage"] {
                #expect(error?.message.contains(part) == true, "\(String(describing: error))")
            }
        }
        // In another run of the machine, as on another one, only what the disk had is missed: the rest may have been lost with the
        // power.
        let restarted = FileGroupOptions(clock: ManualClock())
        if isOnDisk {
            let found = try await code { try await FileGroup.open(directory: path, options: restarted).close() }
            #expect(found == .corrupt)
            #expect(TemporaryDirectory.names(in: path).sorted() == names)
            // The way out.
            let left = try SalvagedGroup(readingFrom: path)
            _ = try left.write(to: backup)
            _ = try restore(backup, into: directory.path(of: "other"))
            try await expectAgreement(in: directory.path(of: "other"), key: "key", value: "1")
        } else {
            let group = try await FileGroup.open(directory: path, options: restarted)
            #expect(try await group.text("key") == "1")
            await group.close()
        }
    }

    @Test("S11: damage in what the disk had is no loss of power: another run of the machine refuses it as well")
    func damageBeforeRestart() async throws {
        let peer = try await PeerProcess.joining(path, disk: true)
        for number in 0..<20 { try await peer.tell("put key\(number) value\(number)") }
        await peer.killNow()
        try await peer.ended()
        let file = try OpenFile(path: path + "/journal-1", .write)
        let byte = try #require(try file.read(count: 1, at: 4096 + 1000).first)
        try file.write([byte ^ 1], at: 4096 + 1000)
        let restarted = FileGroupOptions(clock: ManualClock())
        let error = await #expect(throws: SharedCoreError.self) {
            try await FileGroup.open(directory: path, options: restarted).close()
        }
        #expect(error?.code == .corrupt && error?.message.contains("damaged at byte") == true)
        try file.write([byte], at: 4096 + 1000)
        let group = try await FileGroup.open(directory: path, options: restarted)
        #expect(try await group.text("key19") == "value19")
        await group.close()
    }

    @Test("S16: a backup that was killed can be made again, and is no group until then")
    func killedBackup() async throws {
        let peer = try PeerProcess(failPoint: "copy.beforeJournal:kill")
        _ = try await peer.answer()
        try await peer.tell("open \(path)")
        try peer.send("backup \(backup)")
        try await peer.ended()
        let error = #expect(throws: SharedCoreError.self) { try SalvagedGroup(readingFrom: backup) }
        #expect(error?.code == .corrupt)
        #expect(throws: SharedCoreError.self) { try restore(backup, into: directory.path(of: "other")) }
        _ = try await backUp(path, to: backup)
        #expect(try SalvagedGroup(readingFrom: backup).findings == [])
    }

    @Test("S16: a directory with anything in it is not written over")
    func keepsOthers() async throws {
        _ = try await backUp(path, to: backup)
        let other = directory.path(of: "other")
        _ = try await backUp(path, to: other)
        // The messages that this damage causes ask for this step.
        try Directory(path: other).remove("sessions")
        for place in [backup, path, other] {
            let names = try Directory(path: place).names().sorted()
            await #expect(throws: SharedCoreError.self) { try await backUp(path, to: place) }
            #expect(try Directory(path: place).names().sorted() == names)
        }
    }

    @Test("S10: a group is made below a parent that a symbolic link leads to, or that may be entered and not read")
    func linkedParent() async throws {
        _ = try Directory.create(path: directory.path(of: "real"), permissions: 0o711)
        #expect(symlink("real", directory.path(of: "link")) == 0)
        let linked = try await FileGroup.open(directory: directory.path(of: "link/group"))
        try await linked.put("key", text: "kept")
        await linked.close()
        guard getuid() == 0 else { return }
        // The parent is root's, and another user finds a directory of their own below it.
        chmod(directory.path, 0o711)
        let other = directory.path(of: "real/others")
        _ = try Directory.create(path: other, permissions: 0o733)
        chmod(other, 0o1733)
        let peer = try PeerProcess(through: ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"])
        _ = try await peer.answer()
        try await peer.tell("open \(other)/group")
    }

    @Test("S11, S16: of a damaged directory the newest state that is proved is told, with what is missing")
    func salvages() async throws {
        let group = try await FileGroup.open(directory: path)
        for number in 0..<50 { try await group.put(Key("key\(number)"), text: "\(number)") }
        await group.close()
        let whole = try SalvagedGroup(readingFrom: path)
        #expect(whole.findings == [] && whole.summary.keyCount == 50)

        // A byte in the middle of the records.
        let journal = path + "/journal-1"
        let file = try OpenFile(path: journal, .write)
        let middle = 4096 + 1500
        let byte = try #require(try file.read(count: 1, at: middle).first)
        try file.write([byte ^ 1], at: middle)
        let left = try SalvagedGroup(readingFrom: path)
        #expect(left.findings.count == 1, "\(left.findings)")
        #expect(left.findings.first?.contains("journal-1 is damaged at byte") == true)
        #expect((1..<50).contains(left.summary.keyCount))
        #expect(throws: SharedCoreError.self) { try FileGroup.restore(left, into: directory.path(of: "other")) }
        #expect(try left.write(to: backup).keyCount == left.summary.keyCount)
        _ = try restore(backup, into: directory.path(of: "other"))
        try await expectAgreement(in: directory.path(of: "other"), key: "key0", value: "0")

        // Also without the file that names the journal.
        try file.write([byte], at: middle)
        try Directory(path: path).remove("sessions")
        let found = try SalvagedGroup(readingFrom: path)
        #expect(found.findings.count == 1 && found.summary.keyCount == 50, "\(found.findings)")
    }

    /// The damaged part of a snapshot.
    enum DamagedPart: CaseIterable {
        case payload, header, everyRecord
    }

    @Test(
        "S11, S16: of a damaged snapshot, and of what follows it, everything comes back that checksums prove",
        arguments: DamagedPart.allCases)
    func salvagesSnapshot(part: DamagedPart) async throws {
        let group = try await FileGroup.open(directory: path)
        let value = [UInt8](repeating: 3, count: 5000)
        for number in 100..<200 { try await group.put(Key("key\(number)"), value) }
        try await group.post("name", state: 7)
        #expect(try await group.compactNow())
        try await group.put("key100", text: "later")
        try await group.put("new", text: "new")
        await group.close()
        #expect(try SalvagedGroup(readingFrom: path).findings == [])

        let file = try OpenFile(path: path + "/journal-2", .write)
        let bytes = try file.read(count: try file.status().byteCount, at: 0)
        // In front of the payload of key 150 are its tag and lengths, and in front of them the header of 32 bytes.
        let name = Array("key150".utf8)
        let place = try #require(
            (4096..<bytes.count).first { bytes[$0..<min($0 + name.count, bytes.count)].elementsEqual(name) })
        switch part {
        case .payload: try file.write([0xff], at: place + 100)
        case .header: try file.write([UInt8](repeating: 0xff, count: 20), at: place - 30)
        case .everyRecord: try file.write([UInt8](repeating: 0xff, count: 100), at: 4096)
        }
        let left = try SalvagedGroup(readingFrom: path)
        #expect(left.findings.count == 1, "\(left.findings)")
        #expect(left.findings.first?.contains("journal-2 is damaged from byte") == true, "\(left.findings)")
        switch part {
        case .payload: #expect(left.summary.keyCount == 100)
        case .header: #expect(left.summary.keyCount == 51)
        case .everyRecord: #expect(left.summary.keyCount == 2)
        }
        #expect(throws: SharedCoreError.self) { try FileGroup.restore(left, into: directory.path(of: "other")) }
        #expect(try left.write(to: backup).keyCount == left.summary.keyCount)
        let other = directory.path(of: "other")
        _ = try restore(backup, into: other)
        try await expectAgreement(in: other, key: "key100", value: "later")
        let restored = try await FileGroup.open(directory: other)
        #expect(try await restored.text("new") == "new")
        #expect(try await restored.get("key150") == nil)
        #expect(try await restored.get("key149")?.value == (part == .everyRecord ? nil : value))
        #expect(try await restored.get("key199")?.value == (part == .payload ? value : nil))
        #expect(try await restored.state(of: "name").state == (part == .payload ? 7 : 0))
        await restored.close()
    }

    @Test("S11: what was written since a snapshot comes back where the record at its end is damaged")
    func salvagesBehindTheEnd() async throws {
        _ = try await backUp(path, to: backup)
        let other = directory.path(of: "other")
        _ = try restore(backup, into: other)
        let group = try await FileGroup.open(directory: other)
        // The first record behind the snapshot is that of the session.
        try await group.put("held", [1], lifetime: .session)
        let file = try OpenFile(path: other + "/journal-\(group.generation)", .write)
        // The records up to the one of the end. Each has a header that begins with its length.
        var place = 4096
        while try file.read(count: 1, at: place + 32) != [6] { place += 32 + Int(try file.readWord(at: place)) }
        try file.write([0xff], at: place + 32)
        let left = try SalvagedGroup(readingFrom: other)
        #expect(left.findings.count == 1, "\(left.findings)")
        #expect(left.summary.keyCount == 1)
        await group.close()
    }

    @Test("S9, S11: a salvage ends at a record that is whole and cannot be read, and an opening refuses it")
    func unreadableRecord() async throws {
        let group = try await FileGroup.open(directory: path)
        try await group.put("key", text: "value")
        let state = group.local.replica.read { $0 }
        let header = group.local.position.journal.header
        let builder = try JournalBuilder(2, in: group.local.directory)
        try state.writeSnapshot { payload throws(SharedCoreError) in try builder.append(payload) }
        // The checksum of this record is valid, and no program writes such a record.
        try builder.append([0xff])
        // The journal is of an earlier start of the machine.
        let isPlaced = try builder.place(
            incarnation: header.incarnation, bootID: BootID(high: 1, low: 1), hasSnapshot: true, predecessorTail: nil,
            inherited: WakeChannels(), isDurable: false)
        #expect(isPlaced)
        group.local.directory.page.raiseFloor(to: 2)
        await group.close()
        let left = try SalvagedGroup(readingFrom: path)
        #expect(left.summary.keyCount == 1)
        #expect(left.findings.count == 1 && left.findings[0].contains("a later version"), "\(left.findings)")
        // By another process: this one may have the group in memory still.
        let peer = try Peer()
        _ = try await peer.answer()
        try peer.send("open \(path)")
        let refusal = try await peer.answer()
        #expect(refusal.hasPrefix("error corrupt"), "\(refusal)")
    }

    @Test("S11: what lived with a session of which the damage has left nothing does not come back")
    func salvagesNoOrphans() async throws {
        let group = try await FileGroup.open(directory: path)
        let holder = try await FileGroup.open(directory: path)
        try await holder.put("held", [1], lifetime: .session)
        try await group.put("kept", text: "kept")
        #expect(try await group.compactNow())
        try await holder.put("held too", [1], lifetime: .session)
        // The first records: where the snapshot begins, and its sessions.
        let file = try OpenFile(path: path + "/journal-2", .write)
        let sessions = 4096 + 32 + Int(try file.readWord(at: 4096))
        let length = Int(try file.readWord(at: sessions))
        let other = sessions + 32 + length
        for session in [sessions, other] { try file.write([0xff], at: session + 40) }
        let left = try SalvagedGroup(readingFrom: path)
        #expect(left.findings.count == 2, "\(left.findings)")
        #expect(left.summary.keyCount == 1)
        await holder.close()
        await group.close()
    }

    @Test("S11: a group of layout 3 is refused with the command that reads it, left as it was, and comes back by it")
    func earlierLayout() async throws {
        try await LayoutThreeGroup.write(to: path)
        let files = try self.files(in: path)
        #expect(files.keys.sorted() == ["journal-1", "sessions"])
        let error = await #expect(throws: SharedCoreError.self) { try await FileGroup.open(directory: path) }
        #expect(error?.code == .incompatible)
        #expect(error?.message.contains("sharedcore salvage") == true)

        let old = try SalvagedGroup(readingFrom: path)
        #expect(old.findings == [])
        #expect(old.summary.keyCount == 5)
        _ = try old.write(to: backup)
        #expect(try self.files(in: path) == files)
        let new = directory.path(of: "new")
        _ = try restore(backup, into: new)
        try await expectAgreement(in: new, key: "greeting", value: "hello again")
        let group = try await FileGroup.open(directory: new)
        #expect(try await group.get("empty")?.value == [])
        #expect(try await group.get("large")?.value == [UInt8](repeating: UInt8(ascii: "L"), count: 6000))
        #expect(try await group.text("ключ") == "значение")
        #expect(try await group.get("gone") == nil)
        #expect(try await group.list(".sharedcore/mailboxes/").entries.count == 1)
        #expect(try await group.state(of: "news").state == 7)
        #expect(try await group.state(of: "plain").count == 1)
        await group.close()
    }

    @Test("S11: a group of layout 4, whose journals have the frames of this one, is refused, and salvaged whole")
    func layoutFour() async throws {
        let group = try await FileGroup.open(directory: path)
        let value = [UInt8](repeating: 7, count: 6000)
        try await group.put("large", value)
        #expect(try await group.compactNow())
        try await group.put("key", text: "value")
        let journal = GroupDirectory.journalName(group.generation)
        await group.close()
        for name in ["sessions", journal] {
            try OpenFile(path: path + "/" + name, .write).write([4, 0, 0, 0, 0, 0, 0, 0], at: 8)
        }
        let error = await #expect(throws: SharedCoreError.self) { try await FileGroup.open(directory: path) }
        #expect(error?.code == .incompatible && error?.message.contains("sharedcore salvage") == true)

        let old = try SalvagedGroup(readingFrom: path)
        #expect(old.findings == [])
        _ = try old.write(to: backup)
        let new = directory.path(of: "new")
        _ = try restore(backup, into: new)
        let restored = try await FileGroup.open(directory: new)
        #expect(try await restored.text("key") == "value")
        #expect(try await restored.get("large")?.value == value)
        await restored.close()
    }

    /// Reads the first page of a file as a program of layout 3 does.
    ///
    /// The program checks its magic word and then its own version. It refuses every other version as `incompatible`,
    /// regardless of the rest. A page with other first bytes counts as damaged.
    private func versionForLayoutThree(_ page: [UInt8], magic: [UInt8]) -> UInt64? {
        guard page.count == 4096, page.starts(with: magic) else { return nil }
        return page[8..<16].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    @Test("S11: a program of layout 3 finds another version in the files of this one, and takes them for no damage")
    func laterLayout() async throws {
        let old = directory.path(of: "old")
        try await LayoutThreeGroup.write(to: old)
        let group = try await FileGroup.open(directory: path)
        try await group.put("key", [1])
        #expect(try await group.compactNow())
        let journal = GroupDirectory.journalName(group.generation)
        await group.close()
        for (name, present) in [("sessions", "sessions"), ("journal-1", journal)] {
            let former = try OpenFile(path: old + "/" + name, .read).read(count: 4096, at: 0)
            let new = try OpenFile(path: path + "/" + present, .read).read(count: 4096, at: 0)
            let magic = Array(former.prefix(8))
            #expect(versionForLayoutThree(former, magic: magic) == 3)
            #expect(versionForLayoutThree(new, magic: magic) == JournalHeader.layoutVersion)
        }
        #expect(JournalHeader.layoutVersion == 5)
    }
}
