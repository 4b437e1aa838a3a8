internal import CoreAPI
internal import CoreAPITesting
internal import FileNotifyBackend
internal import TestSupport
internal import Testing

@testable internal import Coordination

/// C20: the messages that wait in the inbox, as a command lists them.
@Suite("The command inbox")
struct InboxCommandTests {
    @Test("It lists what waits, a page at a time, for scripts and for people, and takes nothing")
    func pages() async throws {
        let program = try HostProgram()
        #expect(try await program.run("store", "put", "key", "value").status == 0)
        let group = try await FileGroup.open(
            directory: program.directory.path(of: "state/sharedcore/default"), as: SessionDescription(name: "stranger"))
        let inbox = try Inbox(group)
        for number in 1...3 {
            let callID = try #require(CallID("call\u{1B}"))
            let id = try #require(MessageID(callID, sequence: "\(number)"))
            var content = InboxMessage.Content.text(from: "ann", to: "bob", text: number == 3 ? "" : "line\n\(number)")
            content.kind = try #require(InboxMessage.Kind("poll"))
            content.body = [UInt8(number)]
            try await inbox.store(InboxMessage(id: id, content: content))
        }
        guard case .taken = try await inbox.take(#require(CallID("call\u{1B}"))) else {
            Issue.record("what is stored can be taken")
            return
        }
        let first = try await program.run("inbox", "--json", "--limit", "2").objects()
        #expect(first.map { $0["event"] } == [.text("message"), .text("message"), .text("more")])
        #expect(first[0]["takenBy"] == .text(group.session.id.description) && first[1]["takenBy"] == .null)
        #expect(first[1]["sequence"] == .text("2") && first[1]["text"] == .text("line\n2"))
        #expect(first[1]["kind"] == .text("poll") && first[1]["body"] == .text("Ag=="))
        let after = try #require(try await inbox.messages(limit: 2).next)
        let second = try await program.run("inbox", "--after", after.description, "--limit", "2")
        #expect(second.status == 0, "\(second.errors)")
        #expect(second.output.hasSuffix(": from ann: a message of the kind “poll”.\n"), "\(second.output)")
        #expect(!second.output.contains("\u{1B}"))
        #expect(try await program.run("inbox", "--limit", "0").status == 64)
        for (arguments, status) in [(["--sequence", "1"], 0), (["--sequence", "1"], 1), ([], 1)] as [([String], Int32)]
        {
            let shown = try await program.run(["inbox", "acknowledge", "call\u{1B}"] + arguments)
            #expect(shown.status == status, "\(shown.errors)")
        }
        #expect(try await program.run("inbox", "--json").objects().map { $0["sequence"] } == [.text("2"), .text("3")])
        #expect(try await program.run("inbox", "acknowledge", "call", "--sequence", "é").status == 64)
        await group.close()
    }
}
