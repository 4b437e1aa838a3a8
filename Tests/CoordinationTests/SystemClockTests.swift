import CoreAPI
import CoreAPITesting
import Platform
import TestSupport
import Testing

/// Tests of sleeping with the system's clock that do not depend on how long a sleep takes.
struct SystemClockTests {
    private let clock = SystemClock()

    @Test("A sleep ends at the instant or after it, and the earlier before the later")
    func wakesInOrder() async throws {
        let start = clock.now()
        let order = Box<[Int]>([])
        try await withThrowingTaskGroup { group in
            for number in (0..<20).reversed() {
                let instant = start.advanced(by: .milliseconds(50 * (number + 1)))
                group.addTask(executorPreference: ThreadExecutor.ordered) { [clock] in
                    try await clock.sleep(until: instant)
                    #expect(clock.now() >= instant)
                    order.update { $0.append(number) }
                }
            }
            try await group.waitForAll()
        }
        #expect(order.value == Array(0..<20))
    }

    @Test("A sleep until tomorrow does not delay a shorter one that begins later")
    func earlierThanSet() async throws {
        let tomorrow = clock.now().advanced(by: .seconds(86_400))
        let first = Task(executorPreference: ThreadExecutor.ordered) { [clock] in try await clock.sleep(until: tomorrow)
        }
        // On the same thread, so this task runs when the first one sleeps.
        let second = Task(executorPreference: ThreadExecutor.ordered) { [clock] in
            try await clock.sleep(until: clock.now().advanced(by: .milliseconds(1)))
        }
        try await withTimeout(TestTimeout.usual, "the second wakes") { try await second.value }
        first.cancel()
        _ = await first.result
    }

    @Test("A sleep until a past instant returns at once")
    func over() async throws {
        try await clock.sleep(until: clock.now())
        try await clock.sleep(until: BootInstant(nanoseconds: 0))
    }

    @Test(
        "A task that is cancelled before or during its sleep wakes at once with an error; others sleep on",
        arguments: [true, false])
    func cancelled(isAsleep: Bool) async throws {
        let far = clock.now().advanced(by: .seconds(86_400))
        let sleepers = (0..<100).map { _ in
            Task(executorPreference: ThreadExecutor.ordered) { [clock] in
                do throws(CancellationError) {
                    try await clock.sleep(until: far)
                    return false
                } catch {
                    return true
                }
            }
        }
        // On the same thread, so this task runs when all of them sleep.
        if isAsleep { await Task(executorPreference: ThreadExecutor.ordered) {}.value }
        let other = Task { [clock] in try await clock.sleep(until: clock.now().advanced(by: .milliseconds(200))) }
        for sleeper in sleepers { sleeper.cancel() }
        for sleeper in sleepers {
            let isCancelled = try await withTimeout(TestTimeout.usual, "a sleeper wakes") { await sleeper.value }
            #expect(isCancelled)
        }
        try await withTimeout(TestTimeout.usual, "the other one wakes") { try await other.value }
    }

    @Test("A thread that always has something to do wakes the tasks that sleep on it")
    func busyThread() async throws {
        let executor = ThreadExecutor(thread: "busy")
        let isOver = Box(false)
        let busy = Task(executorPreference: executor) { while !isOver.value { await Task.yield() } }
        let sleeper = Task(executorPreference: executor) { [clock] in
            try await clock.sleep(until: clock.now().advanced(by: .milliseconds(20)))
        }
        try await withTimeout(TestTimeout.usual, "the sleeper wakes") { try await sleeper.value }
        isOver.update { $0 = true }
        await busy.value
    }

    @Test("A sleep that was cancelled does not wake its thread")
    func cancelledOnItsThread() async throws {
        let executor = ThreadExecutor(thread: "woken")
        let rounds = 10
        let task = Task(executorPreference: executor) { [clock] () async throws -> Int in
            var others: [Task<Void, any Error>] = []
            let before = Self.waits()
            for _ in 0..<rounds {
                let start = clock.now()
                // This sleep is due in the middle of the next round, and is cancelled before.
                let other = Task(executorPreference: executor) {
                    try await clock.sleep(until: start.advanced(by: .milliseconds(150)))
                }
                others.append(other)
                try await clock.sleep(until: start.advanced(by: .milliseconds(100)))
                other.cancel()
            }
            return Self.waits() - before
        }
        let waits = try await withTimeout(TestTimeout.usual, "the rounds end") { try await task.value }
        #expect(waits >= rounds)
        #expect(waits <= rounds + rounds / 2, "\(waits) waits")
    }

    /// How often the calling thread has waited.
    private static func waits() -> Int {
        let lines = OpenFile.text(of: "/proc/thread-self/status")?.split(separator: "\n") ?? []
        let line = lines.first { $0.hasPrefix("voluntary_ctxt_switches:") }
        return line?.split(separator: "\t").last.flatMap { Int($0) } ?? 0
    }

    @Test("A sleep on a thread of tasks leaves that thread free for others, and ends there")
    func sleepsOnItsThread() async throws {
        let executor = ThreadExecutor(thread: "sleeping")
        let names = try await Task(executorPreference: executor) { [clock] in
            let before = ThreadIdentity.current
            let other = Task(executorPreference: executor) { ThreadIdentity.current }
            try await clock.sleep(until: clock.now().advanced(by: .milliseconds(50)))
            return [before, await other.value, ThreadIdentity.current]
        }.value
        #expect(names.allSatisfy { $0 == names[0] })
    }

    @Test("A thousand sleep at once, and all wake")
    func many() async throws {
        let start = clock.now()
        try await withTimeout(TestTimeout.long, "all wake") { [clock] in
            try await withThrowingTaskGroup { group in
                for number in 0..<1000 {
                    group.addTask { try await clock.sleep(until: start.advanced(by: .microseconds(700 * number))) }
                }
                try await group.waitForAll()
            }
        }
    }
}

extension ThreadExecutor {
    /// On one thread, the task that is woken first runs first.
    fileprivate static let ordered = ThreadExecutor(thread: "test")
}
