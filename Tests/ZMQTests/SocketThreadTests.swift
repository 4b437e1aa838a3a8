internal import CoreAPI
internal import CoreAPITesting
internal import Glibc
internal import Platform
internal import Synchronization
internal import TestSupport
internal import Testing

@testable import ZMQBackend

extension ZMQTests {
    /// The events that the sockets' threads must not overlook or put off.
    @Suite("The sockets' threads")
    struct SocketThreadTests {
        /// An actor with one socket that is never empty, and another one.
        private actor NeverEmpty {
            nonisolated let thread: SocketThread
            nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }
            nonisolated let turnCount = Atomic(0)
            nonisolated let isHeard = Atomic(false)
            private let flooded: (here: Socket, there: Socket)
            private let other: (here: Socket, there: Socket)
            private let pollSource = SocketThread.PollSource()

            init(in place: TemporaryDirectory) throws {
                thread = try SocketThread(name: "flooded")
                func pair(_ name: String) throws -> (Socket, Socket) {
                    let ends = try (0..<2).map { _ in try Socket(.dealer, for: "ipc://" + place.path(of: name)) }
                    try ends[0].bind()
                    try ends[1].connect()
                    return (ends[0], ends[1])
                }
                flooded = try pair("flooded")
                other = try pair("other")
            }

            func begin() throws {
                for _ in 0..<100 { _ = flooded.there.send([[1]]) }
                pollSource.sockets = [flooded.here, other.here]
                pollSource.turn = { [unowned self] in self.assumeIsolated { $0.turn() } }
                for socket in pollSource.sockets { try thread.watch(socket.descriptor) }
                thread.take(pollSource)
            }

            func end() { pollSource.isOver = true }

            private func turn() {
                waitOnThread(atMost: TestTimeout.usual) { flooded.here.receive(upTo: 1) != nil }
                _ = flooded.there.send([[1]])
                waitOnThread(atMost: TestTimeout.usual) {
                    flooded.here.signal()
                    return flooded.here.hasInput()
                }
                if other.here.next(upTo: 1) != nil { isHeard.store(true, ordering: .sequentiallyConsistent) }
                // Sent only now, so that the socket is known to be empty.
                if turnCount.add(1, ordering: .sequentiallyConsistent).newValue == 100 { _ = other.there.send([[2]]) }
            }
        }

        @Test("a message is received even if another socket always has data")
        func neverEmpty() async throws {
            let place = try TemporaryDirectory()
            let flooded = try NeverEmpty(in: place)
            try await flooded.begin()
            do {
                try await eventually("the other message is taken") {
                    flooded.isHeard.load(ordering: .sequentiallyConsistent)
                }
            } catch {
                await flooded.end()
                throw error
            }
            await flooded.end()
            withExtendedLifetime(place) {}
        }

        /// An actor that sends requests by one socket and answers them by another.
        private actor Asker {
            nonisolated let thread: SocketThread
            nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }
            nonisolated let answerCount = Atomic(0)
            private let asking: Socket
            private let answering: Socket
            private let pollSource = SocketThread.PollSource()
            private var name: [UInt8] = []

            init(in place: TemporaryDirectory) throws {
                thread = try SocketThread(name: "asker")
                let endpoint = "ipc://" + place.path(of: "s")
                answering = try Socket(.router, for: endpoint)
                try answering.bind()
                asking = try Socket(.dealer, for: endpoint)
                try asking.connect()
            }

            func begin() {
                _ = asking.send([[1]])
                waitOnThread(atMost: TestTimeout.usual) {
                    name = answering.receive(upTo: 2)?.frames.first ?? []
                    return !name.isEmpty
                }
                // No thread waits at the descriptor. The kernel also wakes no thread if a message was read before the
                // woken thread ran.
                pollSource.sockets = [asking]
                pollSource.turn = { [unowned self] in self.assumeIsolated { $0.turn() } }
                thread.take(pollSource)
            }

            func end() { pollSource.isOver = true }

            private func turn() {
                while asking.next(upTo: 1) != nil { answerCount.add(1, ordering: .sequentiallyConsistent) }
            }

            /// Sends until the actor has read an answer that the descriptor reported.
            func sendMeanwhile() {
                _ = answering.send([name, [2]])
                waitOnThread(atMost: TestTimeout.usual) { isReadable(asking) }
                waitOnThread(atMost: TestTimeout.usual) {
                    _ = asking.send([[3]])
                    return !isReadable(asking)
                }
            }

