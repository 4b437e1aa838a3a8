internal import CoreAPI

/// S4: a read sees every commit that has returned.
enum ReadCases {
    static let all = [
        readsSeeWhatReturned, causalReadsNeverGoBack, listsAreExact, nothingIsAnEmptyList, historiesAreLinearizable,
    ]

    static let readsSeeWhatReturned = ConformanceCase(
        "S4a", "`get` and `list` on any handle reflect every commit that had returned", promises: [.linearizableReads]
    ) { context in
        try await context.withGroup { group in
            let handles = try await group.open(count: 4)
            for round in 0..<200 as Range<UInt64> {
                let value = Number.bytes(round)
                let commit = try await handles[Int(round % 4)].put("k", value)
                for (number, reader) in handles.enumerated() {
                    let entry = try await reader.get("k")
                    try expect(entry?.value, is: value, "the value of round \(round) for handle \(number)")
                    try expect(entry?.revision, is: commit.revision, "its revision for handle \(number)")
                    let list = try await reader.list()
                    try expect(list.revision >= commit.revision, "the list of handle \(number) reflects the commit")
                    try expect(list.entries.map(\.value), is: [value], "the listed values for handle \(number)")
                }
            }
        }
    }

    static let causalReadsNeverGoBack = ConformanceCase(
        "S4b", "`.causal` reads are never older than anything that the handle has read before"
    ) { context in
        try await context.withGroup { group in
            let writer = try await group.open()
            let reader = try await group.open()
            let isLinearizable = reader.capabilities.features.contains(.linearizableReads)
            try await writer.put("k", [0])
            let isDone = Box(false)
            let turns = Box(0)
            _ = try await together(2) { number in
                defer { isDone.update { $0 = true } }
                if number == 0 {
                    var round = 0
                    while round < 1000 || turns.value < 300, !isDone.value {
                        round += 1
                        try await writer.put("k", [0])
                        await Task.yield()
                    }
                    return
                }
                var (seen, seenList) = (Revision.zero, Revision.zero)
                while !isDone.value {
                    await Task.yield()
                    let turn = turns.update { turns in
                        turns += 1
                        return turns
                    }
                    let consistency: ReadConsistency =
                        isLinearizable && turn.isMultiple(of: 3) ? .linearizable : .causal
                    let entry = try await reader.get("k", consistency: consistency)?.revision ?? .zero
                    try expect(entry >= seen, "the entry of revision \(entry) was read after revision \(seen)")
                    let list = try await reader.list(.all, consistency: consistency)
                    let listed = list.entries.first?.revision ?? .zero
                    try expect(listed >= entry, "the entry of revision \(listed) was listed after revision \(entry)")
                    try expect(list.revision >= listed, "the list of revision \(list.revision) reflects its entries")
                    try expect(
                        list.revision >= seenList, "the list of revision \(list.revision) follows \(seenList)")
                    (seen, seenList) = (listed, list.revision)
                }
            }
            let own = try await reader.put("k", [1])
            let known = try await reader.get("k", consistency: .causal)?.revision
            try expect(known, is: own.revision, "one's own commit in a causal read")
        }
    }

    static let listsAreExact = ConformanceCase(
        "S4c", "a list holds exactly what the prefix selects, in the order of the keys"
    ) { context in
        try await context.withGroup { group in
            let store = try await group.open()
            var random = context.random()
            var expected: [Key: [UInt8]] = [:]
            func path(upTo length: Int) -> String {
                String(
                    (0..<Int.random(in: 1...length, using: &random)).map { _ in
                        "ab-/".randomElement(using: &random) ?? "a"
                    })
            }
            for round in 0..<600 {
                let key = try Key(path(upTo: 6))
                if random.once(in: 4) {
                    expected[key] = nil
                    try await store.delete(key)
                } else {
                    expected[key] = [UInt8(truncatingIfNeeded: round)]
                    try await store.put(key, [UInt8(truncatingIfNeeded: round)])
                }
                let prefix = random.once(in: 6) ? "" : path(upTo: 3)
                let listed = try await store.list(KeyPrefix(prefix)).entries
                let selected = expected.keys.filter { selects(prefix, $0.text) }.sorted()
                try expect(listed.map(\.key), is: selected, "the keys that the prefix “\(prefix)” selects")
                try expect(listed.map(\.value), is: selected.map { expected[$0] ?? [] }, "their values")
            }
        }
    }

    /// Applies the contract's rule of a prefix, for a text without composed letters.
    private static func selects(_ prefix: String, _ key: String) -> Bool {
        prefix.isEmpty || key == prefix || key.hasPrefix(prefix.hasSuffix("/") ? prefix : prefix + "/")
    }

    static let nothingIsAnEmptyList = ConformanceCase("S4d", "a prefix without keys gives an empty list") { context in
        try await context.withGroup { group in
            let store = try await group.open()
            try expect(try await store.list().entries, is: [], "the list of a new group")
            try expect(try await store.list("a/b").entries, is: [], "the list of a path in a new group")
            try await store.put("a/bc", [1])
            try expect(try await store.list("a/b").entries, is: [], "the list of a path that only begins alike")
            try expect(try await store.list("a/b/").entries, is: [], "the list of what lies under it")
            try expect(try await store.list("a/bc").entries.map(\.key), is: ["a/bc"], "the list of the key itself")
            try expect(try await store.list("a/bc/").entries, is: [], "the list of what lies under the key")
            try await store.delete("a/bc")
            try expect(try await store.list().entries, is: [], "the list when all is deleted")
        }
    }

    static let historiesAreLinearizable = ConformanceCase(
        "S4e", "reads, writes, deletions and exchanges of one key by 8 handles can be put into one order (S6)",
        promises: [.linearizableReads]
    ) { context in
        var random = context.random()
        for _ in 0..<3 {
            try await context.withGroup { group in
                let handles = try await group.open(count: 8)
                let recorder = HistoryRecorder(of: "register")
                var checker = LinearizabilityChecker()
                for window in 0..<60 {
                    let generators = handles.map { _ in random.split() }
                    let calls = try await together(8) { number in
                        var random = generators[number]
                        var known: Entry?
                        var calls: [RegisterOperation] = []
                        for _ in 0..<6 {
                            calls.append(try await recorder.call(handles[number], known: &known, using: &random))
                        }
                        return calls
                    }
                    let history = calls.flatMap { $0 }.sorted { $0.began < $1.began }
                    guard checker.check(history) else {
                        for call in history { context.note("\(call)") }
                        return try expect(false, "window \(window) of the history is linearizable")
                    }
                }
            }
        }
    }
}
