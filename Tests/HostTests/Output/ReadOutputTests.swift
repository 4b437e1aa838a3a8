internal import CoreAPITesting
internal import Testing

@testable internal import sharedcore

@Suite("Printing for as long as somebody reads")
struct ReadOutputTests {
    @Test("When it is cancelled, what becomes of the printing counts, however long that takes to end")
    func cancelled() async throws {
        let begun = Latch()
        let mayEnd = Latch()
        let printing = Task {
            try await Output(json: false).whileRead {
                begun.open()
                await mayEnd.pass()
            }
        }
        await begun.pass()
        printing.cancel()
        // Whoever listens for the readers has heard of it long before.
        for _ in 0..<10_000 { await Task.yield() }
        mayEnd.open()
        try await within(Patience.long, "the printing ends") { try await printing.value }
    }

    @Test("What the printing throws is thrown")
    func failed() async throws {
        struct Failure: Error {}
        await #expect(throws: Failure.self) {
            try await Output(json: false).whileRead { throw Failure() }
        }
    }
}
