import CoreAPI
import CoreAPITesting
import Mailboxes
import Testing

@testable import Wormholes

@Suite("Replies: a hostile request makes nobody write elsewhere (M6, E2)")
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
        let request = try await within(Patience.usual, "the request") {
            var iterator = requests.makeAsyncIterator()
            return try await iterator.next()
        }
        guard case .acknowledged = try await request?.reply(42) else {
            Issue.record("the request is answered")
            return
        }
    }
}
