internal import CoreAPI
internal import ProgramOutput

/// The limit of a command that prints lines as they come: a number of lines or posts, or a time.
struct LineLimit {
    private let count: UInt64?
    private let unit: String
    private let deadline: CommandDeadline
    private let timer: Task<Void, any Error>?
    private var printed: UInt64 = 0

    /// Begins to count lines, and to wait for the deadline.
    ///
    /// - Parameters:
    ///   - unit: The unit of the count in the singular, for messages.
    ///   - stop: Called at the end of the time; it must end the source of the lines.
    init(
        count: UInt64?, of unit: String = "line", until deadline: CommandDeadline,
        stop: @escaping @Sendable () -> Void
    ) {
        self.count = count
        self.unit = unit
        self.deadline = deadline
        timer = deadline.instant.map { instant in
            Task {
                try await deadline.clock.sleep(until: instant)
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

    /// Checks at the end of the input whether the requested lines came.
    ///
    /// - Throws: A failure with status 1 if too few came.
    func judge() throws(CommandFailure) {
        if deadline.isOver {
            guard count == nil, printed > 0 else {
                throw CommandFailure(.no, "timed out after \(Int(clamping: printed).counting(unit))")
            }
        } else if let count {
            throw CommandFailure(.no, "interrupted after \(printed) of \(Int(clamping: count).counting(unit))")
        }
    }
}

/// The time that a command has by its `--timeout`, from its start: opening the group is part of it.
struct CommandDeadline: Sendable {
    let clock: any TimeSource
    /// Nil without a limit.
    let instant: BootInstant?

    init(after timeout: Duration?, by clock: any TimeSource) {
        self.clock = clock
        instant = timeout.map { clock.now().advanced(by: $0) }
    }

    /// The remaining time; nil without a limit.
    var left: Duration? { instant.map { clock.now().duration(to: $0) } }

    var isOver: Bool { left == .zero }
}
