internal import Testing

@Suite("Wrong usage")
struct UsageTests {
    @Test(
        "Wrong usage ends with status 64 and says what is wrong",
        arguments: [
            ["stoer"], ["store", "get"], ["store", "get", "a", "b"], ["store", "get", "a", "--bogus"],
            ["store", "put", "a", "b", "--if-absent", "--if-revision", "1"],
            ["store", "put", "a", "b", "--ttl", "soon"],
            ["store", "watch", "--count", "0"], ["notify", "post", "a", "--state", "-1"],
            ["notify", "observe", "a", "--count", "0"], ["--log-level", "loud", "config", "show"],
        ])
    func usage(arguments: [String]) async throws {
        let ended = try await HostProgram().run(arguments)
        #expect(ended.status == 64)
        #expect(ended.output.isEmpty)
        #expect(ended.errors.hasPrefix("Error: "))
    }

    @Test(
        "A command's misspelt name is answered with the one that is near, a wrong duration with what is one",
        arguments: [
            (["stauts"], "did you mean “status”?"), (["--group", "a", "stoer", "get", "k"], "did you mean “store”?"),
            (["store", "gte", "k"], "did you mean “get”?"),
            (["store", "put", "a", "b", "--ttl", "5d"], "250ms, 1.5s, 2m or 1h"),
            (["notify", "observe", "a", "--timeout", "0"], "longer than zero"),
        ])
    func spelling(arguments: [String], advice: String) async throws {
        let ended = try await HostProgram().run(arguments)
        #expect(ended.status == 64)
        #expect(ended.errors.contains(advice), "\(ended.errors)")
    }

    @Test("Help and version are no errors", arguments: [["--help"], ["--version"], ["store", "put", "--help"]])
    func help(arguments: [String]) async throws {
        let ended = try await HostProgram().run(arguments)
        #expect(ended.status == 0)
        #expect(!ended.output.isEmpty && ended.errors.isEmpty)
    }
}
