internal import CoreAPI
internal import CoreAPITesting
internal import Glibc
internal import Platform
internal import Synchronization
internal import Testing

@testable import ZMQBackend

extension ZMQTests {
    /// Other threads that act in place of the sockets' thread.
    @Suite("Acting in place of the sockets' thread")
    struct ActingTests {
        /// Counts the jobs, and that they run one at a time.
        private actor Counter {
            nonisolated let thread: SocketThread
            nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }
            private let pollSource = SocketThread.PollSource()
            private(set) var count = 0
            private(set) var turnCount = 0
            private let isInside = Atomic(false)
            nonisolated let overlaps = Atomic(0)

            init() throws {
                thread = try SocketThread(name: "acting")
            }

            func begin() {
                pollSource.turn = { [unowned self] in self.assumeIsolated { $0.turn() } }
                thread.take(pollSource)
            }

            func end() { pollSource.isOver = true }

            private func turn() {
                enter()
                turnCount += 1
                leave()
            }

            func add() {
                enter()
                count += 1
                leave()
            }

            private func enter() {
                if isInside.exchange(true, ordering: .sequentiallyConsistent) {
                    overlaps.add(1, ordering: .sequentiallyConsistent)
                }
                // Time to be met.
                usleep(20)
            }

            private func leave() { isInside.store(false, ordering: .sequentiallyConsistent) }
        }

        @Test("one acts at a time, whether in place of the thread, on it or by a job, and nothing is left out")
        func oneAtATime() async throws {
            let counter = try Counter()
            await counter.begin()
            let (taskCount, turnCount) = (8, 250)
            await withTaskGroup(of: Void.self) { tasks in
                for number in 0..<taskCount {
                    tasks.addTask {
                        for _ in 0..<turnCount {
                            if number.isMultiple(of: 4) {
                                await counter.add()
                            } else {
                                counter.thread.act { counter.assumeIsolated { $0.add() } }
                                await Task.yield()
                            }
                        }
                    }
                }
            }
            try await eventually("all is done") { await counter.count == taskCount * turnCount }
            #expect(counter.overlaps.load(ordering: .sequentiallyConsistent) == 0)
            await counter.end()
        }

        @Test("as long as one acts, no other does: what another asks for waits, and is done then")
        func exclusion() async throws {
            let counter = try Counter()
            await counter.begin()
            let (isInside, isReleased, isNextDone) = (Notes(), Notes(), Notes())
            defer { isReleased.isSet.store(true, ordering: .sequentiallyConsistent) }
            try OwnedThread.start("first") {
                counter.thread.act {
                    isInside.isSet.store(true, ordering: .sequentiallyConsistent)
                    while !isReleased.isSet.load(ordering: .sequentiallyConsistent) { usleep(1000) }
                }
            }
            try await eventually("one acts") { isInside.isSet.load(ordering: .sequentiallyConsistent) }
            counter.thread.act { isNextDone.isSet.store(true, ordering: .sequentiallyConsistent) }
            let isTooEarly = isNextDone.isSet.load(ordering: .sequentiallyConsistent)
            #expect(!isTooEarly)
            isReleased.isSet.store(true, ordering: .sequentiallyConsistent)
            try await eventually("the next acts") { isNextDone.isSet.load(ordering: .sequentiallyConsistent) }
            await counter.end()
        }

        private final class Notes: Sendable {
            let isSet = Atomic(false)
        }

        @Test("what is done in place of a thread that waits is done before the call returns, on the caller's thread")
        func atOnce() async throws {
            let counter = try Counter()
            await counter.begin()
            try await eventually("the thread waits, and another acts for it") {
                let caller = pthreadNumber()
                let actor = Mutex<UInt?>(nil)
                counter.thread.act { actor.withLock { $0 = pthreadNumber() } }
                return actor.withLock { $0 } == caller
            }
            await counter.end()
        }
    }
}

private func pthreadNumber() -> UInt { UInt(pthread_self()) }
