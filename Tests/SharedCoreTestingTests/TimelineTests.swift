import Coordination
import CoreAPI
import SharedCoreTesting
import Testing

@Suite("Expectations of a timeline")
struct TimelineTests {
    private let group = SimulatedGroup()

    private func timelineEvent() async throws -> RecordedTimeline {
        let app = try await group.main("app")
        try await app.start()
        try await app.stop()
        return try await group.timeline()
    }

    @Test("Entries are expected in their order, with others between them")
    func order() async throws {
        let timeline = try await timelineEvent()
        try timeline.expect(("app", .acquired), ("app", .released))
        try timeline.expect(("app", .acquired), ("app", .coreStarted), ("app", .coreStopped), ("app", .released))
    }

    @Test("A missing entry is reported, with the entries before it and the whole timeline")
    func missing() async throws {
        let timeline = try await timelineEvent()
        let wrongOrder = #expect(throws: TimelineMismatch.self) {
            try timeline.expect(("app", .released), ("app", .acquired))
        }
        #expect(wrongOrder?.problem == "“app” acquired is missing after “app” released")
        #expect(wrongOrder?.description.contains("released the core") == true)
        #expect(throws: TimelineMismatch.self) { try timeline.expect(("app", .acquired), ("app", .acquired)) }
        #expect(throws: TimelineMismatch.self) { try timeline.expect(("push", .acquired)) }
        #expect(throws: TimelineMismatch.self) { try timeline.expect(("app", .killed)) }
    }

    @Test("An unexpected entry is named in the error")
    func unwanted() async throws {
        let timeline = try await timelineEvent()
        try timeline.expectNone(of: .killed, .overlap)
        #expect(throws: TimelineMismatch.self) { try timeline.expectNone(of: .killed, .released) }
    }

    @Test("expectNone fails if entries were dropped, since they may have been of the kind")
    func dropped() async throws {
        let group = SimulatedGroup(options: CoordinationOptions(timelineCapacity: 8))
        for _ in 0..<10 {
            let app = try await group.main("app")
            try await app.start()
            try await app.stop()
        }
        try await group.runUntilIdle()
        let mismatch = try await #require(throws: TimelineMismatch.self) {
            try await group.timeline().expectNone(of: .killed)
        }
        #expect(mismatch.problem.contains("dropped"))
    }

    @Test("C1, C15: a broken rule and two cores at once are told")
    func rules() async throws {
        try await timelineEvent().expectRulesHold()
        // A Main with a session that ends while its core goes on in a living process.
        let script = CoreScript()
        script.hang(at: .stop)
        let app = try await group.main("app", script: script)
        try await app.start()
        await app.process.group.close()
        let next = try await group.main("next")
        try await next.start()
        try await group.advance(by: .seconds(60))
        let timeline = try await group.timeline()
        let mismatch = #expect(throws: TimelineMismatch.self) { try timeline.expectRulesHold() }
        #expect(mismatch?.problem.contains("overlaps seen by a witness: 1") == true)
    }

    @Test("The timeline is there after all processes have ended")
    func everybodyGone() async throws {
        do {
            let app = try await group.main("app")
            try await app.start()
            try await app.stop()
            await app.process.group.close()
        }
        try await group.timeline().expect(("app", .acquired), ("app", .released))
    }

    @Test("Nothing is told as nothing")
    func empty() async throws {
        #expect(try await group.timeline().description == "Nothing happened to the ownership.")
    }
}
