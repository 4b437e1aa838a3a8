internal import CoreAPI
internal import CoreAPITesting
internal import Platform
internal import Synchronization
internal import TestSupport
internal import Testing

@testable import FileNotifyBackend

/// Tasks that run on the thread that receives updates. They run one after the other: a process has one such thread, and
/// one of these tests blocks it.
@Suite("Tasks that run where news is heard", .serialized, .timeLimit(.minutes(10)))
struct DeliveryExecutorTests {
    @Test("N4: a task that prefers it is woken each time, by the thread that hears of the post")
    func hearsItself() async throws {
        let directory = try TemporaryDirectory()
        let group = try await FileGroup.open(directory: directory.path(of: "group"))
        let peer = try await PeerProcess.joining(directory.path(of: "group"))
        let notes = ObserverNotes()
        let executor = try #require(group.deliveryExecutor)
        let task = try await notes.observe(group, on: executor)
        for count in 1...100 as ClosedRange<UInt64> {
            try await peer.tell("post name \(count)")
            try await eventually("it is woken") { notes.posts.load(ordering: .sequentiallyConsistent) == count }
        }
        // Also for a post of its own process.
        try await group.post("name", state: 101)
        try await eventually("it is woken") { notes.posts.load(ordering: .sequentiallyConsistent) == 101 }
        #expect(notes.threads.withLock { $0 } == ["sc-notify"])
        task.cancel()
        await group.close()
        _ = try? await task.value
    }

    @Test("N9: a task that blocks there holds up no task that runs elsewhere, and what runs there comes after it")
    func blockedTask() async throws {
        let directory = try TemporaryDirectory()
        let group = try await FileGroup.open(directory: directory.path(of: "group"))
        let peer = try await PeerProcess.joining(directory.path(of: "group"))
        let executor = try #require(group.deliveryExecutor)
        let (blocked, free, late) = (ObserverNotes(), ObserverNotes(), ObserverNotes())
        defer { blocked.isReleased.store(true, ordering: .sequentiallyConsistent) }
        let tasks = [
            try await blocked.observe(group, on: executor, blocking: true),
            try await free.observe(group, on: nil),
        ]
        try await peer.tell("post name 1")
        try await eventually("it blocks") { blocked.posts.load(ordering: .sequentiallyConsistent) == 1 }
        let third = try await late.observe(group, on: executor)
        for count in 2...40 as ClosedRange<UInt64> {
            try await peer.tell("post name \(count)")
            try await eventually("the other is woken") { free.posts.load(ordering: .sequentiallyConsistent) == count }
        }
        #expect(blocked.posts.load(ordering: .sequentiallyConsistent) == 1)
        #expect(late.posts.load(ordering: .sequentiallyConsistent) == 0, "one job at a time")
        blocked.isReleased.store(true, ordering: .sequentiallyConsistent)
        try await eventually("all come to the last post") {
            [blocked, late].allSatisfy { $0.posts.load(ordering: .sequentiallyConsistent) == 40 }
        }
        for task in tasks + [third] { task.cancel() }
        await group.close()
        for task in tasks + [third] { _ = try? await task.value }
    }

    @Test("S13: a task that waits there hears that the group was closed, and those of another group go on")
    func closedGroup() async throws {
        let directory = try TemporaryDirectory()
        let closed = try await FileGroup.open(directory: directory.path(of: "closed"))
        let open = try await FileGroup.open(directory: directory.path(of: "open"))
        let executor = try #require(closed.deliveryExecutor)
        let notes = ObserverNotes()
        let waiting = try await ObserverNotes().observe(closed, on: executor)
        let going = try await notes.observe(open, on: executor)
        await closed.close()
        try await withTimeout(TestTimeout.usual, "the iteration ends, without an error") { try await waiting.value }
        for count in 1...10 as ClosedRange<UInt64> {
            try await open.post("name", state: count)
            try await eventually("it is woken") { notes.posts.load(ordering: .sequentiallyConsistent) == count }
        }
        going.cancel()
        await open.close()
        _ = try? await going.value
    }

    @Test("what other threads put down there runs, each time")
    func jobsOfOthers() async throws {
        let directory = try TemporaryDirectory()
        let group = try await FileGroup.open(directory: directory.path(of: "group"))
        let executor = try #require(group.deliveryExecutor)
        let turns = ObserverNotes()
        let (taskCount, turnCount) = (8, 200) as (UInt64, UInt64)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            for _ in 0..<taskCount {
                tasks.addTask(executorPreference: executor) {
                    for _ in 0..<turnCount {
                        // The task returns from a thread of Swift's pool.
                        await Task.detached {}.value
                        turns.posts.add(1, ordering: .sequentiallyConsistent)
                        try Task.checkCancellation()
                    }
                }
            }
            try await eventually("all have come back") {
                turns.posts.load(ordering: .sequentiallyConsistent) == taskCount * turnCount
            }
        }
        await group.close()
    }

    @Test("what one look has brought is offered to another thread before the next look, which may take long")
    func offeredJobs() throws {
        let counter = try EventCounter()
        let executor = UpdateExecutor(waking: counter)
        var wakes: [Bool] = []
        executor.runJobs {
            Task(executorPreference: executor) {}
            wakes += Poll.wait(for: [counter.descriptor], timeout: .zero)
            executor.offerJobs()
            wakes += Poll.wait(for: [counter.descriptor], timeout: .zero)
        }
        #expect(wakes == [false, true])
    }
}
