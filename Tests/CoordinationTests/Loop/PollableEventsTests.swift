import CoreAPI
import CoreAPITesting
import FileNotifyBackend
import InMemoryBackend
import Platform
import TestSupport
import Testing

@Suite("Watches and observations as descriptors")
struct PollableEventsTests {
    /// A group of each kind, and the directory that it needs.
    struct Place: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let open: @Sendable () async throws -> (group: any SharedGroup, keeps: TemporaryDirectory?)

        static let all = [
            Place(testDescription: "memory") {
                (try await MemorySpace().open("group", as: SessionDescription(role: .tool)), nil)
            },
            Place(testDescription: "files") {
                let directory = try TemporaryDirectory()
                let path = directory.path(of: "group")
                return (try await FileGroup.open(directory: path, as: SessionDescription(role: .tool)), directory)
            },
        ]
    }

    private func isReadable(_ descriptor: Int32) -> Bool { Poll.wait(for: [descriptor], timeout: .zero) == [true] }

    private func readable(_ descriptor: Int32) async throws {
        try await eventually("the descriptor is readable") { isReadable(descriptor) }
    }

    @Test("W1: the descriptor is readable while there is an event, which comes once", arguments: Place.all)
    func watch(place: Place) async throws {
        let (group, keeps) = try await place.open()
        let events = try await group.watch("a", from: .now).pollable(on: group.deliveryExecutor)
        guard case .nothing = try events.next() else { throw Unexpected() }
        #expect(!isReadable(events.descriptor))
        for number in 1...50 { try await group.put(Key("a/\(number)"), [UInt8(number)]) }

        var keys: [String] = []
        while keys.count < 50 {
            try await readable(events.descriptor)
            guard case .event(.changes(let changes)) = try events.next() else { throw Unexpected() }
            keys += changes.changes.map(\.key.text)
        }
        #expect(keys == (1...50).map { "a/\($0)" })
        guard case .nothing = try events.next() else { throw Unexpected() }
        #expect(!isReadable(events.descriptor))
        await group.close()
        withExtendedLifetime(keeps) {}
    }

    @Test("N3: a loop that polls hears of each post, however it is slowed down", arguments: Place.all)
    func observation(place: Place) async throws {
        let (group, keeps) = try await place.open()
        let posts = try await group.observe("name").pollable(on: group.deliveryExecutor)
        let count = Box<UInt64>(0)
        let state = Box<UInt64>(0)
        let problem = Box<String?>(nil)
        let isDone = Promise<Void>()
        try OwnedThread.start("loop") {
            defer { isDone.open() }
            while count.value < 500 {
                guard Poll.wait(for: [posts.descriptor], timeout: TestTimeout.long) == [true] else {
                    return problem.update { $0 = "not readable after \(count.value)" }
                }
                guard case .event(let post)? = try? posts.next() else {
                    return problem.update { $0 = "readable, and nothing to take" }
                }
                count.update { $0 += post.count }
                state.update { $0 = post.state }
            }
        }
        for number in 1...500 { try await group.post("name", state: UInt64(number)) }
        await isDone.pass()
        #expect(problem.value == nil)
        #expect(count.value == 500 && state.value == 500)
        guard case .nothing = try posts.next() else { throw Unexpected() }
        #expect(!isReadable(posts.descriptor))
        await group.close()
        withExtendedLifetime(keeps) {}
    }

    @Test("The end is readable for good: of the group, and of the object", arguments: Place.all)
    func ends(place: Place) async throws {
        let (group, keeps) = try await place.open()
        let cancelled = try await group.watch("a").pollable()
        try await readable(cancelled.descriptor)
        cancelled.cancel()
        guard case .ended = try cancelled.next() else { throw Unexpected() }
        #expect(isReadable(cancelled.descriptor))

        let posts = try await group.observe("name").pollable()
        #expect(!isReadable(posts.descriptor))
        await group.close()
        try await readable(posts.descriptor)
        for _ in 1...2 { guard case .ended = try posts.next() else { throw Unexpected() } }
        #expect(isReadable(posts.descriptor))
        withExtendedLifetime(keeps) {}
    }

    @Test("The error that ends a watch is thrown once; then the watch has ended")
    func fails() async throws {
        let group = try await MemorySpace().open("group", as: SessionDescription(role: .main))
        let events = try await group.watch("a", from: .now).pollable()
        group.simulateKill()
        try await readable(events.descriptor)
        let error = #expect(throws: SharedCoreError.self) { _ = try events.next() }
        #expect(error?.code == .sessionEnded)
        guard case .ended = try events.next() else { throw Unexpected() }
        #expect(isReadable(events.descriptor))
    }

    @Test("Releasing the last reference cancels the watch")
    func letsGo() async throws {
        let isCancelled = Promise<Void>()
        let watch = Watch(
            next: { () async throws(SharedCoreError) in
                await isCancelled.pass()
                return nil
            }, cancel: { isCancelled.open() })
        var events: PollableEvents<WatchEvent>? = try watch.pollable()
        #expect(events != nil)
        events = nil
        await isCancelled.pass()
    }
}

private struct Unexpected: Error {}
