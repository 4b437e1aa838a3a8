internal import CoreAPI
internal import Testing

@Suite("S8: time is counted in nanoseconds of a run, without overflow")
struct TimeTests {
    @Test("S8: durations of every size fit or are cut at the ends")
    func durationsAreClamped() {
        #expect(Duration.seconds(1).clampedNanoseconds == 1_000_000_000)
        #expect((Duration.seconds(1) + .nanoseconds(1)).clampedNanoseconds == 1_000_000_001)
        #expect(Duration.zero.clampedNanoseconds == 0)
        #expect(Duration.seconds(-5).clampedNanoseconds == 0)
        #expect(Duration.nanoseconds(-1).clampedNanoseconds == 0)
        #expect(Duration.seconds(Int64.max).clampedNanoseconds == .max)
        #expect(Duration.seconds(18_446_744_073).clampedNanoseconds == 18_446_744_073_000_000_000)
        #expect(Duration.seconds(18_446_744_074).clampedNanoseconds == .max)
        // Parts of a nanosecond are cut, so that no duration is reported as longer than it is.
        #expect(Duration(secondsComponent: 0, attosecondsComponent: 999_999_999).clampedNanoseconds == 0)
    }

    @Test("S8: instants move forward, and no sum goes around")
    func instantsDoNotOverflow() {
        let early = BootInstant(nanoseconds: 10)
        #expect(early.advanced(by: .nanoseconds(5)) == BootInstant(nanoseconds: 15))
        #expect(early.advanced(by: .seconds(-5)) == early)
        #expect(BootInstant(nanoseconds: .max).advanced(by: .seconds(1)) == BootInstant(nanoseconds: .max))
        #expect(early.advanced(by: .seconds(Int64.max)) == BootInstant(nanoseconds: .max))
        #expect(early.duration(to: BootInstant(nanoseconds: 15)) == .nanoseconds(5))
        #expect(BootInstant(nanoseconds: 15).duration(to: early) == .zero)
        #expect(BootInstant(nanoseconds: 0).duration(to: BootInstant(nanoseconds: .max)) == .nanoseconds(Int64.max))
        #expect(early < BootInstant(nanoseconds: 11))
    }

    @Test("A boot id is written with all its digits")
    func bootIDIsWrittenInFull() {
        #expect(BootID(high: 0xa, low: 0x1).description == "000000000000000a0000000000000001")
    }
}
