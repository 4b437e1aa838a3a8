internal import CoreAPI
internal import CoreAPITesting
internal import ProgramOutput
internal import TestSupport
internal import Testing

@testable internal import SharedCoreHost

@Suite("Printing for as long as there is a reader")
struct ReadOutputTests {
    @Test("After a cancellation the call still waits for the printing and returns its result")
    func cancelled() async throws {
        let begun = Promise<Void>()
        let mayEnd = Promise<Void>()
        let end = Task {
            try await untilCancelled()
            return true
        }
        let printing = Task {
            try await Output.run(
                {
                    begun.open()
                    await mayEnd.pass()
                }, until: end)
        }
        await begun.pass()
        printing.cancel()
        // The task that listens for the readers has been notified.
        _ = await end.result
        mayEnd.open()
        try await withTimeout(TestTimeout.long, "the printing ends") { try await printing.value }
    }

    @Test("A task that is cancelled while it listens for the readers hears of no end, and of no error")
    func cancelledListener() async throws {
        let end = Task {
            try await untilCancelled()
            return true
        }
        let listener = Task { try await Output.isClosed(by: end) }
        listener.cancel()
        #expect(try await withTimeout(TestTimeout.long, "it is told") { try await listener.value } == false)
    }

    @Test("Any other error of listening for the readers ends the printing and is thrown")
    func failedListener() async throws {
        struct Failure: Error {}
        let end = Task<Bool, any Error> { throw Failure() }
        await #expect(throws: Failure.self) {
            try await withTimeout(TestTimeout.long, "the printing ends") {
                try await Output.run({ try await untilCancelled() }, until: end)
            }
        }
    }

    @Test("A command that is interrupted prints no more of many results")
    func cancelledResults() async throws {
        let printing = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            // More than is printed at once.
            try await Output(json: false).emit(
                each: 0..<100, text: { _ in String(repeating: "x", count: 1000) }, json: { _ in [:] })
        }
        await #expect(throws: CancellationError.self) { try await printing.value }
    }

    @Test("When the reader has gone, the printing ends as one whose output is closed")
    func closed() async throws {
        let end = Task<Bool, any Error> { true }
        await #expect(throws: OutputClosed.self) {
            try await withTimeout(TestTimeout.long, "the printing ends") {
                try await Output.run({ try await untilCancelled() }, until: end)
            }
        }
    }

    @Test("Output that has no reader to lose is printed to its end")
    func endless() async throws {
        let end = Task<Bool, any Error> { false }
        _ = await end.result
        let hasPrinted = Box(false)
        try await withTimeout(TestTimeout.long, "the printing ends") {
            try await Output.run({ hasPrinted.update { $0 = true } }, until: end)
        }
        #expect(hasPrinted.value)
    }

    @Test("The error that the printing throws is passed on")
    func failed() async throws {
        struct Failure: Error {}
        await #expect(throws: Failure.self) {
            try await Output(json: false).whileRead { throw Failure() }
        }
    }
}
