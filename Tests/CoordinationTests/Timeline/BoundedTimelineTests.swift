import Coordination
import CoreAPI
import CoreAPITesting
import InMemoryBackend
import TestSupport
import Testing

/// The timeline keeps to its capacity with any writers, for any length of time.
struct BoundedTimelineTests {
    private func entryCount(in world: World) async throws -> Int {
        try await Timeline(world.observer()).history().records.count
    }

    private var options: CoordinationOptions {
        var options = CoordinationOptions.patient
        options.timelineCapacity = 32
        return options
    }

    @Test("C15: what a core reports while it runs for weeks")
    func problems() async throws {
        let world = World(options: options)
        let contexts = Box<[CoreContext]>([])
        var script = ScriptedCore.Script()
        script.onStart = { context in contexts.update { $0.append(context) } }
        let main = try await world.main(script: script)
        try await main.participant.start()
        let context = try #require(contexts.value.first)

        for number in 1...200 { await context.report("problem \(number)") }

        try await eventually("the oldest are dropped") { try await entryCount(in: world) <= 48 }
        let (report, entries) = try await world.report()
        #expect(report.isClean, "\(report.violations)")
        #expect(entries.contains { $0.reason == "problem 200" })
        await main.participant.stop()
    }

    @Test(
        "C15: a checkpoint whose counts leave no room for more cannot be read, and is replaced", arguments: [0, 1, 2])
    func hostileCheckpoint(_ field: Int) async throws {
        let world = World(options: options)
        let observer = try await world.observer()
        var writer = ByteWriter()
        writer.byte(2)
        writer.integer(1)
        writer.integer(field == 0 ? UInt64.max : 0)
        // No owner, no last epoch, and no cores, epochs, sessions, requests and challenges.
        for _ in 0..<7 { writer.byte(0) }
        for other in 1...2 { writer.integer(field == other ? UInt64(Int.max) : 0) }
        _ = try await observer.put(Timeline.checkpointKey, writer.bytes)
        let history = try await Timeline(observer).history()
        #expect(history.checkpoint == nil && history.damages.count == 1)
        let contexts = Box<[CoreContext]>([])
        var script = ScriptedCore.Script()
        script.onStart = { context in contexts.update { $0.append(context) } }
        let main = try await world.main(script: script)
        try await main.participant.start()
        let context = try #require(contexts.value.first)
        for number in 1...40 { await context.report("problem \(number)") }
        try await eventually("the oldest are dropped") {
            try await Timeline(observer).history().checkpoint?.droppedCount ?? 0 > 0
        }
        await main.participant.stop()
    }

    @Test("C15: cores that never start")
    func failures() async throws {
        let world = World(options: options)
        var script = ScriptedCore.Script()
        script.failure = ScriptedCore.CoreFailure(description: "no network")
        for _ in 1...40 {
            let main = try await world.main(script: script)
            await #expect(throws: CoordinationError.self) { try await main.participant.start() }
            await main.participant.stop()
            await main.group.close()
        }
        try await eventually("the oldest are dropped") { try await entryCount(in: world) <= 48 }
        #expect(try await world.report().report.isClean)
    }
}
