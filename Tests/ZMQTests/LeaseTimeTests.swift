internal import CoreAPI
internal import Testing

@testable import ZMQBackend

@Suite("L1: leases count the hub's running time")
struct LeaseTimeTests {
    private func instant(_ milliseconds: Int64) -> BootInstant {
        BootInstant(nanoseconds: 0).advanced(by: .milliseconds(milliseconds))
    }

    @Test("what passes in looks that follow each other is counted whole")
    func whole() {
        var time = LeaseTime(from: instant(1_000))
        #expect(time.count(at: instant(1_100)) == nil)
        #expect(time.count(at: instant(1_249)) == nil)
        #expect(time.count(at: instant(1_250)) == .milliseconds(250))
        #expect(time.count(at: instant(1_300)) == nil)
        #expect(time.count(at: instant(1_650)) == .milliseconds(400))
        #expect(time.count(at: instant(2_150)) == .milliseconds(500))
    }

    @Test("a stop counts as one look, however long it was", arguments: [501, 3_000, 3_600_000] as [Int64])
    func stop(milliseconds: Int64) {
        var time = LeaseTime(from: instant(0))
        #expect(time.count(at: instant(milliseconds)) == .milliseconds(500))
        #expect(time.count(at: instant(milliseconds + 250)) == .milliseconds(250))
    }
}
