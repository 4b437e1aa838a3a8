internal import Coordination
internal import CoreAPI
internal import CoreAPITesting
internal import ExecutorRun
internal import FoundationEssentials
internal import InMemoryBackend
internal import Platform
internal import ProgramOutput
internal import TestSupport
internal import Testing

@Suite("One Executor from its push to its end")
struct ExecutorRunTests {
    private struct NobodySees: Error {}

    private let directory: TemporaryDirectory
    private let space = MemorySpace()
    private let callID: CallID

    init() throws {
        directory = try TemporaryDirectory()
        callID = try #require(CallID("1@x"))
        for folder in ["tmp", "new", "cur"] {
            try FileManager.default.createDirectory(
                atPath: directory.path(of: folder), withIntermediateDirectories: true)
        }
        let mail = "From: Zoe <zoe@example.org>\r\nTo: me@example.org\r\nMessage-ID: <1@x>\r\n\r\nHello\r\n"
        try OpenFile(path: directory.path(of: "new/1"), .createNew).write(Array(mail.utf8), at: 0)
    }

    private func run(_ show: (ExecutorReport) async throws -> Void) async throws -> ExecutorReport {
        let group = try await space.open("a", as: SessionDescription(role: .executor))
        var options = CoordinationOptions()
        options.coreLinger = .zero
        let request = ExecutorRequest(
            callID: callID, timeout: TestTimeout.long, maildir: directory.path, options: options)
        return try await ExecutorRun.run(request, in: group, show: show)
    }

    @Test("A shown message is acknowledged: the next Executor has nothing to show (contract C10)")
    func shown() async throws {
        // A handle keeps the group, which is in memory, while Executors come and go.
        let keeper = try await space.open("a")
        let first = try await run { #expect($0.text == "Hello") }
        #expect(first.event == .message && first.source == .core && first.coreStarts == 1)
        let second = try await run { #expect($0.text == nil) }
        #expect(second.event == .nothing)
        await keeper.close()
    }

    @Test("A message that could not be shown is given back: the next Executor gets it (contract C10)")
    func notShown() async throws {
        let keeper = try await space.open("a")
        await #expect(throws: NobodySees.self) { try await run { _ in throw NobodySees() } }
        let second = try await run { #expect($0.text == "Hello") }
        #expect(second.event == .message)
        await keeper.close()
    }

    @Test("C20: the line has what a message carries, the text in front of the body and behind all else")
    func details() async throws {
        let keeper = try await space.open("a")
        var content = InboxMessage.Content(
            kind: try #require(InboxMessage.Kind("poll")), sender: "zoe", recipient: "me", text: "Tea?",
            contentType: "a/b", body: [0, 255], account: "home", conversation: "kitchen",
            time: .milliseconds(-1_500), fields: ["b": "2", "a": "\n"])
        try await Inbox(keeper).store(InboxMessage(callID: callID, content: content))
        _ = try await run { report in
            let line = report.json.line
            #expect(
                line.hasSuffix(
                    #""kind":"poll","to":"me","account":"home","conversation":"kitchen","timeMs":-1500,"contentType":"a/b","#
                        + #""fields":{"a":"\n","b":"2"},"text":"Tea?","body":"AP8="}"#), "\(line)")
            #expect(report.event == .message)
        }
        // The latest that there is.
        content.time = .milliseconds(1 << 53)
        try await Inbox(keeper).store(
            InboxMessage(id: #require(MessageID(callID, sequence: "2")), content: content))
        _ = try await run { #expect($0.json.line.contains(#""sequence":"2""#)) }
        // The previous release shows the text of such a notice as it does for any kind that it does not know.
        content.kind = .tooLarge
        try await Inbox(keeper).store(
            InboxMessage(id: #require(MessageID(callID, sequence: "3")), content: content))
        _ = try await run { #expect($0.event == .tooLarge && $0.text == "Tea?") }
        await keeper.close()
    }

    @Test(
        "C22: a message that is updated while it is shown is asked for again: status 74, and the next one gets what it is now"
    )
    func updatedWhileShown() async throws {
        let keeper = try await space.open("a")
        let update = InboxMessage(callID: callID, content: .text(from: "Zoe", to: "me", text: "Good-bye"))
        let failure = await #expect(throws: ExecutorFailure.self) {
            try await run { report in
                #expect(report.text == "Hello")
                let change = try await Inbox(keeper).update(update)
                #expect(change == .changedInHand)
            }
        }
        #expect(failure?.status == .output)
        let second = try await run { #expect($0.text == "Good-bye") }
        #expect(second.event == .message)
        await keeper.close()
    }
}