            private func isReadable(_ socket: Socket) -> Bool {
                var entry = pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0)
                return poll(&entry, 1, 0) == 1
            }
        }

        @Test("an answer that was taken in by another for the thread is seen by the thread, though nothing is due")
        func takenInMeanwhile() async throws {
            let place = try TemporaryDirectory()
            let asker = try Asker(in: place)
            await asker.begin()
            let isSent = Box(false)
            try await eventually("one acts in place of the thread") {
                let caller = UInt(pthread_self())
                asker.thread.act {
                    guard UInt(pthread_self()) == caller else { return }
                    asker.assumeIsolated { $0.sendMeanwhile() }
                    isSent.update { $0 = true }
                }
                return isSent.value
            }
            // The thread is not asked by a job, because a job would make it poll.
            try await eventually("the thread takes it") {
                asker.answerCount.load(ordering: .sequentiallyConsistent) == 1
            }
            await asker.end()
        }

        @Test("the timer is set for what is due before it rings, and when it should have rung and has not")
        func timer() {
            func time(_ seconds: Int) -> BootInstant {
                BootInstant(nanoseconds: 0).advanced(by: .seconds(seconds))
            }
            var state = SocketThreadState()
            func mustSet(_ due: Int, at now: Int) -> Bool { state.mustSetTimer(for: time(due), at: time(now)) }
            #expect(mustSet(20, at: 1))
            #expect(!mustSet(20, at: 2))
            #expect(!mustSet(30, at: 2))
            #expect(mustSet(10, at: 2))
            #expect(!mustSet(20, at: 9))
            // The machine has slept.
            #expect(mustSet(20, at: 10))
            #expect(!mustSet(20, at: 11))
            #expect(mustSet(15, at: 50))
            // The timer has fired, and a thread has seen it.
            state.wake(.current, with: [SocketThreadState.timerKey])
            _ = state.takeWork()
            #expect(mustSet(90, at: 14))
        }

        private actor Asking {
            nonisolated let thread: SocketThread
            nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

            init() throws { thread = try SocketThread(name: "asking") }

            /// Returns the answers of two jobs that the thread takes together.
            func answers() async -> [Bool] {
                let jobs = (0..<2).map { _ in Task { self.answer() } }
                // Waiting for the first here would enqueue this after the second.
                _ = await jobs[1].value
                return await [jobs[0].value, jobs[1].value]
            }

            private func answer() -> Bool { thread.hasWaitingWork }
        }

        @Test("a job knows of one that was taken together with it and comes behind it")
        func behind() async throws {
            #expect(try await Asking().answers() == [true, false])
        }

        /// Has input as long as it wants.
        private actor Flooded {
            nonisolated let thread: SocketThread
            nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }
            nonisolated let turnCount = Atomic(0)
            nonisolated let isEnough = Atomic(false)
            private let input: Socket
            private let output: Socket
            private let pollSource = SocketThread.PollSource()

            init() throws {
                thread = try SocketThread(name: "flooded")
                input = try Socket(.pair, for: "inproc://flood")
                try input.bind()
                output = try Socket(.pair, for: "inproc://flood")
                try output.connect()
            }

            func begin() throws {
                try thread.watch(input.descriptor)
                pollSource.sockets = [input]
                pollSource.turn = { [unowned self] in self.assumeIsolated { $0.turn() } }
                thread.take(pollSource)
            }

            func flood() { _ = output.send([[1]]) }

            func end() { pollSource.isOver = true }

            private func turn() {
                guard input.next(upTo: 1) != nil else { return }
                turnCount.add(1, ordering: .sequentiallyConsistent)
                if !isEnough.load(ordering: .sequentiallyConsistent) { flood() }
            }
        }

        @Test("a task that prefers to run there does not wait for the end of a flood that one thread takes in")
        func deliveryInFlood() async throws {
            let flooded = try Flooded()
            try await flooded.begin()
            try #require(flooded.thread.beginCompanion())
            let executor = DeliveryExecutor(of: flooded.thread)
            await flooded.flood()
            defer { flooded.isEnough.store(true, ordering: .sequentiallyConsistent) }
            for count in 1...20 {
                let turnCount = flooded.turnCount.load(ordering: .sequentiallyConsistent)
                try await eventually("the flood goes on") {
                    flooded.turnCount.load(ordering: .sequentiallyConsistent) > turnCount
                }
                try await withTimeout(TestTimeout.usual, "task \(count) runs") {
                    await Task(executorPreference: executor) {}.value
                }
            }
            flooded.isEnough.store(true, ordering: .sequentiallyConsistent)
            await flooded.end()
        }
    }
}
