internal import ProgramOutput

/// The limit of a command that prints lines as they come: a number of lines or posts, or a time.
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

    /// Counts the printed lines, and returns whether the limit is reached.
    mutating func isReached(with more: UInt64 = 1) -> Bool {
        printed += more
        return count.map { printed >= $0 } ?? false
    }

    func end() {
        timer?.cancel()
    }

    /// Evaluates the end of the input.
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
