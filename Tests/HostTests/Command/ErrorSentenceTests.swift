internal import Coordination
internal import CoreAPI
internal import ProgramOutput
internal import Testing
internal import Wormholes

@testable internal import SharedCoreHost

@Suite("Messages and exit statuses for errors of a group (contract E1)")
struct ErrorSentenceTests {
    private func sentence(_ message: String, at place: String, cause: String? = nil, behind lead: String = "") -> String
    {
        SharedCoreError(.unavailable, message, at: place, cause: cause).text(behind: lead)
    }

    @Test("The place stands in a sentence once")
    func place() {
        #expect(sentence("It is full.", at: "/a/b", cause: "write: no space") == "It is full. (write: no space) [/a/b]")
        #expect(sentence("The directory /a/b is full.", at: "/a/b") == "The directory /a/b is full.")
        #expect(sentence("It is full.", at: "/a/b", behind: "dir is “/a/b”: ") == "dir is “/a/b”: It is full.")
        #expect(sentence("Guard 0 on the key “a” does not hold.", at: "a") == "Guard 0 on the key “a” does not hold.")
        // A word that has the letters of a place is not the place.
        #expect(sentence("A value is too large.", at: "a") == "A value is too large. [a]")
    }

    @Test("A message of an error ends with the code by which the page of error codes lists it")
    func code() {
        let full = SharedCoreError(.storageFull, "There is no space left.", at: "/a/b", cause: "ENOSPC")
        #expect(full.sentence == "There is no space left. (ENOSPC) [/a/b] (code storageFull)")
        #expect(full.sentence(behind: "hub: ") == "hub: There is no space left. (ENOSPC) [/a/b] (code storageFull)")
        #expect(full.text() == "There is no space left. (ENOSPC) [/a/b]")
        // A message of a hub that could not start has its code already.
        let repeated = SharedCoreError(.forbidden, "The hub could not be started: no (code forbidden)", at: "hub")
        #expect(repeated.sentence == "The hub could not be started: no (code forbidden) [hub]")
    }

    @Test("Each error of a command has its code, and its exit status (contract E1)")
    func commands() {
        let timeout = CommandFailure(CoordinationError(.timeout, "No message “x” came before the deadline."))
        #expect(timeout == CommandFailure(.no, "No message “x” came before the deadline. (code timeout)"))
        let failed = CommandFailure(CoordinationError(.coreFailed, "its core failed: notFound: “a” was not found"))
        #expect(
            failed == CommandFailure(.coreFailed, "its core failed: notFound: “a” was not found (code coreFailed)"))
        let ended = SharedCoreError(.sessionEnded, "The session is over.", at: "session")
        let stored = CommandFailure(CoordinationError(.store, "The store failed.", cause: ended))
        #expect(stored == CommandFailure(.unavailable, "The session is over. [session] (code sessionEnded)"))
        let refused = CommandFailure(CoordinationError(.refused, "A Main owns."))
        #expect(refused.status == .no && refused.message?.hasSuffix(" either. (code refused)") == true)
        let reply = CommandFailure(WormholeError(.timeout, "No reply came."))
        #expect(reply == CommandFailure(.no, "No reply came. (code timeout)"))
    }

    @Test("Exceeding a limit has one status for every kind of write")
    func limits() async throws {
        #expect(ExitStatus(.limitExceeded) == .unavailable && ExitStatus(.invalidArgument) == .usage)
    }
}
