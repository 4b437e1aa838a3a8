internal import ProgramOutput

/// When a command that prints what comes has printed enough: after a number of lines or posts, or a time.
struct LineLimit {
    private let count: UInt64?
    private let unit: String
    private let deadline: ContinuousClock.Instant?
    private let timer: Task<Void, any Error>?
    private var printed: UInt64 = 0

    /// - Parameters:
    ///   - unit: The unit of the count, for messages.
    ///   - stop: Called when the time is over; it ends the source of the lines.
    init(count: UInt64?, of unit: String = "lines", timeout: Duration?, stop: @escaping @Sendable () -> Void) {
        self.count = count
        self.unit = unit
        let deadline = timeout.map { ContinuousClock.now + $0 }
        self.deadline = deadline
        timer = deadline.map { deadline in
            Task {
                try await Task.sleep(until: deadline, clock: .continuous)
                stop()
            }
        }
    }

    /// Counts what was printed, and tells whether that is all that is wanted.
    mutating func isReached(with more: UInt64 = 1) -> Bool {
        printed += more
        return count.map { printed >= $0 } ?? false
    }

    func end() {
        timer?.cancel()
    }

    /// Judges the end of what came.
    ///
    /// - Throws: With status 1 when less has come than was wanted.
    func judge() throws(CommandFailure) {
        if let deadline, ContinuousClock.now >= deadline {
            guard count == nil, printed > 0 else { throw CommandFailure(.no, "timed out after \(printed) \(unit)") }
        } else if let count {
            throw CommandFailure(.no, "interrupted after \(printed) of \(count) \(unit)")
        }
    }
}
