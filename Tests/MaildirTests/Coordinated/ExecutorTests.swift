internal import Coordination
internal import CoreAPI
internal import CoreAPITesting
internal import InMemoryBackend
internal import MaildirCore
internal import TestSupport
internal import Testing

@Suite("Executors get their messages from a Maildir")
struct ExecutorTests {
    private let maildir: TestMaildir
    private let space = MemorySpace()
    /// Keeps the group between the pushes. A group in memory is gone with its last handle, and with it the messages
    /// that one push's core has stored for another push and acknowledged to the Maildir.
    private let witness: any SharedStore

    init() async throws {
        maildir = try TestMaildir()
        try maildir.makeFolders()
        witness = try await space.open("maildir", as: SessionDescription(role: .tool))
    }

    /// One push: an Executor that waits for an identifier, takes the answer and serves the others to the end.
    private func push(_ id: String) async throws -> InboxMessage.Content {
        let group = try await space.open("maildir", as: SessionDescription(role: .executor, name: id))
        let executor = try ExecutorParticipant(of: group) { [path = maildir.path] in MaildirCore(directory: path) }
        let answer = try await executor.message(forCallID: try #require(CallID(id)), timeout: TestTimeout.usual)
        var content = InboxMessage.Content.nothingToShow
        if case .message(let taken) = answer.content {
            content = taken.message.content
            try await executor.acknowledge(taken)
        }
        await executor.finish()
        await executor.close()
        await group.close()
        return content
    }

    @Test("C8, C9: ten pushes whose messages come later, out of order, get theirs; each is acknowledged to the Maildir")
    func pushesBeforeMessages() async throws {
        let numbers = Array(0..<10)
        let pushes = numbers.map { number in Task { try await push("m\(number)") } }
        for number in numbers.reversed() {
            try maildir.deliver(id: "m\(number)", text: "text \(number)")
        }
        for (number, push) in zip(numbers, pushes) {
            let result = try await withTimeout(TestTimeout.long, "the push ends") { try await push.value }
            #expect(result == .text(from: "ann@example.org", to: "bob@example.org", text: "text \(number)"))
        }
        try await eventually("all are in cur") { maildir.names("cur").count == 10 }
        #expect(maildir.names("new").isEmpty)
    }

    @Test("C10: a message that was acknowledged and arrives again is answered at once and moved")
    func acknowledgedDuplicate() async throws {
        try maildir.deliver(id: "one", as: "1")
        _ = try await push("one")
        try maildir.deliver(id: "one", as: "2")
        try maildir.deliver(id: "two", as: "3")
        #expect(try await push("one") == .nothingToShow)
        #expect(try await push("two") != .nothingToShow)
        try await eventually("all are in cur") { maildir.names("cur") == ["1:2,S", "2:2,S", "3:2,S"] }
    }

    @Test("C11, C12: reports, invitations and what is set aside end their waits")
    func otherKinds() async throws {
        let head = "From: ann@example.org\nTo: bob@example.org\n"
        try maildir.deliver(head + "Call-ID: report\nX-SharedCore-Kind: nothing\n\n", as: "1")
        try maildir.deliver(
            head + "Call-ID: x\nSubject: Tea\nX-SharedCore-Kind: invitation\nX-SharedCore-Conference: sip:room@x\n\n",
            as: "2")
        try maildir.deliver(id: "large", text: String(repeating: "x", count: (1 << 20) - 10), as: "3")
        #expect(try await push("report") == .nothingToShow)
        #expect(
            try await push("sip:room@x")
                == .invitation(from: "ann@example.org", subject: "Tea", localAddress: "bob@example.org"))
        #expect(try await push("large") == .tooLarge(from: "ann@example.org", to: "bob@example.org"))
        #expect(maildir.names(".Oversized/new") == ["3"])
    }

    @Test("Identifiers of more bytes than a key takes are identifiers like any other")
    func longIdentifiers() async throws {
        for count in [511, 512, 513, 998] {
            let id = String(repeating: "i", count: count)
            try maildir.deliver(id: id, as: "\(count)")
            #expect(try await push(id) != .nothingToShow)
        }
    }
}
