internal import ProgramOutput

/// One line of standard error that says how far a soak is. For terminals only.
struct SoakProgress: Sendable {
    let minutes: Double
    private let clock = ContinuousClock()
    private let begin = ContinuousClock().now

    init(minutes: Double) {
        self.minutes = minutes
    }

    func show(_ count: SoakCount) {
        let percent = min(100, Int(begin.duration(to: clock.now) / .seconds(minutes * 60) * 100))
        write("\r\u{1b}[K\(percent) %: \(count)")
    }

    func clear() { write("\r\u{1b}[K") }

    private func write(_ text: String) {
        // There is nobody left to tell when this fails.
        try? StandardStream.error.write(Array(text.utf8))
    }
}
