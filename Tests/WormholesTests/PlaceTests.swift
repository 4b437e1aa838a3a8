import CoreAPI
import CoreAPITesting
import Mailboxes
internal import TestSupport
import Testing
import WormholeFormat

@testable import Wormholes

@Suite("The keys of mailboxes: hostile names never leave the wormhole's directory (S2, M5)")
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

    @Test("Every key is below the root of the mailboxes, and short enough", arguments: [nil] + hostile)
    func inside(directory: String?) throws {
        for name in Self.hostile {
            for key in try Self.keys(directory, name) { Self.expectInside(key) }
        }
    }

    @Test("Different names have no key in common, with any characters")
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

    @Test("Random names stay below the root; only equal bytes give equal paths", arguments: Seed.several(4))
    func random(seed: Seed) throws {
        var random = SeededRandom(seed)
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

@Suite("Replies: a hostile request makes no process write elsewhere (M6, E2)")
struct ReplyPlaceTests {
    private static let victim = "settings"
    private static let replies = ".sharedcore/mailboxes/%main/replies/"

    @Test(
        "A reply is written below the replies' place or not at all",
        arguments: [
            victim, "", "/", "..", ".sharedcore", ".sharedcore/owner", ".sharedcore/mailboxes/%main/latest/x/value",
            ".sharedcore/mailboxes/%main/repliesX", ".sharedcore/mailboxes/other/replies/1",
            ".sharedcore/mailboxes/%main/replies", ".sharedcore/mailboxes/%main/Replies/1", " " + replies + "1",
            replies + String(repeating: "x", count: 1_000),
        ])
    func elsewhere(place: String) async throws {
        let fixture = WormholeFixture()
        let (hostile, desk) = try await (fixture.wormhole(), fixture.wormhole())
        try await desk.group.put(try Key(Self.victim), [1])
        let before = try await desk.group.list().entries
        try await Self.answer(askedBy: hostile, replyTo: place, at: desk)
        // The request is dealt with, nothing is left, and nothing has changed.
        #expect(try await desk.group.list().entries == before)
    }

    @Test("A reply to a place where replies belong is written there")
    func inside() async throws {
        let fixture = WormholeFixture()
        let (hostile, desk) = try await (fixture.wormhole(), fixture.wormhole())
        try await Self.answer(askedBy: hostile, replyTo: Self.replies + "mine", at: desk)
        #expect(try await desk.group.list().entries.map(\.key.text) == [Self.replies + "mine"])
    }

    /// Puts a request with a place of its own choice into the queue of requests, and has it answered.
    private static func answer(askedBy hostile: Wormhole, replyTo place: String, at desk: Wormhole) async throws {
        let id = RequestID<Int, Int>("double")
        let requests = try await desk.requests(of: id)
        let envelope = Envelope(codec: "json", schema: 1, replyTo: place, content: .message(Array("21".utf8)))
        let queue = try QueueMailbox(hostile.group, path: hostile.root.path(of: .requests, "double"))
        try await queue.send(envelope.bytes)
        let request = try await withTimeout(TestTimeout.usual, "the request") {
            var iterator = requests.makeAsyncIterator()
            return try await iterator.next()
        }
        guard case .acknowledged = try await request?.reply(42) else {
            Issue.record("the request is answered")
            return
        }
    }
}
