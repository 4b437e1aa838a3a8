public import CoreAPI

/// Limits the time and the memory of one Executor. A value without I/O: it maps events and the time to directives.
///
/// The Executor is warned once when its time is nearly over, and killed when it is over; it is killed at once if it
/// exceeds its memory limit. When its host stops, it is warned at once, and has the usual time after a warning, but not
/// more than is left of its own time. While its core has an open activity, its time is extended. It is warned when the
/// activity ends.
///
/// Source: contract P11, C17.
public struct ExecutorBudget: Sendable {
    /// The kind of event.
    public enum Event: Hashable, Sendable {
        /// Time has passed.
        case time
        /// The Executor has this much private memory, in bytes.
        case memory(UInt64)
        /// The core of the Executor is busy until this moment at most; nil if it is no longer busy.
        case busy(until: BootInstant?)
        /// The host of the Executor stops.
        case stop
    }

    /// The action that the budget demands.
    public enum Directive: Hashable, Sendable {
        /// Ask it to end.
        case warn(BudgetReason)
        /// End it.
        case kill(BudgetReason)
    }

    /// The limits of the Executor.
    public let limits: ExecutorLimits
    /// The reason why it was asked to end; nil if it was not.
    public private(set) var warning: BudgetReason?
    /// The reason why it was killed; nil if it was not.
    public private(set) var killing: BudgetReason?

    private let start: BootInstant
    private var warningAt: BootInstant
    private var killingAt: BootInstant
    private var killingReason = BudgetReason.time

    public init(_ limits: ExecutorLimits, startedAt start: BootInstant) {
        self.limits = limits
        self.start = start
        warningAt = start.advanced(by: limits.warning)
        killingAt = start.advanced(by: limits.budget)
    }

    /// The time of the next directive if nothing else happens; nil if there is none.
    public var next: BootInstant? {
        guard killing == nil else { return nil }
        return warning == nil ? min(warningAt, killingAt) : killingAt
    }

    /// Handles an event, and returns the directives, in order.
    public mutating func handle(_ event: Event, at now: BootInstant) -> [Directive] {
        guard killing == nil else { return [] }
        var directives: [Directive] = []
        switch event {
        case .time: break
        case .memory(let count):
            guard let limit = limits.memory, count > limit else { break }
            killing = .memory(count)
            return [.kill(.memory(count))]
        case .busy(let until):
            // After a warning, no more time is granted.
            guard warning == nil else { break }
            warningAt = max(start.advanced(by: limits.warning), until ?? now)
            killingAt = max(start.advanced(by: limits.budget), warningAt.advanced(by: limits.grace))
        case .stop:
            let end = now.advanced(by: limits.grace)
            if end < killingAt {
                killingAt = end
                killingReason = .stop
            }
            if warning == nil {
                warning = .stop
                directives.append(.warn(.stop))
            }
        }
        if warning == nil, now >= warningAt {
            warning = .time
            directives.append(.warn(.time))
        }
        if now >= killingAt {
            killing = killingReason
            directives.append(.kill(killingReason))
        }
        return directives
    }
}

/// The limits of an Executor.
///
/// Source: contract P11; the numbers are those of a notification extension of iOS.
public struct ExecutorLimits: Hashable, Sendable {
    /// The running time before the warning that its time is nearly over.
    public let warning: Duration
    /// The time that it runs before it is killed.
    public let budget: Duration
    /// The maximum private memory of an Executor, in bytes; nil for no limit.
    public let memory: UInt64?

    /// Makes the limits of an Executor; by default those of iOS.
    ///
    /// - Parameters:
    ///   - warning: The running time before it is warned; at most `budget`.
    ///   - budget: The time that it runs before it is killed.
    ///   - memory: The maximum private memory of an Executor, in bytes; nil for no limit.
    public init(
        warning: Duration = .seconds(25), budget: Duration = .seconds(30), memory: UInt64? = 24 << 20
    ) {
        self.warning = min(warning, budget)
        self.budget = budget
        self.memory = memory
    }

    /// The time from the warning to the kill.
    public var grace: Duration { budget - warning }
}

/// The reason why an Executor is warned or killed.
public enum BudgetReason: Hashable, Sendable, CustomStringConvertible {
    /// The time of the Executor is over, or nearly.
    case time
    /// The Executor exceeds its memory limit, with this much in bytes.
    case memory(UInt64)
    /// The host of the Executor ends.
    case stop

    /// One word, for programs.
    public var word: String {
        switch self {
        case .time: "time"
        case .memory: "memory"
        case .stop: "stop"
        }
    }

    public var description: String {
        switch self {
        case .time: "its time was over"
        case .memory(let count): "it had \((count + (1 << 20) - 1) >> 20) MiB of memory"
        case .stop: "the host stopped"
        }
    }
}
