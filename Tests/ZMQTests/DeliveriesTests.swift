internal import CoreAPI
internal import CoreAPITesting
internal import Glibc
internal import Platform
internal import Synchronization
internal import TestSupport
internal import Testing

@testable import ZMQBackend

extension ZMQTests {
    /// Tasks that run on the threads that wait for the hub.
    @Suite("Tasks that run where the hub is heard")
    struct DeliveriesTests {
        private func eventually(_ what: String, _ notes: ObserverNotes, is post: UInt64) async throws {
            try await CoreAPITesting.eventually("\(what) comes to \(post)") {
                notes.posts.load(ordering: .sequentiallyConsistent) == post
            }
        }

        @Test("N4: a task that prefers it is woken each time, and asks, on the threads that hear of the hub")
        func hearsItself() async throws {
            let stage = try HubStage()
            let hub = try await stage.hub()
            let (group, other) = (try await stage.client(), try await stage.client())
            let (heard, asked) = (ObserverNotes(), ObserverNotes())
            let executor = try #require(group.deliveryExecutor)
            let task = try await heard.observe(group, on: executor)
            for count in 1...100 as ClosedRange<UInt64> {
                try await other.post("name", state: count)
                try await eventually("the observer", heard, is: count)
            }
            try await withTaskExecutorPreference(executor) {
                for count in 1...100 as ClosedRange<UInt64> {
                    try await group.put("key", [UInt8(count)])
                    #expect(try await group.get("key")?.value == [UInt8(count)])
                    asked.note(count)
                }
            }
            for notes in [heard, asked] { #expect(notes.threads.withLock { $0 } == ["sc-hub-link"]) }
            task.cancel()
            _ = try? await task.value
            for group in [group, other] { await group.close() }
            await hub.stop()
        }

        @Test("N9: a task that blocks there holds up no task that runs elsewhere, and what runs there comes after it")
        func blockedTask() async throws {
            let stage = try HubStage()
            let hub = try await stage.hub()
            let (group, other) = (try await stage.client(), try await stage.client())
            let executor = try #require(group.deliveryExecutor)
            let (blocked, free, late) = (ObserverNotes(), ObserverNotes(), ObserverNotes())
            defer { blocked.isReleased.store(true, ordering: .sequentiallyConsistent) }
            var tasks = [
                try await blocked.observe(group, on: executor, blocking: true),
                try await free.observe(group, on: nil),
            ]
            try await other.post("name", state: 1)
            try await eventually("the blocked one", blocked, is: 1)
            tasks.append(try await late.observe(group, on: executor))
            for count in 2...40 as ClosedRange<UInt64> {
                // Requests to the group are answered meanwhile.
                _ = try await withTimeout(TestTimeout.usual, "a put") { try await group.put("key", [UInt8(count)]) }
                try await other.post("name", state: count)
                try await eventually("the other", free, is: count)
            }
            #expect(blocked.posts.load(ordering: .sequentiallyConsistent) == 1)
            #expect(late.posts.load(ordering: .sequentiallyConsistent) == 0, "one job at a time")
            blocked.isReleased.store(true, ordering: .sequentiallyConsistent)
            for notes in [blocked, late] { try await eventually("each", notes, is: 40) }
            for task in tasks { task.cancel() }
            for task in tasks { _ = try? await task.value }
            for group in [group, other] { await group.close() }
            await hub.stop()
        }

        @Test(
            "S13: a task that blocks there holds no other up when the link has ended by itself",
            arguments: [true, false])
        func blockedAtTheEnd(isBlockedBefore: Bool) async throws {
            let stage = try HubStage()
            let first = try await stage.hubProcess(storage: "memory")
            let group = try await stage.client()
            let notes = ObserverNotes()
            defer { notes.isReleased.store(true, ordering: .sequentiallyConsistent) }
            func block() async throws {
                let executor = try #require(group.deliveryExecutor)
                Task(executorPreference: executor) {
                    notes.note(1)
                    notes.block()
                }
                try await eventually("the blocked one", notes, is: 1)
            }
            if isBlockedBefore { try await block() }
            // The group ends with its hub, and the next hub reports that.
            first.process.signal(.kill)
            _ = await first.process.end()
            let second = try await stage.hubProcess(storage: "memory")
            for count in 1...20 as ClosedRange<UInt8> {
                try await expect(.sessionEnded, from: "put \(count) into a group that is gone") {
                    try await withTimeout(TestTimeout.usual, "the put ends") { try await group.put("key", [count]) }
                }
                // A task that requests the executor only now must not be delayed more.
                if !isBlockedBefore, count == 1 { try await block() }
            }
            try await withTimeout(TestTimeout.usual, "the close ends") { await group.close() }
            second.process.signal(.kill)
        }

        @Test("S13: a task that waits there hears that the group was closed, and goes on there")
        func closedGroup() async throws {
            let stage = try HubStage()
            let hub = try await stage.hub()
            let group = try await stage.client()
            let executor = try #require(group.deliveryExecutor)
            let turns = ObserverNotes()
            let posts = try await group.observe("name")
            let task = Task(executorPreference: executor) {
                for try await _ in posts {}
                for count in 1...100 as ClosedRange<UInt64> {
                    // Comes back from a thread of Swift's pool.
                    await Task.detached {}.value
                    turns.note(count)
                }
            }
            await group.close()
            try await eventually("who waited", turns, is: 100)
            #expect(turns.threads.withLock { $0 } == ["sc-hub-link"])
            _ = try? await task.value
            // A task that begins there only now runs too.
            try await withTimeout(TestTimeout.usual, "a task runs") {
                await Task(executorPreference: group.deliveryExecutor) { turns.note(101) }.value
            }
            await hub.stop()
        }
    }
}
