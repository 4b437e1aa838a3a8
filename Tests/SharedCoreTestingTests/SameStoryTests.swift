import Coordination
import CoreAPI
import SharedCoreTesting
import Synchronization
import Testing

@Suite("A story is the same each time")
struct SameStoryTests {
    @Test("It is the same to the nanosecond")
    func repeatable() async throws {
        var timelineEvents: Set<[TimelineEntry]> = []
        for _ in 0..<20 {
            let group = SimulatedGroup(seed: 7)
            let app = try await group.main("app")
            try await app.start()
            await app.freeze()
            let push = try await group.executor("push")
            let call = push.message(forCallID: "1", timeout: .seconds(20))
            try await group.advance(until: "the Executor owns") { try await group.owner()?.name == "push" }
            await app.thaw()
            try await group.runUntilIdle()
            try group.server.receive("Lunch?", as: "1")
            _ = try await call.value
            try await group.advance(by: .seconds(60))
            timelineEvents.insert(try await group.timeline().entries)
        }
        #expect(timelineEvents.count == 1)
    }

    @Test("Also when twenty Executors ask at the same instant")
    func burst() async throws {
        var timelineEvents: Set<[TimelineEntry]> = []
        var orders: Set<[Int]> = []
        for _ in 0..<20 {
            let group = SimulatedGroup(seed: 7)
            let answered = Log<Int>()
            let instant = group.clock.now().advanced(by: .seconds(1))
            var calls: [SimulatedRun<Void>] = []
            for number in 1...20 {
                let push = try await group.executor("push \(number)")
                let callID = try #require(CallID("\(number)"))
                try group.server.receive("Lunch?", as: "\(number)")
                calls.append(
                    push.process.run {
                        try await group.clock.sleep(until: instant)
                        _ = try await push.participant.message(forCallID: callID, timeout: .seconds(20))
                        answered.add(number)
                    })
                try await group.runUntilIdle()
            }
            for call in calls { try await call.value }
            try await group.advance(by: .seconds(60))
            timelineEvents.insert(try await group.timeline().entries)
            orders.insert(answered.all)
        }
        #expect(timelineEvents.count == 1)
        #expect(orders.count == 1)
    }

    @Test("Cores that wait for the same news hear it in the order in which they came to wait")
    func news() async throws {
        let expected = Array(1...20)
        for _ in 0..<20 {
            let group = SimulatedGroup()
            let heard = Log<Int>()
            for number in expected {
                let process = try await group.process(.tool, "reader \(number)")
                process.run {
                    await group.server.waitForUpdate(after: 0)
                    heard.add(number)
                }
                try await group.runUntilIdle()
            }
            try group.server.receive("Lunch?", as: "1")
            try await group.runUntilIdle()
            #expect(heard.all == expected)
        }
    }
}

/// The notes of several processes of a test, in the order in which they are made.
final class Log<Value: Sendable>: Sendable {
    private let values = Mutex<[Value]>([])

    var all: [Value] { values.withLock { $0 } }

    func add(_ value: Value) { values.withLock { $0.append(value) } }
}
