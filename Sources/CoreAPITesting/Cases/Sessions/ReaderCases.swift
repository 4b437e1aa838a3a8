internal import CoreAPI

/// L4: readers without a session.
enum ReaderCases {
    static let all = [leavesNoTrace, readsOneRevision, makesNothing, hidesWhatIsOver, writesNothing]

    static let leavesNoTrace = ConformanceCase(
        "L4a", "a reader reads every commit that has returned, is no participant, takes no revision, and cannot write"
    ) { context in
        try await context.withGroup { group in
            let writer = try await group.open()
            try await writer.put("a/b", [1])
            try await writer.put("held", [2], lifetime: .session)
            try await writer.post("news", state: 7)
            let before = try await writer.list().revision
            for round in 0..<3 {
                let reader = try await group.openToRead()
                try expect(try await reader.get("a/b")?.value, is: [1], "what reader \(round) finds")
                try expect(
                    try await reader.list("a").entries.map(\.key), is: ["a/b"], "what is listed to reader \(round)")
                try expect(try await reader.get("held")?.origin, is: writer.session.id, "whose the held entry is")
                try expect(try await reader.state(of: "news").state, is: 7, "the state word for reader \(round)")
                try expect(
                    try await reader.sessions().map(\.id), is: [writer.session.id], "who is there for reader \(round)")
                try expect(try await writer.sessions().map(\.id), is: [writer.session.id], "who is there beside it")
                try await expect(.forbidden, from: "a put of a reader") { try await reader.put("a/b", [3]) }
                try await expect(.forbidden, from: "a post of a reader") { try await reader.post("news") }
                await reader.close()
                try await expect(.closed, from: "a read behind the close") { try await reader.get("a/b") }
            }
            try await writer.catchUp()
            try expect(try await writer.list().revision, is: before, "where the group stands afterwards")
            try expect(try await writer.get("a/b")?.value, is: [1], "what stands there")
            try expect(try await writer.state(of: "news").count, is: 1, "the number of posts")
        }
    }

    static let readsOneRevision = ConformanceCase(
        "L4b", "a list of a reader is of one revision while others write, and reflects every commit that had returned"
    ) { context in
        try await context.withGroup { group in
            let writer = try await group.open()
            let returned = Box<UInt64>(0)
            _ = try await writer.commit(try row(0))
            let writing = Task {
                var count: UInt64 = 0
                while !Task.isCancelled {
                    count += 1
                    _ = try await writer.commit(try row(count))
                    returned.update { $0 = count }
                }
            }
            for round in 0..<50 {
                let least = returned.update { $0 }
                let reader = try await group.openToRead()
                var last: UInt64 = least
                for _ in 0..<3 {
                    let values = try await reader.list("row").entries.map(\.value)
                    try expect(values.count, is: rowLength, "the keys of the row in round \(round)")
                    try expect(Set(values).count, is: 1, "the different values of one transaction in round \(round)")
                    let count = UInt64(String(decoding: values[0], as: UTF8.self)) ?? 0
                    try expect(count >= last, "\(count) is not older than \(last), which was there before")
                    last = count
                }
                await reader.close()
                // Wait until another commit has returned, so that each round reads a different one.
                try await eventually("a later commit returns") { returned.update { $0 } > least }
            }
            writing.cancel()
            _ = try? await writing.value
        }
    }

    /// The number of keys that each commit writes. There are many, so that a reader that does not read them at one
    /// revision is likely to see a commit in between.
    private static let rowLength = 32

    private static func row(_ count: UInt64) throws(SharedCoreError) -> Transaction {
        var transaction = Transaction()
        for number in 0..<rowLength { transaction.put(try Key("row/\(number)"), Array("\(count)".utf8)) }
        return transaction
    }

    static let makesNothing = ConformanceCase(
        "L4c", "a reader that comes before any participant makes no group: it is unavailable, again and again"
    ) { context in
        try await context.withGroup { group in
            do {
                for round in 0..<2 {
                    let reader = try await group.openToRead()
                    // Behind a hub the group exists as long as the hub does.
                    try expect(reader.capabilities.backend, is: "zmq", "the backend that has a group in round \(round)")
                    try expect(try await reader.list().revision, is: .zero, "where the group stands")
                }
            } catch let error as SharedCoreError {
                try expect(error.code, is: .unavailable, "the code of the first reader")
                try await expect(.unavailable, from: "the second reader") { try await group.openToRead() }
            }
            let writer = try await group.open()
            try await writer.put("k", [1])
            try expect(try await group.openToRead().get("k")?.value, is: [1], "what a reader behind it finds")
        }
    }

    static let hidesWhatIsOver = ConformanceCase(
        "L4d", "a reader is shown no entry past its time, and nothing of a session that has ended"
    ) { context in
        let clock = ManualClock()
        try await context.withGroup(GroupSettings(clock: clock)) { group in
            let writer = try await group.open()
            try await writer.put("kept", [1])
            try await writer.put("short", [1], lifetime: .expiring(after: .seconds(10)))
            let guest = try await group.open()
            try await guest.put("guest", [1], lifetime: .session)
            let keys = try await group.openToRead().list().entries.map(\.key)
            try expect(keys, is: ["guest", "kept", "short"], "what stands at first")
            await guest.close()
            clock.advance(by: .seconds(10))
            let later = try await group.openToRead()
            try expect(try await later.list().entries.map(\.key), is: ["kept"], "what stands later")
            try expect(try await later.get("short"), is: nil, "the entry past its time")
            try expect(try await later.sessions().map(\.id), is: [writer.session.id], "who is there")
        }
    }

    static let writesNothing = ConformanceCase(
        "L4e", "a reader changes no byte and no time of a file of the group, and needs no permission to write one"
    ) { context in
        try await context.withGroup { group in
            let writer = try await group.open()
            let files = try group.files()
            try await writer.put("k", [1])
            try await writer.post("news", state: 7)
            try await leavesAsItIs(files, in: group, "beside a participant")
            await group.closeAll()
            try await files.withoutWritePermission {
                try await leavesAsItIs(files, in: group, "when all participants have left")
            }
            let successor = try await group.open()
            try expect(try await successor.get("k")?.value, is: [1], "what the next participant finds")
        }
    }

    private static func leavesAsItIs(_ files: GroupFiles, in group: TestGroup, _ situation: String) async throws {
        let before = try files.contents()
        try expect(!before.isEmpty, "the group has files \(situation)")
        for round in 0..<3 {
            let reader = try await group.openToRead()
            try expect(try await reader.get("k")?.value, is: [1], "what reader \(round) finds \(situation)")
            try expect(try await reader.list().entries.map(\.key), is: ["k"], "what it lists \(situation)")
            try expect(try await reader.state(of: "news").state, is: 7, "the state word \(situation)")
            _ = try await reader.sessions()
            await reader.close()
            let after = try files.contents()
            let changed = Set(before.keys).union(after.keys).filter { before[$0] != after[$0] }
            try expect(changed.sorted(), is: [], "the files that reader \(round) has changed \(situation)")
        }
    }
}
