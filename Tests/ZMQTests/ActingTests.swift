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
        /// Who counts what was done, and that it is done by one at a time.
        private actor Counter {
            nonisolated let thread: SocketThread
            nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }
            private let duty = SocketThread.Duty()
            private(set) var count = 0
            private(set) var turnCount = 0
            private let isInside = Atomic(false)
            nonisolated let overlaps = Atomic(0)

            init() throws {
                thread = try SocketThread(name: "acting")
            }

            func begin() {
                duty.turn = { [unowned self] in self.assumeIsolated { $0.turn() } }
                thread.take(duty)
            }

            func end() { duty.isOver = true }

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
                for _ in 0..<200 { _ = isInside.load(ordering: .sequentiallyConsistent) }
            }

            private func leave() { isInside.store(false, ordering: .sequentiallyConsistent) }
        }

        @Test("one acts at a time, whether in place of the thread, on it or by a job, and nothing is left out")
        func oneAtATime() async throws {
            let counter = try Counter()
            await counter.begin()
            let (taskCount, turnCount) = (8, 500)
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
