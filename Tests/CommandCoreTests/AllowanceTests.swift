internal import CoreAPI
internal import Testing

@testable internal import CommandCore

@Suite("How often something may be")
struct AllowanceTests {
    @Test("So many times at once, and then once in each interval, however long nothing was")
    func paced() {
        func at(_ milliseconds: UInt64) -> BootInstant { BootInstant(nanoseconds: milliseconds * 1_000_000) }
        var allowance = Allowance(3, then: .seconds(1), at: at(0))
        let taken = [0, 0, 0, 0, 999, 1000, 1001, 2500, 2999, 3000, 60_000, 60_000, 60_000, 60_000, 61_000].map {
            allowance.take(at: at($0))
        }
        #expect(
            taken == [
                true, true, true, false, false, true, false, true, false, true, true, true, true, false, true,
            ])
    }
}
