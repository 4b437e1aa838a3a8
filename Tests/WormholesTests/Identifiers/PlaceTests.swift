import CoreAPI
import CoreAPITesting
import Mailboxes
import Testing

@testable import Wormholes

@Suite("Where mailboxes stand: hostile names never leave their place (S2, M5)")
struct PlaceTests {
    private static let root = ".sharedcore/mailboxes/"
    private static let hostile = [
        "", "a", "a/b", "a%2Fb", "a%252Fb", "/", "//", "..", "../..", "../latest", "%main", "%", "main", "latest",
        "queue",
        "value", "cleared", "%cleared", "a/value", "\u{0}", "é", "e\u{301}", "😀", "%sends",
        String(repeating: "x", count: 72), String(repeating: "x", count: 73), String(repeating: "x", count: 140),
        String(repeating: "x", count: 141), String(repeating: "/", count: 3_000), String(repeating: "😀", count: 200),
    ]

    /// All keys and names that a mailbox and a queue may write.
    private static func keys(_ directory: String?, _ name: String) throws -> [String] {
        let root = WormholeRoot(directory: directory)
        let latest = try LatestPlace(path: root.path(of: .latest, name))
        let queue = try QueuePlace(path: root.path(of: .queue, name))
        let desk = try QueuePlace(path: root.path(of: .requests, name))
        let longest = ItemName(String(repeating: "x", count: ItemName.maximumByteCount))
        let reply = root.path(of: .replies) + ItemName.numbered(by: SessionID(rawValue: .max)).text
        return try [
            latest.value.text, latest.cleared.text, queue.cleared.text, queue.keys.sends.text,
            queue.keys.key(of: .message, for: longest).text, desk.keys.key(of: .take, for: longest).text,
            Key(reply).text, latest.announcement.text, queue.announcement.text,
        ]
    }

    /// A key of the right shape, below the root.
    private static func expectInside(_ key: String) {
        #expect(key.utf8.starts(with: root.utf8))
        #expect(key.utf8.count <= Key.maximumByteCount)
        let parts = key.split(separator: "/", omittingEmptySubsequences: false)
        // `.sharedcore`, `mailboxes`, the directory, the kind, the name, and at most an item and its part.
        #expect((5...7).contains(parts.count), "\(key)")
        #expect(!parts.contains { $0.isEmpty }, "\(key)")
    }

    @Test("Every key stands below the mailboxes' place, and is short enough", arguments: [nil] + hostile)
    func inside(directory: String?) throws {
        for name in Self.hostile {
            for key in try Self.keys(directory, name) { Self.expectInside(key) }
        }
    }

    @Test("Different names have no key in common, whatever is in them")
    func noCollision() throws {
        var owners: [String: [UInt8]] = [:]
        for directory in [nil] + Self.hostile {
            for name in Self.hostile {
                let owner = [directory == nil ? 0 : 1] + Array((directory ?? "").utf8) + [0xff] + Array(name.utf8)
                for key in try Self.keys(directory, name) where !key.contains("/replies/") {
                    #expect(owners[key, default: owner] == owner, "\(key)")
                    owners[key] = owner
                }
            }
        }
    }

    @Test("Random names: inside, and one place only when their bytes are equal", arguments: Seed.several(4))
    func random(seed: Seed) throws {
        var random = SplitMix64(seed)
        var names: [String: [UInt8]] = [:]
        for _ in 0..<3_000 {
            let directory = Bool.random(using: &random) ? String.any(using: &random, count: 0...60) : nil
            let name = String.any(using: &random, count: 0...4)
            for key in try Self.keys(directory, name) { Self.expectInside(key) }
            let path = WormholeRoot(directory: nil).path(of: .latest, name)
            let bytes = Array(name.utf8)
            #expect(names[path, default: bytes] == bytes)
            names[path] = bytes
        }
    }
}
