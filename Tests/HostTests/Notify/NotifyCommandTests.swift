internal import Testing

@Suite("The notify commands")
struct NotifyCommandTests {
    @Test("A post wakes an observer in another process, with the fields that scripts rely on (contract N4)")
    func wake() async throws {
        let program = try HostProgram()
        let ended = try await program.running(
            "notify", "observe", "news", "--count", "1", "--timeout", "200s", "--json", "--log-level", "info"
        ) {
            try await $0.untilErrors(contain: "observing")
            let posted = try await program.run("notify", "post", "news", "--state", "18446744073709551615", "--json")
            #expect(try Set(posted.objects().first?.keys ?? [:].keys) == ["name", "revision"])
        }
        #expect(ended.status == 0)
        let line = try #require(try ended.objects().first)
        #expect(Set(line.keys) == ["name", "state", "count", "revision", "origin"])
        #expect(line["name"] == .text("news") && line["state"] == .number(.max) && line["count"] == .number(1))
        guard case .text(let origin) = line["origin"] else {
            Issue.record("the origin is the session's id as text: \(line)")
            return
        }
        #expect(UInt64(origin) != nil)
    }

    @Test("A count of one is followed by the singular, other counts by the plural")
    func plurals() async throws {
        let program = try HostProgram()
        let ended = try await program.running("notify", "observe", "n", "--count", "1", "--log-level", "info") {
            try await $0.untilErrors(contain: "observing")
            _ = try await program.run("post", "n")
        }
        #expect(ended.output.contains("\t1 post\t"), "\(ended.output)")
        let never = try await program.run("notify", "observe", "never", "--timeout", "100ms")
        #expect(never.status == 1 && never.errors.contains("timed out after 0 posts"), "\(never.errors)")
        for cleared in ["1 mailbox cleared\n", "2 mailboxes cleared\n"] {
            for id in ["a", "b"].prefix(cleared.hasPrefix("1") ? 1 : 2) {
                _ = try await program.run("mailbox", "send", id, "1")
            }
            #expect(try await program.run("mailbox", "clear-all").output == cleared)
        }
    }

    @Test("Posts that come together are counted, and the numbers add up (contract N3)")
    func counts() async throws {
        let program = try HostProgram()
        let ended = try await program.running(
            "notify", "observe", "news", "--count", "5", "--timeout", "200s", "--json", "--log-level", "info"
        ) {
            try await $0.untilErrors(contain: "observing")
            for state in 1...5 { _ = try await program.run("notify", "post", "news", "--state", "\(state)") }
        }
        #expect(ended.status == 0)
        let counts = try ended.objects().map { line -> UInt64 in
            if case .number(let count) = line["count"] { count } else { 0 }
        }
        #expect(counts.reduce(0, +) == 5)
        #expect(try ended.objects().last?["state"] == .number(5))
    }

    @Test("No observer is required; the state is there afterwards (contract N1, N5)")
    func state() async throws {
        let program = try HostProgram()
        _ = try await program.run("notify", "post", "other")
        let never = try await program.run("notify", "state", "news", "--json")
        #expect(
            try never.objects() == [
                [
                    "name": .text("news"), "state": .number(0), "count": .number(0), "revision": .number(0),
                    "origin": .null,
                ]
            ])
        _ = try await program.run("notify", "post", "news", "--state", "7")
        _ = try await program.run("notify", "post", "news")
        let state = try #require(try await program.run("notify", "state", "news", "--json").objects().first)
        #expect(state["state"] == .number(7) && state["count"] == .number(2))
    }

    @Test("An observer that waits in vain is told by status 1")
    func timeout() async throws {
        let ended = try await HostProgram().run("notify", "observe", "news", "--timeout", "100ms", "--json")
        #expect(ended.status == 1 && ended.output.isEmpty)
        #expect(ended.errors.contains("timed out"))
    }
}
