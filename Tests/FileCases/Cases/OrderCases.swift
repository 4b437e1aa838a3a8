internal import CoreAPI
internal import CoreAPITesting
internal import Glibc
internal import Platform

/// S3, S8, S9, S11, S15: one order, also when its files are lost, stopped at or changed.
enum OrderCases {
    static let all = [revisionsRiseOverLoss, timeSinceTheStart, othersMoveOn, changedByte, longJudgement]

    static let revisionsRiseOverLoss = ConformanceCase(
        "F-S3a", "after a start of the machine no revision comes again, also of what never reached the disk"
    ) { context in
        let clock = ManualClock()
        try await context.withGroup(GroupSettings(clock: clock)) { group in
            let store = try await group.open()
            try await store.put("kept", text: "yes")
            let journal = try OpenFile(path: group.address + "/journal-1", .write)
            let kept = try journal.word(at: 1024)
            var last = Revision.zero
            for round in 0..<20 { last = try await store.put("lost", text: "\(round)") }
            await group.closeAll()
            try journal.write([UInt8](repeating: 0, count: try journal.word(at: 1024) - kept), at: kept)

            clock.reboot()
            let reborn = try await group.open()
            try expect(try await reborn.text("kept"), is: "yes", "what had reached the disk")
            try expect(try await reborn.text("lost"), is: nil, "what had not")
            try expect(
                reborn.session.id.rawValue > last.rawValue, "a new session's number lies above every revision before")
            try expect(try await reborn.put("next", [1]).revision > last, "a new revision lies above all before")
        }
    }

    static let timeSinceTheStart = ConformanceCase(
        "F-S8a", "time is counted from the start of the machine, independent of the wall clock"
    ) { context in
        /// The time since the start of the machine, which the system counts in hundredths of a second.
        func upTime() throws -> Duration {
            let bytes = try OpenFile(path: "/proc/uptime", .read).read(count: 64, at: 0)
            let digits = bytes.prefix { $0 != UInt8(ascii: " ") }.filter { $0 != UInt8(ascii: ".") }
            return .milliseconds(10) * (try expectSome(Int(String(decoding: digits, as: UTF8.self)), "the up-time"))
        }
        try await context.withGroup { group in
            let before = try upTime()
            let opened = try await group.open().session.openedAt
            let after = try upTime() + .milliseconds(20)
            let time = Duration.nanoseconds(Int64(clamping: opened.nanoseconds))
            try expect(before <= time && time <= after, "\(time) lies between \(before) and \(after) after the start")
        }
    }

    static let othersMoveOn = ConformanceCase(
        "F-S9a", "a process that has the group open goes on in the journal that another's compaction has made"
    ) { context in
        try await context.withGroup { group in
            let store = try await group.open()
            let peer = try await group.join()
            for round in 0..<5 {
                try await store.put("before", text: "\(round)")
                try expect(try await peer.tell("compact"), is: "true", "whether compaction \(round) was done")
                try await store.put("after", text: "\(round)")
                try await group.expectNewcomer(finds: "\(round)", under: "before")
                try await group.expectNewcomer(finds: "\(round)", under: "after")
                try expect(try await peer.tell("get after"), is: "value \(round)", "what the compacting one finds")
            }
        }
    }

    static let changedByte = ConformanceCase(
        "F-S11a", "a byte of a value that was changed in the file is not read as what was written"
    ) { context in
        try await context.withGroup { group in
            let store = try await group.open()
            for round in 0..<10 { try await store.put(Key("key\(round)"), text: "value-\(round)-value") }
            await group.closeAll()
            let journal = try OpenFile(path: group.address + "/journal-1", .write)
            let content = try journal.read(count: try journal.word(at: 1024), at: 0)
            let place = try expectSome(
                content.firstRange(of: Array("value-5-value".utf8))?.lowerBound, "the value in the file")
            try journal.write([UInt8(ascii: "V")], at: place)
            let newcomer = try await context.start()
            try newcomer.send("open \(group.address)")
            let answer = try await newcomer.answer()
            try expect(answer.hasPrefix("error corrupt"), "it is refused as corrupt, and not: \(answer)")
        }
    }

    static let longJudgement = ConformanceCase(
        "F-S15a", "a writer that takes long is passed over four times, then waited for, and not when it is stopped"
    ) { context in
        // The writer is stopped four times, once in its task and three times in its queue's thread, so that it takes
        // long enough on any machine. Then it has the lock, and has begun to show that it runs.
        let place = "commit.beforePublish:stop*4,commit.isLate:stop"
        try await context.withGroup { group in
            let store = try await group.open()
            let slow = try await group.join()
            try await slow.tell("arm \(place),commit.beforePublish:wait=1500*")
            try slow.send("put slow yes")
            var before = try newestJournal(in: group.address)
            for round in 1...4 {
                try await passOver(slow, by: store, in: group.address, behind: &before, "\(round)")
            }
            try await slow.stopped()
            before = try newestJournal(in: group.address)
            slow.signal(.continue)
            try await eventually("the writer that takes long is done") {
                try await store.put("other", text: "later")
                // On a busy machine a sign of life may come more than 200 ms late, a few times in a row.
                let count = try newestJournal(in: group.address) - before
                try expect(count <= 9, "it is not passed over again and again while it is waited for")
                return try await store.text("slow") == "yes"
            }
            try await slow.done()
        }
        // In a group of its own: a compaction of many journals would pass over it as well.
        try await context.withGroup { group in
            let store = try await group.open()
            let slow = try await group.join()
            try await slow.tell("arm \(place)")
            try slow.send("put slow again")
            var before = try newestJournal(in: group.address)
            for round in 1...4 {
                try await passOver(slow, by: store, in: group.address, behind: &before, "\(round)")
            }
            try await passOver(slow, by: store, in: group.address, behind: &before, "also when it would be waited for")
            try await slow.done()
            try expect(try await store.text("slow"), is: "again", "the value after it went on")
        }
    }

    /// Each time that a writer is passed over, the other processes continue in another journal, as after a compaction.
    private static func newestJournal(in directory: String) throws -> Int {
        let names = try Directory(path: directory).names()
        return names.compactMap { Int($0.dropFirst("journal-".count)) }.max() ?? 0
    }

    /// Waits until a writer is stopped under the lock, writes past it, and lets it go on.
    ///
    /// - Parameter journal: The newest one before; a compaction in the background may have begun another since.
    private static func passOver(
        _ slow: Peer, by store: any SharedStore, in directory: String, behind journal: inout Int, _ what: String
    ) async throws {
        try await slow.stopped()
        try await store.put("other", text: what)
        let newest = try newestJournal(in: directory)
        try expect(newest > journal, "others go on in another journal: \(what)")
        journal = newest
        slow.signal(.continue)
    }
}

extension OpenFile {
    /// The word at a byte offset of the file.
    fileprivate func word(at offset: Int) throws(SystemCallError) -> Int {
        try read(count: 8, at: offset).reversed().reduce(0) { $0 << 8 | Int($1) }
    }
}
