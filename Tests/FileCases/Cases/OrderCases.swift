internal import CoreAPI
internal import CoreAPITesting
internal import Platform

/// S3, S8, S9, S11: one order, whatever becomes of its files.
enum OrderCases {
    static let all = [revisionsRiseOverLoss, timeSinceTheStart, othersMoveOn, changedByte]

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
        "F-S8a", "time is counted from the start of the machine, whatever the wall clock says"
    ) { context in
        /// What the system counts, in hundredths of a second.
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
        "F-S9a", "whoever has the group open goes on in the journal that a compaction of another process has made"
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
}

extension OpenFile {
    /// The word at a byte offset of the file.
    fileprivate func word(at offset: Int) throws(SystemCallError) -> Int {
        try read(count: 8, at: offset).reversed().reduce(0) { $0 << 8 | Int($1) }
    }
}
