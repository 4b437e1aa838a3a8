import CoreAPITesting
import Foundation
import Mailboxes
import Platform
import Testing

@Suite("Handlers: none starts or runs once it was cancelled (N6)")
struct HandlerGateTests {
    @Test("N6: a gate runs handlers until it is closed; closing twice does no harm")
    func closes() {
        let gate = HandlerGate()
        var calls = 0
        #expect(gate.run { calls += 1 })
        gate.close()
        gate.close()
        #expect(!gate.run { calls += 1 })
        #expect(calls == 1)
    }

    @Test("N6: closing inside the handler returns, and this call is the last")
    func inside() {
        let gate = HandlerGate()
        #expect(gate.run { gate.close() })
        #expect(!gate.run {})
    }

    @Test("N6: two handlers that close each other's gates do not wait for each other")
    func mutual() async throws {
        let gates = [HandlerGate(), HandlerGate()]
        let (inside, over) = (Box(0), Box(0))
        for number in 0..<2 {
            Self.onThread {
                _ = gates[number].run {
                    inside.update { $0 += 1 }
                    while inside.value < 2 { usleep(100) }
                    gates[1 - number].close()
                }
                over.update { $0 += 1 }
            }
        }
        try await eventually("both handlers have returned") { over.value == 2 }
        #expect(!gates[0].run {} && !gates[1].run {})
    }

    @Test("N6: closing waits for a handler that runs elsewhere")
    func waits() async throws {
        try await Self.expectWait { close in Task.detached { close() } }
    }

    @Test("N6: closing waits also in a task that a handler began, which is no handler")
    func waitsInTaskOfHandler() async throws {
        try await Self.expectWait { close in
            let isOver = Box(false)
            _ = HandlerGate().run {
                Task {
                    while !isOver.value { await Task.yield() }
                    close()
                }
            }
            isOver.update { $0 = true }
        }
    }

    @Test("N6: closing waits in such a task also while the handler that began it still runs")
    func waitsBesideHandler() async throws {
        try await Self.expectWait { close in
            Self.onThread {
                let isClosed = Box(false)
                _ = HandlerGate().run {
                    Task {
                        close()
                        isClosed.update { $0 = true }
                    }
                    while !isClosed.value { usleep(100) }
                }
            }
        }
    }

    /// Runs a blocking body in a task, as handlers run, on a thread of its own.
    private static func onThread(_ body: @escaping @Sendable () -> Void) {
        Task.detached(executorPreference: ThreadExecutor(thread: "handler")) { body() }
    }

    /// Closes a gate while one of its handlers runs, and expects that the close returns after the handler.
    private static func expectWait(closing close: (@escaping @Sendable () -> Void) -> Void) async throws {
        let gate = HandlerGate()
        let (isRunning, isClosing, hasEnded) = (Box(false), Box(false), Box(false))
        let endedAtReturn = Box<Bool?>(nil)
        // On a thread of its own, since the closing call may block one of the pool's threads.
        Self.onThread {
            _ = gate.run {
                isRunning.update { $0 = true }
                while !isClosing.value { usleep(100) }
                // A close that does not wait returns before this is over.
                let limit = ContinuousClock.now + .milliseconds(100)
                while endedAtReturn.value == nil, ContinuousClock.now < limit { usleep(100) }
                hasEnded.update { $0 = true }
            }
        }
        try await eventually("the handler runs") { isRunning.value }
        close {
            isClosing.update { $0 = true }
            gate.close()
            endedAtReturn.update { $0 = hasEnded.value }
        }
        try await eventually("the close returns") { endedAtReturn.value != nil }
        #expect(endedAtReturn.value == true)
    }
}
