import CoreAPI
import Testing

@testable import Coordination

/// One call's wait, step by step.
struct MessageWaitTests {
    private let start = BootInstant(nanoseconds: 1_000_000_000)

    private func after(_ milliseconds: Int) -> BootInstant { start.advanced(by: .milliseconds(milliseconds)) }

    private func wait() -> MessageWait {
        MessageWait(deadline: after(10_000), lookInterval: .milliseconds(250))
    }

    @Test("C10: what is there is taken, and what is known already is no wait")
    func thereAlready() throws {
        let message = try InboxMessage.text("a")
        #expect(wait().step(.stored(message), at: start) == .take)
        #expect(wait().step(.acknowledged, at: start) == .nothingToShow)
        #expect(wait().step(.nothingToShow, at: start) == .nothingToShow)
    }

    @Test("C8, C13: it lets others know, looks by itself every 250 ms, and asks for a core only for what is not there")
    func waiting() {
        var wait = wait()
        #expect(wait.step(.absent, at: start) == .expect)
        wait.isExpected = true
        #expect(wait.step(.absent, at: start) == .wait(until: after(250), needsCore: true))
        #expect(
            wait.step(.taken(by: SessionID(rawValue: 1)), at: start) == .wait(until: after(250), needsCore: false))
        #expect(wait.step(.absent, at: after(9900)) == .wait(until: after(10_000), needsCore: true))
    }

    @Test("C7: it ends exactly at its deadline; what comes with the deadline is taken")
    func deadline() throws {
        var wait = wait()
        wait.isExpected = true
        #expect(wait.step(.absent, at: after(10_000)) == .timeout)
        #expect(wait.step(.stored(try .text("a")), at: after(10_000)) == .take)
    }
}
