internal import CoreAPI
internal import CoreAPITesting
internal import TestSupport
internal import Testing

/// The mirror of the watch tests notices each breach that it is there for.
@Suite("W1 to W3: the mirror of a watch notices what breaks them")
struct WatchMirrorTests {
    private static let origin = SessionID(rawValue: 1)

    private static func entry(_ key: Key, _ value: UInt8, at revision: UInt64, created: UInt64? = nil) -> Entry {
        Entry(
            key: key, value: [value], revision: Revision(rawValue: revision),
            creationRevision: Revision(rawValue: created ?? revision), lifetime: .persistent, origin: origin)
    }

    private static func changes(_ revision: UInt64, _ changes: [Change]) -> WatchEvent {
        .changes(ChangeSet(revision: Revision(rawValue: revision), origin: origin, changes: changes))
    }

    private static func snapshot(_ revision: UInt64, _ entries: [Entry]) -> Snapshot {
        Snapshot(revision: Revision(rawValue: revision), entries: entries)
    }

    private static let first = entry("a", 1, at: 1)
    private static let second = entry("a", 2, at: 3, created: 1)
    private static let start = WatchEvent.snapshot(snapshot(2, [first]))

    @Test("A correct sequence has no breach, and the mirror is what stands")
    func correctSequence() {
        var mirror = WatchMirror()
        mirror.apply(Self.start)
        mirror.apply(Self.changes(3, [Change(key: "a", kind: .put, old: Self.first, new: Self.second)]))
        mirror.apply(Self.changes(5, [Change(key: "a", kind: .expired, old: Self.second, new: nil)]))
        mirror.apply(.lagged(Self.snapshot(9, [Self.entry("b", 1, at: 8)])))
        #expect(mirror.breaches == [])
        #expect(mirror.entries == ["b": Self.entry("b", 1, at: 8)])
        #expect(mirror.laggedCount == 1)
        #expect(mirror.changedRevisions.map(\.rawValue) == [3, 5])
    }

    @Test(
        "Each breach is noticed",
        arguments: [
            ("a repeat", [start, changes(2, [Change(key: "a", kind: .put, old: first, new: entry("a", 2, at: 2))])]),
            (
                "a hole",
                [start, changes(4, [Change(key: "a", kind: .put, old: second, new: entry("a", 4, at: 4, created: 1))])]
            ),
            (
                "a wrong creation",
                [start, changes(3, [Change(key: "a", kind: .put, old: first, new: entry("a", 2, at: 3, created: 2))])]
            ),
            ("an end of nothing", [start, changes(3, [Change(key: "z", kind: .deleted, old: nil, new: nil)])]),
            ("an older snapshot", [start, .lagged(snapshot(1, []))]),
            ("a second start", [start, start]),
            ("an empty set", [start, changes(3, [])]),
            (
                "a key twice",
                [
                    start,
                    changes(
                        3,
                        [
                            Change(key: "a", kind: .put, old: first, new: second),
                            Change(key: "a", kind: .put, old: second, new: second),
                        ]),
                ]
            ),
            ("a disorder", [.snapshot(snapshot(2, [entry("b", 1, at: 1), first]))]),
            ("an entry of the future", [.snapshot(snapshot(2, [entry("b", 1, at: 3)]))]),
        ] as [(String, [WatchEvent])])
    func breachesAreNoticed(what: String, events: [WatchEvent]) {
        var mirror = WatchMirror()
        for event in events { mirror.apply(event) }
        #expect(!mirror.breaches.isEmpty)
    }

    @Test("A change outside of the selection is noticed")
    func foreignKeysAreNoticed() {
        var mirror = WatchMirror(of: ["b"])
        mirror.apply(Self.start)
        #expect(!mirror.breaches.isEmpty)
    }
}
