import Coordination
import CoreAPI
import Glibc
import Testing

@testable import SharedCoreTesting

@Suite("Time passes only while every process waits, and stops at every moment at which one wakes")
struct TimeTests {
    private let group = SimulatedGroup()
    private let log = Log<BootInstant>()

    @Test("A sleep ends at its moment, however far the test goes at once")
    func steps() async throws {
        let process = try await group.process(.tool, "sleeper")
        let start = group.clock.now()
        process.run { [group, log] in
            while true {
                try await group.clock.sleep(until: group.clock.now().advanced(by: .milliseconds(250)))
                log.add(group.clock.now())
            }
        }
        try await group.advance(by: .milliseconds(1_100))
        #expect(log.all == [250, 500, 750, 1_000].map { start.advanced(by: .milliseconds($0)) })
        #expect(group.clock.now() == start.advanced(by: .milliseconds(1_100)))
    }

    @Test("No time passes before all have done what there is to do")
    func work() async throws {
        let process = try await group.process(.tool, "worker")
        let start = group.clock.now()
        for _ in 0..<10 {
            process.run { [group, log] in
                try await group.clock.sleep(until: start.advanced(by: .seconds(1)))
                for _ in 0..<1_000 { await Task.yield() }
                log.add(group.clock.now())
            }
        }
        try await group.advance(by: .seconds(60))
        #expect(log.all == Array(repeating: start.advanced(by: .seconds(1)), count: 10))
    }

    @Test("A value takes as long as it takes and no longer")
    func values() async throws {
        let process = try await group.process(.tool, "worker")
        let start = group.clock.now()
        process.run { [group] in try await group.clock.sleep(until: start.advanced(by: .seconds(10))) }
        let run = process.run { [group] in
            try await group.clock.sleep(until: start.advanced(by: .seconds(3)))
            return "done"
        }
        #expect(!run.isOver)
        #expect(try await run.value == "done")
        #expect(group.clock.now() == start.advanced(by: .seconds(3)))
    }

    @Test("If several tasks wait for values at once, the same time counts for all of them")
    func valuesAtOnce() async throws {
        let process = try await group.process(.tool, "worker")
        for _ in 0..<50 {
            let start = group.clock.now()
            let end = start.advanced(by: .seconds(3))
            try await withThrowingTaskGroup { tasks in
                for _ in 0..<8 {
                    let run = process.run { [group] in try await group.clock.sleep(until: end) }
                    tasks.addTask { try await run.value }
                }
                try await tasks.waitForAll()
            }
            #expect(start.duration(to: group.clock.now()) == .seconds(3))
        }
    }

    @Test("Time does not go back")
    func noWayBack() async throws {
        let start = group.clock.now()
        let error = await #expect(throws: SharedCoreError.self) { try await group.advance(by: .seconds(-1)) }
        #expect(error?.code == .invalidArgument)
        group.clock.advance(to: start.advanced(by: .seconds(-1)))
        #expect(group.clock.now() == start)
    }

    @Test("A value is waited for no longer than a limit")
    func limitedValue() async throws {
        let process = try await group.process(.tool, "worker")
        let start = group.clock.now()
        let run = process.run { [group] in
            for number in 1...10 { try await group.clock.sleep(until: start.advanced(by: .seconds(number))) }
        }
        let stalled = await #expect(throws: SimulationStalled.self) { try await run.value(timeout: .seconds(3)) }
        #expect(stalled?.timedOut == true)
        #expect(start.duration(to: group.clock.now()) == .seconds(3))
        try await run.value(timeout: .seconds(7))
    }

    @Test("A condition that never holds ends the test, with the reason: the limit, or that no task sleeps")
    func stalls() async throws {
        let process = try await group.process(.tool, "waiter")
        let waiting = process.run { try await Task.sleep(for: .seconds(3600)) }
        let stalled = await #expect(throws: SimulationStalled.self) { try await waiting.value }
        #expect(stalled?.timedOut == false)
        #expect(stalled?.description.contains("what “waiter” runs ends") == true)
        waiting.cancel()

        process.run { [group] in
            while true { try await group.clock.sleep(until: group.clock.now().advanced(by: .seconds(1))) }
        }
        let late = await #expect(throws: SimulationStalled.self) {
            try await group.advance(until: "pigs fly", timeout: .seconds(10)) { false }
        }
        #expect(late?.timedOut == true)
        #expect(late?.timePassed == .seconds(10))
    }

    @Test("A process that blocks fails the test instead of holding it up for ever")
    func blocked() async throws {
        let process = try await group.process(.tool, "blocking")
        let mayEnd = Log<Bool>()
        defer { mayEnd.add(true) }
        process.run { while mayEnd.all.isEmpty { sched_yield() } }
        let error = await #expect(throws: ConditionNotMet.self) {
            try await group.thread.untilIdle(timeout: .milliseconds(50))
        }
        #expect(error?.description.contains("blocks") == true)
    }

    @Test("S12: an entry expires at its moment, and its watch hears it before the time goes on")
    func expiry() async throws {
        let process = try await group.process(.tool, "watcher")
        let observer = try await group.observer()
        let start = group.clock.now()
        try await observer.put("key", [1], lifetime: .expiring(after: .seconds(5)))
        let watch = try await process.group.watch(["key"], from: .now)
        process.run { [group, log] in
            while try await watch.next() != nil { log.add(group.clock.now()) }
        }
        try await group.advance(by: .seconds(60))
        #expect(log.all == [start.advanced(by: .seconds(5))])
    }
}
