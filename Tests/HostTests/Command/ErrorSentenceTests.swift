internal import CoreAPI
internal import ProgramOutput
internal import Testing

@Suite("What people and shells are told of an error of a group (contract E1)")
struct ErrorSentenceTests {
    private func sentence(_ message: String, at place: String, cause: String? = nil, behind lead: String = "") -> String
    {
        SharedCoreError(.unavailable, message, at: place, cause: cause).sentence(behind: lead)
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

    @Test("What is beyond a limit has one status for every kind of write")
    func limits() async throws {
        #expect(ExitStatus(.limitExceeded) == .unavailable && ExitStatus(.invalidArgument) == .usage)
    }
}
