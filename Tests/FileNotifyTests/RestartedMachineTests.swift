internal import CoreAPI
internal import CoreAPITesting
internal import FileNotifyBackend
internal import Glibc
internal import Platform
internal import TestSupport
internal import Testing

@Suite("A machine that was started anew", .timeLimit(.minutes(10)))
struct RestartedMachineTests {
    private func options(_ clock: ManualClock) -> FileGroupOptions {
        FileGroupOptions(clock: clock)
    }

    @Test("S3, S8, L1: entries stand, sessions are over, revisions rise above all that could have been handed out")
    func newIncarnation() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let clock = ManualClock()
        let old = try await PeerProcess.joining(path)
        try await old.tell("put kept yes")
        try await old.tell("hold held 1")
        try await old.tell("fill big 1 100000")
        let before = try await FileGroup.open(directory: path)
        let last = try await before.put("brief", [1], lifetime: .expiring(after: .seconds(100))).revision
        await before.close()
        // No process records its death: all of them end with the machine.
        await old.killNow()

        // To a clock with another identity of the machine's run, the machine was started anew.
        let new = try await FileGroup.open(directory: path, options: options(clock))
        #expect(try await new.text("kept") == "yes")
        #expect(try await new.get("big0")?.value.count == 100_000)
        #expect(try await new.get("held") == nil)
        #expect(try await new.sessions().map(\.id) == [new.session.id])
        #expect(new.session.id.rawValue > last.rawValue + 1 << 32)
        clock.advance(by: .seconds(99))
        #expect(try await new.get("brief") != nil, "a full duration from the start at least")
        clock.advance(by: .seconds(2))
        #expect(try await new.get("brief") == nil, "and at most")
        await new.close()
    }

    @Test("S3, L1: another run of the machine is refused as incompatible while participants of this one live")
    func twoRunsAtOnce() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let peer = try await PeerProcess.joining(path)
        try await peer.tell("hold held 1")
        var reading = options(ManualClock())
        reading.access = .readOnly
        for options in [options(ManualClock()), reading] {
            let error = await #expect(throws: SharedCoreError.self) {
                try await FileGroup.open(directory: path, options: options)
            }
            #expect(error?.code == .incompatible)
            #expect(error?.message.contains("boot id") == true)
        }
        for index in 0..<20 { try await peer.tell("put key\(index) \(index)") }
        #expect(try await peer.tell("get held") == "value 1", "its session stands")
        await peer.killNow()

        let new = try await FileGroup.open(directory: path, options: options(ManualClock()))
        for index in 0..<20 { #expect(try await new.text(Key("key\(index)")) == "\(index)") }
        #expect(try await new.get("held") == nil)
        await new.close()
    }

    @Test("S3, S9: a new run that meets a commit of a living participant changes nothing")
    func liveWriterDuringRestart() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let clock = ManualClock()
        let first = try await FileGroup.open(directory: path, options: options(clock))
        try await first.put("key", text: "one")
        await first.close()
        let late = try PeerProcess(failPoint: "incarnation.beforeSeal:stop")
        _ = try await late.answer()
        try late.send("open \(path)")
        try await late.stopped()
        let living = try await FileGroup.open(directory: path, options: options(clock))
        try await living.put("key", text: "two")
        late.signal(.continue)
        let answer = try await late.answer()
        #expect(answer.hasPrefix("error incompatible"), "\(answer)")
        try await living.put("other", text: "three")
        let newcomer = try await FileGroup.open(directory: path, options: options(clock))
        #expect(try await newcomer.text("key") == "two")
        #expect(try await newcomer.text("other") == "three")
        await newcomer.close()
        await living.close()
    }

    @Test("S9: what was published and did not reach the disk is lost from its first gap on, and the group goes on")
    func lostEnd() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let clock = ManualClock()
        do {
            let old = try await FileGroup.open(directory: path, options: options(clock))
            for index in 0..<20 { try await old.put(Key("key\(index)"), [UInt8](repeating: UInt8(index), count: 100)) }
            await old.close()
        }
        let file = try OpenFile(path: path + "/journal-1", .write)
        let tail = try file.read(count: 8, at: 1_024).reversed().reduce(0) { $0 << 8 | Int($1) }
        try file.write([UInt8](repeating: 0, count: 600), at: tail - 600)
        clock.reboot()
        let new = try await FileGroup.open(directory: path, options: options(clock))
        let entries = try await new.list().entries
        #expect((10..<20).contains(entries.count))
        for entry in entries { #expect(entry.value == [UInt8](repeating: entry.value[0], count: 100)) }
        try await new.put("next", text: "x")
        let newcomer = try await FileGroup.open(directory: path, options: options(clock))
        #expect(try await newcomer.text("next") == "x")
        await newcomer.close()
        await new.close()
    }

    @Test("S9: a record that was written behind a sealed end is none after a restart either, and hides nothing")
    func sealedEndCounts() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let group = try await FileGroup.open(directory: path)
        let peer = try await PeerProcess.joining(path)
        try await peer.tell("arm commit.beforePublish:stop")
        try peer.send("put late yes")
        try await peer.stopped()
        // The order continues in the next journal. A complete record of the stopped journal lies after the end of this
        // one.
        try await group.put("key", text: "two")
        #expect(group.generation == 2)
        await peer.killNow()
        await group.close()

        // To a clock with another identity of the machine's run, the machine was started anew.
        let new = try await FileGroup.open(directory: path, options: options(ManualClock()))
        #expect(try await new.text("key") == "two")
        #expect(try await new.get("late") == nil)
        await new.close()
    }

    @Test("S3: participants that open at the same time after a restart agree on one new incarnation")
    func agreement() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let clock = ManualClock()
        let old = try await FileGroup.open(directory: path, options: options(clock))
        try await old.put("key", text: "one")
        await old.close()
        clock.reboot()
        let groups = try await together(8) { index in
            // Sizes of their own, so that each has an own part, as a process has.
            var options = FileGroupOptions(clock: clock)
            options.historyByteCount += index
            return try await FileGroup.open(directory: path, options: options)
        }
        #expect(Set(groups.map(\.session.id)).count == 8)
        for (index, group) in groups.enumerated() { try await group.put(Key("from\(index)"), text: "x") }
        for group in groups { #expect(try await group.list().entries.count == 9) }
        for group in groups { await group.close() }
    }

    @Test("S9: a newest journal of which nothing reached the disk is passed over", arguments: [0, 100, 8_192])
    func emptySuccessor(byteCount: Int) async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let clock = ManualClock()
        do {
            let old = try await FileGroup.open(directory: path, options: options(clock))
            try await old.put("key", text: "one")
            await old.close()
        }
        let successor = path + "/journal-2"
        #expect(close(creat(successor, 0o600)) == 0 && truncate(successor, byteCount) == 0)
        for value in ["one", "two"] {
            clock.reboot()
            let new = try await FileGroup.open(directory: path, options: options(clock))
            #expect(try await new.text("key") == value)
            try await new.put("key", text: "two")
            await new.close()
        }
    }

    @Test("S3, S6: one that was stopped while it opened after a restart does not fork the order of those that went on")
    func lateOpener() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let old = try await FileGroup.open(directory: path, options: options(ManualClock()))
        try await old.put("key", text: "one")
        await old.close()

        // To the system's clock, the machine was started anew.
        let late = try PeerProcess(failPoint: "restart.afterFloor:stop")
        _ = try await late.answer()
        try late.send("open \(path)")
        try await late.stopped()
        let present = try await PeerProcess.joining(path)
        let frozen = try await PeerProcess.joining(path)
        try await frozen.tell("arm commit.beforePublish:stop")
        try frozen.send("put frozen yes")
        try await frozen.stopped()
        try await present.tell("put key two")
        #expect(try groupNames(in: directory).contains("journal-3"), "passed over, without a snapshot")

        late.signal(.continue)
        #expect(try await late.answer().hasPrefix("ok"))
        #expect(try await late.tell("get key") == "value two")
        try await present.tell("put key three")
        #expect(try await late.tell("get key") == "value three")
    }

    @Test("S9: a floor that reached the disk before any journal above the old one does not make the group unreadable")
    func floorAboveJournals() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let clock = ManualClock()
        let old = try await FileGroup.open(directory: path, options: options(clock))
        try await old.put("key", text: "one")
        await old.close()
        try OpenFile(path: path + "/sessions", .write).write([5], at: 64)
        for value in ["one", "two"] {
            clock.reboot()
            let new = try await FileGroup.open(directory: path, options: options(clock))
            #expect(try await new.text("key") == value)
            try await new.put("key", text: "two")
            await new.close()
        }
    }
}
