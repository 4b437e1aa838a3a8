internal import CoreAPI
internal import TestSupport
internal import Testing

@Suite("S1, S2: what you put is what you get", .timeLimit(.minutes(10)))
struct ValueTests {
    @Test(
        "S1: an absent key is nil; a present one has its bytes, revisions, lifetime and origin", arguments: Backend.all)
    func entriesAreComplete(backend: Backend) async throws {
        try await backend.withGroup { group in
            let first = try await group.open()
            let second = try await group.open()
            #expect(try await first.get("k") == nil)

            let created = try await first.put("k", [1, 2, 3])
            #expect(created.changed)
            let written = Entry(
                key: "k", value: [1, 2, 3], revision: created.revision, creationRevision: created.revision,
                lifetime: .persistent, origin: first.session.id)
            #expect(try await first.get("k") == written)
            #expect(try await second.get("k") == written)

            let replaced = try await second.put("k", [4], lifetime: .session)
            #expect(replaced.revision > created.revision)
            let rewritten = Entry(
                key: "k", value: [4], revision: replaced.revision, creationRevision: created.revision,
                lifetime: .session, origin: second.session.id)
            #expect(try await first.get("k") == rewritten)
            #expect(try await second.list().entries == [rewritten])
        }
    }

    @Test("S1: an empty value, an absent key and a deleted key are three different things", arguments: Backend.all)
    func emptyIsNotAbsent(backend: Backend) async throws {
        try await backend.withGroup { group in
            let store = try await group.open()
            let recorder = try await WatchRecorder(store)
            try await store.put("empty", [])
            try await store.put("gone", [])
            let last = try await store.delete("gone")

            #expect(try await store.get("empty")?.value == [])
            #expect(try await store.get("gone") == nil)
            #expect(try await store.get("never") == nil)
            #expect(try await store.list().entries.map(\.key) == ["empty"])

            try await recorder.reaches(last.revision)
            #expect(recorder.mirror.changes.filter { $0.key == "gone" }.map(\.kind) == [.put, .deleted])
            #expect(recorder.mirror.changes.contains { $0.key == "never" } == false)
            #expect(recorder.mirror.breaches == [])
        }
    }

    @Test(
        "S2: values are any bytes, of every size up to the limit", arguments: Backend.all,
        [0, 1, 2, 255, 256, 4095, 4096, 4097, 65_535, 65_536, 1_000_003, 1 << 20])
    func valuesAreBytes(backend: Backend, count: Int) async throws {
        try await backend.withGroup { group in
            let store = try await group.open()
            let reader = try await group.open()
            var random = SplitMix64(seed: UInt64(count))
            let value = random.bytes(count)
            try await store.put("value", value)
            #expect(try await store.get("value")?.value == value)
            #expect(try await reader.get("value")?.value == value)
            #expect(try await group.open().list("value").entries.first?.value == value)
        }
    }

    @Test("S2: bytes that are no text, and bytes that look like an end, come back", arguments: Backend.all)
    func valuesAreNotText(backend: Backend) async throws {
        try await backend.withGroup { group in
            let store = try await group.open()
            let values: [[UInt8]] = [
                Array(0...255), [0], [0, 0, 0], [0xff, 0xfe, 0xc0, 0x80], Array("\r\n\r\n".utf8), [0x80],
                [0xed, 0xa0, 0x80],
            ]
            for (number, value) in values.enumerated() {
                let key = try Key("value \(number)")
                try await store.put(key, value)
                #expect(try await store.get(key)?.value == value)
            }
        }
    }

    @Test("S2: hostile keys neither collide nor leave the store", arguments: Backend.all)
    func hostileKeysAreJustKeys(backend: Backend) async throws {
        try await backend.withGroup { group in
            let store = try await group.open()
            let keys = try HostileKeys.all.map { try Key($0) }
            #expect(Set(keys).count == keys.count)
            for (number, key) in keys.enumerated() {
                try await store.put(key, Array("\(number)".utf8), if: .absent(key))
            }
            let other = try await group.open()
            for (number, key) in keys.enumerated() {
                #expect(try await other.get(key)?.value == Array("\(number)".utf8), "key \(number): \(key)")
            }
            let listed = try await other.list().entries
            #expect(listed.map(\.key) == keys.sorted())
            for (number, key) in keys.enumerated() where number.isMultiple(of: 2) { try await store.delete(key) }
            for (number, key) in keys.enumerated() {
                #expect(try await other.get(key) == nil || !number.isMultiple(of: 2), "key \(number): \(key)")
            }
            #expect(try await other.list().entries.count == keys.count / 2)
        }
    }

    @Test("S9: values under concurrent writes are never torn", arguments: Backend.all, Seed.several(2))
    func valuesAreNotTorn(backend: Backend, seed: Seed) async throws {
        try await backend.withGroup { group in
            let handles = try await group.open(count: 6)
            let keys: [Key] = ["torn/a", "torn/b", "torn/c"]
            let recorder = try await WatchRecorder(group.open(), of: ["torn"], keepsChanges: false)
            let writing = Box(4)
            _ = try await together(6) { number in
                let store = handles[number]
                var random = SplitMix64(seed: seed.rawValue &+ UInt64(number))
                if number < 4 {
                    for _ in 0..<150 {
                        let size =
                            random.once(in: 8)
                            ? Int.random(in: 8...60_000, using: &random) : Int.random(in: 8...600, using: &random)
                        let key = keys[Int.random(in: 0..<3, using: &random)]
                        try await store.put(key, Checksummed.value(of: size, from: &random))
                    }
                    writing.update { $0 -= 1 }
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
            #expect(recorder.mirror.breaches == [])
        }
    }
}
