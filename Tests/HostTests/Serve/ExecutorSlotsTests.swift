internal import CoreAPITesting
internal import Synchronization
internal import TestSupport
internal import Testing

@testable internal import SharedCoreHost

@Suite("How many Executors run at once")
struct ExecutorSlotsTests {
    private final class Counter: Sendable {
        let values = Mutex<[Bool]>([])
        var count: Int { values.withLock { $0.count } }
    }

    @Test(
        "Slots are given up to the limit, again when one is given back, more when the limit rises, none after the end")
    func story() async throws {
        let slots = ExecutorSlots(limit: 2)
        let given = Counter()
        let tasks = (0..<6).map { _ in
            Task {
                let isGiven = await slots.take()
                given.values.withLock { $0.append(isGiven) }
            }
        }
        try await eventually("two", timeout: TestTimeout.long) { given.count == 2 }
        slots.giveBack()
        try await eventually("three", timeout: TestTimeout.long) { given.count == 3 }
        slots.setLimit(3)
        try await eventually("four", timeout: TestTimeout.long) { given.count == 4 }
        // The limit is now lower than the number of taken slots: no holder loses one, and no waiter gets one before
        // enough are back.
        slots.setLimit(1)
        slots.giveBack()
        slots.giveBack()
        #expect(given.count == 4)
        slots.giveBack()
        try await eventually("five", timeout: TestTimeout.long) { given.count == 5 }
        slots.close()
        for task in tasks { await task.value }
        #expect(given.values.withLock { $0 } == [true, true, true, true, true, false])
        #expect(await slots.take() == false)
    }

    @Test("A paused host gives no slot to a push; pushes that came meanwhile get one afterwards")
    func paused() async throws {
        let slots = ExecutorSlots(limit: 2)
        #expect(await slots.take())
        slots.setPaused(true)
        let given = Counter()
        let task = Task {
            let isGiven = await slots.take()
            given.values.withLock { $0.append(isGiven) }
        }
        slots.giveBack()
        slots.setLimit(3)
        #expect(given.count == 0)
        slots.setPaused(false)
        await task.value
        #expect(given.values.withLock { $0 } == [true])
    }
}
