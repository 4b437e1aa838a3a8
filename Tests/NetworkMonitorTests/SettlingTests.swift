internal import CoreAPI
internal import NetworkMonitor
internal import Testing

@Suite("A state is told when it has settled")
struct SettlingTests {
    private var settling = Settling("old", quiet: .milliseconds(250), longest: .seconds(1))

    private func at(_ milliseconds: UInt64) -> BootInstant {
        BootInstant(nanoseconds: milliseconds * 1_000_000)
    }

    @Test("After a quarter of a second of quiet, not before")
    mutating func quiet() {
        #expect(settling.deadline == nil)
        settling.move(to: "new", at: at(1000))
        #expect(settling.deadline == at(1250))
        #expect(settling.take(at: at(1249)) == nil)
        #expect(settling.take(at: at(1250)) == "new")
        #expect(settling.settled == "new" && settling.deadline == nil)
        #expect(settling.take(at: at(2000)) == nil, "once")
    }

    @Test("A value that changes again waits again, but no longer than a second in all")
    mutating func longest() {
        for time in stride(from: UInt64(1000), through: 1900, by: 100) {
            settling.move(to: "new \(time)", at: at(time))
            #expect(settling.take(at: at(time)) == nil)
        }
        #expect(settling.deadline == at(2000))
        #expect(settling.take(at: at(2000)) == "new 1900")
    }

    @Test("A report without a change does not prolong the wait")
    mutating func same() {
        settling.move(to: "new", at: at(1000))
        settling.move(to: "new", at: at(1200))
        #expect(settling.take(at: at(1250)) == "new")
    }

    @Test("A change that is undone within the quiet time is not reported")
    mutating func back() {
        settling.move(to: "new", at: at(1000))
        settling.move(to: "old", at: at(1100))
        #expect(settling.deadline == nil)
        #expect(settling.take(at: at(9000)) == nil)
    }
}
