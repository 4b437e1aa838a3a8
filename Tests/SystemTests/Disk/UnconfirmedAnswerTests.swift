internal import Coordination
internal import CoreAPI
internal import CoreAPITesting
internal import FileNotifyBackend
internal import Platform
internal import TestSupport
internal import Testing

/// A call that ends without a message lets its caller tell the sender that the message was shown, or that there is nothing to
/// show. It may have read another process's write, which is not on the disk yet.
@Suite("Nothing to show, and a disk that does not confirm it", .timeLimit(.minutes(10)))
struct UnconfirmedAnswerTests {
    /// The mark that ends a wait without a message.
    enum Mark: String, CaseIterable, CustomTestStringConvertible {
        case nothingToShow, acknowledged

        var testDescription: String { rawValue }

        /// Leaves it, as a core or an Executor in another process does.
        func leave(for text: String, in inbox: Inbox) async throws {
            let callID = try #require(CallID(text))
            let content: InboxMessage.Content =
                self == .nothingToShow ? .nothingToShow : .text(from: "ann", to: "bob", text: "hello")
            try await inbox.store(InboxMessage(callID: callID, content: content))
            guard self == .acknowledged else { return }
            guard case .taken(let taken) = try await inbox.take(callID) else {
                Issue.record("the message cannot be taken")
                return
            }
            try await inbox.acknowledge(taken)
        }
    }

    /// A group of this process, which does not wait for the disk, and an Executor in another process, which does and has
    /// got an answer before.
    private func join(_ mark: Mark, in directory: TemporaryDirectory) async throws -> (FileGroup, Peer) {
        let path = directory.path(of: "group")
        let group = try await FileGroup.open(directory: path)
        let executor = try Peer(PeerProgram(path: try ChildProcess.built("sharedcore-test-peer")))
        _ = try await executor.answer()
        try await executor.tell("play executor asks \(directory.path) none \(path) disk")
        try await mark.leave(for: "call-0", in: Inbox(group))
        #expect(try await ask(executor, "call-0") == "nothing inbox")
        return (group, executor)
    }

    private func ask(_ executor: Peer, _ callID: String, milliseconds: Int = 120_000) async throws -> String {
        try await executor.tell("player ask 1 \(callID) \(milliseconds)")
        return try await executor.tell("player answer 1", timeout: TestTimeout.long)
    }

    @Test(
        "C7, C10, C11, S10: while syncs fail, a call ends at its deadline; “nothing to show” waits for the disk",
        arguments: Mark.allCases)
    func failedSync(_ mark: Mark) async throws {
        let directory = try TemporaryDirectory()
        let (group, executor) = try await join(mark, in: directory)
        try await executor.tell("arm fdatasync/journal-:fail*")
        try await mark.leave(for: "call-1", in: Inbox(group))
        for _ in 1...3 { #expect(try await ask(executor, "call-1", milliseconds: 1_000) == "failed timeout") }

        try await executor.tell("arm none:fail")
        try await eventually("the disk has confirmed it") {
            let answer = try await ask(executor, "call-1", milliseconds: 1_000)
            #expect(["failed timeout", "nothing inbox"].contains(answer))
            return answer == "nothing inbox"
        }
        await group.close()
    }

    @Test(
        "C7, C10, C11, S10: while a sync takes long, a call ends at its deadline and not with “nothing to show”",
        arguments: Mark.allCases)
    func heldSync(_ mark: Mark) async throws {
        let directory = try TemporaryDirectory()
        let (group, executor) = try await join(mark, in: directory)
        // Longer than the test lasts.
        try await executor.tell("arm fdatasync/journal-:wait=1200000*")
        try await mark.leave(for: "call-1", in: Inbox(group))
        #expect(try await ask(executor, "call-1", milliseconds: 1_000) == "failed timeout")
        await executor.killNow()
        await group.close()
    }
}
