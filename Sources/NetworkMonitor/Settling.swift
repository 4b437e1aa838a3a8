package import CoreAPI

/// Lets a value through when it has stood still for a while, or when it has moved for too long.
package struct Settling<Value: Equatable & Sendable>: Sendable {
    private struct Pending {
        var value: Value
        let since: BootInstant
        var quiet: BootInstant
    }

    private let quiet: Duration
    private let longest: Duration
    /// The value that was let through last.
    package private(set) var settled: Value
    private var pending: Pending?

    /// - Parameters:
    ///   - quiet: How long a value must stand still.
    ///   - longest: After which time without quiet it is let through all the same.
    package init(_ value: Value, quiet: Duration, longest: Duration) {
        settled = value
        self.quiet = quiet
        self.longest = longest
    }

    /// When to ask again with ``take(at:)``; nil while nothing has moved.
    package var deadline: BootInstant? {
        pending.map { min($0.quiet, $0.since.advanced(by: longest)) }
    }

    /// The value is this now. One that is back where it was has not moved at all.
    package mutating func move(to value: Value, at now: BootInstant) {
        if value == settled {
            pending = nil
        } else if pending?.value != value {
            pending = Pending(value: value, since: pending?.since ?? now, quiet: now.advanced(by: quiet))
        }
    }

    /// The value that has settled since, if one has.
    package mutating func take(at now: BootInstant) -> Value? {
        guard let pending, let deadline, deadline <= now else { return nil }
        self.pending = nil
        settled = pending.value
        return settled
    }
}
