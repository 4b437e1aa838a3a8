internal import CoreAPI

/// S1, S2, S9: a get returns the bytes of the put.
enum ValueCases {
    static let all = [entriesAreComplete, emptyIsNotAbsent, valuesAreBytes, valuesAreNotText, hostileKeys]
    static let torn = [notTorn]

    static let entriesAreComplete = ConformanceCase(
        "S1a", "an absent key is nil; a present one has its bytes, revisions, lifetime and origin"
    ) { context in
        try await context.withGroup { group in
            let first = try await group.open()
            let second = try await group.open()
            try expect(try await first.get("k"), is: nil, "an absent key")

            let created = try await first.put("k", [1, 2, 3])
            try expect(created.changed, "a put has changed something")
            let written = Entry(
                key: "k", value: [1, 2, 3], revision: created.revision, creationRevision: created.revision,
                lifetime: .persistent, origin: first.session.id)
            try expect(try await first.get("k"), is: written, "the entry for its writer")
            try expect(try await second.get("k"), is: written, "the entry for another handle")

            let replaced = try await second.put("k", [4], lifetime: .session)
            try expect(replaced.revision > created.revision, "a replacement has a higher revision")
            let rewritten = Entry(
                key: "k", value: [4], revision: replaced.revision, creationRevision: created.revision,
                lifetime: .session, origin: second.session.id)
            try expect(try await first.get("k"), is: rewritten, "the replaced entry")
            try expect(try await second.list().entries, is: [rewritten], "the list of it")
        }
    }

    static let emptyIsNotAbsent = ConformanceCase(
        "S1b", "an empty value, an absent key and a deleted key are three different things"
    ) { context in
        try await context.withGroup { group in
            let store = try await group.open()
            let recorder = try await WatchRecorder(store)
            try await store.put("empty", [])
            try await store.put("gone", [])
            let last = try await store.delete("gone")

            try expect(try await store.get("empty")?.value, is: [], "an empty value")
            try expect(try await store.get("gone"), is: nil, "a deleted key")
            try expect(try await store.get("never"), is: nil, "a key that never was")
            try expect(try await store.list().entries.map(\.key), is: ["empty"], "the listed keys")

            try await recorder.reaches(last.revision)
            let gone = recorder.mirror.changes.filter { $0.key == "gone" }
            try expect(gone.map(\.kind), is: [.put, .deleted], "what a watch saw of the deleted key")
            try expect(!recorder.mirror.changes.contains { $0.key == "never" }, "nothing was seen of the absent key")
            try expect(recorder.mirror.breaches, is: [], "breaches of the watch's order")
        }
    }

    static let valuesAreBytes = ConformanceCase("S2a", "values are any bytes, of every size up to the limit") {
        context in
        try await context.withGroup { group in
            let store = try await group.open()
            let reader = try await group.open()
            let limit = store.capabilities.limits.valueByteCount
            let sizes = [0, 1, 2, 255, 256, 4095, 4096, 4097, 65_535, 65_536, limit - 1, limit].filter { $0 <= limit }
            for size in sizes {
                var random = SeededRandom(seed: UInt64(size))
                let value = random.bytes(size)
                try await store.put("value", value)
                try expect(try await store.get("value")?.value == value, "\(size) bytes come back to their writer")
                try expect(try await reader.get("value")?.value == value, "\(size) bytes come to another handle")
            }
            let newcomer = try await group.open()
            let listed = try await newcomer.list("value").entries.first?.value.count
            try expect(listed, is: sizes.last, "the size for a newcomer")
        }
    }

    static let valuesAreNotText = ConformanceCase(
        "S2b", "bytes that are no valid text, and bytes that look like an end of text, are returned unchanged"
    ) { context in
        try await context.withGroup { group in
            let store = try await group.open()
            let values: [[UInt8]] = [
                Array(0...255), [0], [0, 0, 0], [0xff, 0xfe, 0xc0, 0x80], Array("\r\n\r\n".utf8), [0x80],
                [0xed, 0xa0, 0x80],
            ]
            for (number, value) in values.enumerated() {
                let key = try Key("value \(number)")
                try await store.put(key, value)
                try expect(try await store.get(key)?.value, is: value, "value \(number)")
            }
        }
    }

    static let hostileKeys = ConformanceCase(
        "S2c", "hostile keys are ordinary keys: none collides with another or names a place outside of the store"
    ) { context in
        try await context.withGroup { group in
            let store = try await group.open()
            let keys = try HostileKeys.all.map { try Key($0) }
            for (number, key) in keys.enumerated() {
                try await store.put(key, Array("\(number)".utf8), if: .absent(key))
            }
            let other = try await group.open()
            for (number, key) in keys.enumerated() {
                let value = try await other.get(key)?.value
                try expect(value, is: Array("\(number)".utf8), "the value under key \(number), \(key)")
            }
            try expect(try await other.list().entries.map(\.key), is: keys.sorted(), "the listed keys")
            for (number, key) in keys.enumerated() where number.isMultiple(of: 2) { try await store.delete(key) }
            for (number, key) in keys.enumerated() {
                let isThere = try await other.get(key) != nil
                try expect(isThere, is: !number.isMultiple(of: 2), "whether key \(number), \(key), stands")
            }
            try expect(try await other.list().entries.count, is: keys.count / 2, "the number of keys that are left")
        }
    }

    static let notTorn = ConformanceCase("S9a", "values under concurrent writes are never torn") { context in
        try await context.withGroup { group in
            let handles = try await group.open(count: 6)
            let keys: [Key] = ["torn/a", "torn/b", "torn/c"]
            let recorder = try await WatchRecorder(group.open(), of: ["torn"], keepsChanges: false)
            let writing = Box(4)
            let seed = context.seed.rawValue
            _ = try await together(6) { number in
                let store = handles[number]
                var random = SeededRandom(seed: seed &+ UInt64(number))
                if number < 4 {
                    defer { writing.update { $0 -= 1 } }
                    for _ in 0..<150 {
                        let size =
                            random.once(in: 8)
                            ? Int.random(in: 8...60_000, using: &random) : Int.random(in: 8...600, using: &random)
                        let key = keys[Int.random(in: 0..<3, using: &random)]
                        try await store.put(key, Checksummed.value(of: size, from: &random))
                    }
                } else {
                    while writing.value > 0 {
                        await Task.yield()
                        for entry in try await store.list("torn").entries { try Checksummed.verify(entry) }
                        for key in keys { if let entry = try await store.get(key) { try Checksummed.verify(entry) } }
                    }
                }
            }
            try await recorder.reaches(try await handles[0].list("torn").entries.map(\.revision).max() ?? .zero)
            for entry in recorder.mirror.entries.values { try Checksummed.verify(entry) }
            try expect(recorder.mirror.breaches, is: [], "breaches of the watch's order")
        }
    }
}
