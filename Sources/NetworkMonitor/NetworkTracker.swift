package import CoreAPI
package import Platform

/// Follows the kernel's reports as a pure value: it maps messages and the time to requests and states.
///
/// Reports are hints; only the kernel's answer to a request is complete. It requests everything at the start, after
/// lost reports, and after each change with which the kernel may have removed more than it reports.
package struct NetworkTracker: Sendable {
    package enum Directive: Hashable, Sendable {
        /// Request all objects of a kind from the kernel.
        case ask(RouteSocket.Kind, sequence: UInt32)
        /// Report this state. The first one comes at the end of the first answer.
        case tell(NetworkState)
        /// End: the kernel does not provide the data, with this error number.
        case giveUp(Int32)
    }

    /// An answer that is being received.
    private struct Asking {
        var kind: RouteSocket.Kind
        var sequence: UInt32
        /// The time limit of the answer.
        var limit: BootInstant
        var picture = NetworkPicture()
        var isInterrupted = false
    }

    private enum Phase {
        case standing
        case asking(Asking)
        case pausing(until: BootInstant)
    }

    /// The delays and time limits of the tracker.
    package struct Times: Hashable, Sendable {
        /// How long a state must not change before it is reported.
        package var quiet = Duration.milliseconds(250)
        /// The time after which a changing state is reported anyway.
        package var longest = Duration.seconds(1)
        /// Between the end of one answer and the next request.
        package var pause = Duration.milliseconds(100)
        /// The time limit of an answer.
        package var timeout = Duration.seconds(5)

        package init() {}
    }

    private let times: Times
    private var phase = Phase.standing
    private var picture = NetworkPicture()
    private var settling: Settling<NetworkState>?
    private var mustAskAgain = false
    private var lastSequence: UInt32 = 0
    /// The number of times that reports were lost.
    package private(set) var losses = 0

    package init(times: Times = Times()) {
        self.times = times
    }

    /// The time to call ``timePassed(at:)``; nil while only the kernel can bring updates.
    package var deadline: BootInstant? {
        let next: BootInstant? =
            switch phase {
            case .standing: nil
            case .asking(let asking): asking.limit
            case .pausing(let until): until
            }
        return [next, settling?.deadline].compactMap { $0 }.min()
    }

    /// Begins to follow. The socket must receive changes already.
    package mutating func start(at now: BootInstant) -> [Directive] {
        [ask(for: .links, Asking(kind: .links, sequence: 0, limit: now), at: now)]
    }

    /// Handles a message.
    package mutating func receive(_ message: RouteMessage, at now: BootInstant) -> [Directive] {
        guard let sequence = message.answers else {
            switch message.content {
            case .changes(let changes): apply(changes, at: now)
            case .lost: lose(at: now)
            case .ended, .refused: break
            }
            return told(at: now)
        }
        // An answer to an earlier request is ignored.
        guard case .asking(var asking) = phase, asking.sequence == sequence else { return [] }
        asking.isInterrupted = asking.isInterrupted || message.isInterrupted
        switch message.content {
        case .changes(let changes):
            for change in changes { _ = asking.picture.apply(change) }
            phase = .asking(asking)
        case .lost:
            phase = .asking(asking)
            lose(at: now)
        case .refused(let number):
            // If the first request is refused, this process may not read the data, so give up. A later refusal is
            // temporary.
            guard settling != nil else { return [.giveUp(number)] }
            mustAskAgain = true
            phase = .pausing(until: now.advanced(by: times.timeout))
        case .ended:
            return end(asking, at: now) + told(at: now)
        }
        return told(at: now)
    }

    /// Records that the kernel dropped reports. Returns the directives that follow, such as to read everything again.
    package mutating func overflow(at now: BootInstant) -> [Directive] {
        lose(at: now)
        return told(at: now)
    }

    /// Performs the steps that are due.
    package mutating func timePassed(at now: BootInstant) -> [Directive] {
        var directives = told(at: now)
        switch phase {
        case .standing: break
        case .asking(let asking):
            if asking.limit <= now { directives += start(at: now) }
        case .pausing(let until):
            if until <= now {
                phase = .standing
                if mustAskAgain { directives += start(at: now) }
            }
        }
        return directives
    }

    private mutating func lose(at now: BootInstant) {
        losses += 1
        askAgain(at: now)
    }

    private mutating func askAgain(at now: BootInstant) {
        mustAskAgain = true
        // A pending request may have been answered in part. The next one begins after its end and a pause.
        if case .standing = phase { phase = .pausing(until: now) }
    }

    private mutating func apply(_ changes: [NetworkChange], at now: BootInstant) {
        var mayBeMore = false
        for change in changes where picture.apply(change) { mayBeMore = true }
        if case .asking(var asking) = phase {
            for change in changes where asking.picture.apply(change) { mayBeMore = true }
            phase = .asking(asking)
        }
        settling?.move(to: picture.state, at: now)
        if mayBeMore { askAgain(at: now) }
    }

    private mutating func ask(for kind: RouteSocket.Kind, _ asking: Asking, at now: BootInstant) -> Directive {
        if kind == .links { mustAskAgain = false }
        lastSequence = lastSequence == .max ? 1 : lastSequence + 1
        var asking = asking
        asking.kind = kind
        asking.sequence = lastSequence
        asking.limit = now.advanced(by: times.timeout)
        phase = .asking(asking)
        return .ask(kind, sequence: lastSequence)
    }

    private mutating func end(_ asking: Asking, at now: BootInstant) -> [Directive] {
        switch asking.kind {
        case .links: return [ask(for: .addresses, asking, at: now)]
        case .addresses: return [ask(for: .routes, asking, at: now)]
        case .routes: break
        }
        if asking.isInterrupted { mustAskAgain = true }
        phase = .pausing(until: now.advanced(by: times.pause))
        picture = asking.picture
        if settling != nil {
            settling?.move(to: picture.state, at: now)
            return []
        }
        settling = Settling(picture.state, quiet: times.quiet, longest: times.longest)
        return [.tell(picture.state)]
    }

    private mutating func told(at now: BootInstant) -> [Directive] {
        settling?.take(at: now).map { [.tell($0)] } ?? []
    }
}

/// Reports a value once it has not changed for a while, or has been changing for too long.
package struct Settling<Value: Equatable & Sendable>: Sendable {
    private struct Pending {
        var value: Value
        let since: BootInstant
        var quiet: BootInstant
    }

    private let quiet: Duration
    private let longest: Duration
    /// The last reported value.
    package private(set) var settled: Value
    private var pending: Pending?

    /// Makes a settled value.
    ///
    /// - Parameters:
    ///   - quiet: How long a value must not change.
    ///   - longest: The time after which a changing value is reported anyway.
    package init(_ value: Value, quiet: Duration, longest: Duration) {
        settled = value
        self.quiet = quiet
        self.longest = longest
    }

    /// When to call ``take(at:)``; nil if there is nothing to report.
    package var deadline: BootInstant? {
        pending.map { min($0.quiet, $0.since.advanced(by: longest)) }
    }

    /// Sets the value. If it equals the last reported value again, there is nothing to report.
    package mutating func move(to value: Value, at now: BootInstant) {
        if value == settled {
            pending = nil
        } else if pending?.value != value {
            pending = Pending(value: value, since: pending?.since ?? now, quiet: now.advanced(by: quiet))
        }
    }

    /// Returns the value that has settled since, if one has.
    package mutating func take(at now: BootInstant) -> Value? {
        guard let pending, let deadline, deadline <= now else { return nil }
        self.pending = nil
        settled = pending.value
        return settled
    }
}
