internal import SharedCoreConfiguration
internal import Testing

@testable internal import SharedCoreHost

@Suite("Durations in the configuration")
struct DurationTextTests {
    @Test(
        "A number with ms, s, m or h; a bare number means seconds",
        arguments: [
            ("250ms", Duration.milliseconds(250)), ("0s", .zero), ("5", .seconds(5)), ("5s", .seconds(5)),
            ("1.5s", .milliseconds(1500)), ("2m", .seconds(120)), ("1h", .seconds(3600)), ("0.5ms", .microseconds(500)),
        ])
    func reads(text: String, duration: Duration) {
        #expect(DurationText.parse(text) == duration)
    }

    @Test(
        "Anything else is refused",
        arguments: [
            "", "s", "ms", "-1s", "+1s", "1 s", "1d", "1sec", ".5s", "5.s", "1..5s", "0x10", "1e3", "nan", "inf",
            "99999999999h", "٣s",
        ])
    func refuses(text: String) {
        #expect(DurationText.parse(text) == nil)
    }

    @Test("A written duration is read back as the same", arguments: [0, 1, 999, 1000, 1500, 60_000, 90_000, 7_200_000])
    func writes(milliseconds: Int) {
        let duration = Duration.milliseconds(milliseconds)
        #expect(DurationText.parse(DurationText.write(duration)) == duration)
    }
}
