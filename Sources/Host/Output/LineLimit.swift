/// When a command that prints what comes has printed enough: after a number of lines, or a time.
struct LineLimit {
    private let count: Int?
    private let deadline: ContinuousClock.Instant?
    private let timer: Task<Void, any Error>?
    private var printed = 0

    /// - Parameter stop: Is called when the time is over, and ends what comes.
    init(count: Int?, timeout: Duration?, stop: @escaping @Sendable () -> Void) {
        self.count = count
        let deadline = timeout.map { ContinuousClock.now + $0 }
        self.deadline = deadline
        timer = deadline.map { deadline in
            Task {
                try await Task.sleep(until: deadline, clock: .continuous)
                stop()
            }
        }
    }

    /// Counts a line, and tells whether it was the last that is wanted.
    mutating func isReached() -> Bool {
        printed += 1
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
            guard count == nil, printed > 0 else { throw CommandFailure(.no, "timed out after \(printed) lines") }
        } else if let count {
            throw CommandFailure(.no, "interrupted after \(printed) of \(count) lines")
        }
    }
}
