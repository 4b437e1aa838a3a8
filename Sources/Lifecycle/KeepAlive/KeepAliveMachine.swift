public import CoreAPI

/// The rules of the keep-alive: handlers that run once in each of their intervals, and the registrations that they
/// refresh.
///
/// A value without a clock: the time is passed with each call. ``step(at:)`` returns the work that is due now, and
/// ``nextStep`` the time of the next call. A handler's intervals are equal windows of time; it runs in the last part of
/// each, its slack, as soon as any handler must run, so that one wake serves several. After one or several missed
/// intervals the handler runs once, as soon as the machine runs again.
///
/// Source: contract P4, P5.
public struct KeepAliveMachine: Hashable, Sendable {
    /// The times.
    public let rules: KeepAliveRules
    package var handlers: [String: KeepAliveHandlerState] = [:]
    package var registrations: [String: KeepAliveRegistration] = [:]

    public init(rules: KeepAliveRules = KeepAliveRules()) {
        self.rules = rules
    }

    /// The names of the handlers, in order.
    public var handlerNames: [String] { handlers.keys.sorted() }

    /// Returns the latest time of a handler's next run; nil for an unknown handler.
    public func dueTime(of name: String) -> BootInstant? { handlers[name]?.latest }

    /// The handlers that run now, in the order of their names.
    public var running: [String] { handlerNames.filter { handlers[$0]?.run != nil } }

    /// Adds a handler, or changes the interval of one.
    ///
    /// Its first interval is shortened if that lets it run together with existing handlers. A handler that is added
    /// again with the same interval, as after a restart, keeps its position in the interval.
    ///
    /// - Throws: ``LifecycleError/Code/invalidInterval`` for less than 600 s, ``LifecycleError/Code/invalidName``.
    public mutating func add(
        handler name: String, every interval: Duration, at now: BootInstant
    ) throws(LifecycleError) {
        try KeepAliveName.check(name, of: "keep-alive handler")
        guard interval >= KeepAliveRules.minimumInterval, interval <= KeepAliveRules.maximumInterval else {
            throw LifecycleError(
                .invalidInterval,
                "A keep-alive interval has \(KeepAliveRules.minimumInterval) at least and"
                    + " \(KeepAliveRules.maximumInterval) at most; this one has \(interval).", at: name)
        }
        if handlers[name]?.window.interval == interval {
            handlers[name]?.isPresent = true
            return
        }
        let limit = now.advanced(by: interval)
        let ends = handlers.filter { $0.key != name }.values
            .compactMap { Self.lastEnd(of: $0.window, after: now, upTo: limit) }
        let window = KeepAliveWindow(endingAt: ends.max() ?? limit, interval: interval)
        handlers[name] = KeepAliveHandlerState(
            window: window, ranIn: window.number(at: now) - 1, run: handlers[name]?.run)
    }

    /// Removes a handler. A call that is under way is no longer watched.
    public mutating func remove(handler name: String) {
        handlers[name] = nil
    }

    /// Returns the directives that are due now, in order.
    public mutating func step(at now: BootInstant) -> [KeepAliveDirective] {
        var directives = watchRunning(at: now)
        let waiting = handlerNames.filter { name in
            handlers[name].map { $0.isPresent && $0.run == nil } ?? false
        }
        guard waiting.contains(where: { name in handlers[name].map { $0.latest <= now } ?? false }) else {
            return directives
        }
        for name in waiting {
            guard let handler = handlers[name],
                handler.slackBegins(of: handler.ranIn + 1, share: rules.slackShare) <= now
            else { continue }
            directives.append(.run(begin(name, handler, at: now)))
        }
        return directives
    }

    /// Notes that a handler has returned.
    ///
    /// - Returns: Whether it was in time; also false if it was cut off before.
    @discardableResult
    public mutating func finished(handler name: String, at now: BootInstant) -> Bool {
        guard let run = handlers[name]?.run else { return false }
        handlers[name]?.run = nil
        return now < run.endsAt
    }

    /// The time to call ``step(at:)`` if nothing happens before; nil if there is nothing to wait for.
    public var nextStep: BootInstant? {
        handlers.values.filter(\.isPresent).map { handler in
            guard let run = handler.run else { return handler.latest }
            return handler.isWarned ? run.endsAt : run.warnedAt
        }.min()
    }

    private mutating func begin(
        _ name: String, _ handler: KeepAliveHandlerState, at now: BootInstant
    ) -> KeepAliveRun {
        // The call counts for every interval that has ended, and for the present one if it comes in its slack.
        let present = handler.window.number(at: now)
        let due = handler.ranIn + 1
        let isInSlack = handler.slackBegins(of: present, share: rules.slackShare) <= now
        let stands = max(due, isInSlack ? present : present - 1)
        let split = proofs(for: handler.window.interval, at: now)
        let run = KeepAliveRun(
            handler: name, startedAt: now, warnedAt: now.advanced(by: rules.warning),
            endsAt: now.advanced(by: rules.budget), missed: Int(clamping: stands - due), toRefresh: split.toRefresh,
            provenAlive: split.provenAlive)
        handlers[name]?.ranIn = stands
        handlers[name]?.run = run
        handlers[name]?.isWarned = false
        return run
    }

    private mutating func watchRunning(at now: BootInstant) -> [KeepAliveDirective] {
        var directives: [KeepAliveDirective] = []
        for name in running {
            guard let handler = handlers[name], let run = handler.run else { continue }
            if !handler.isWarned, run.warnedAt <= now {
                handlers[name]?.isWarned = true
                directives.append(.warn(handler: name, endsAt: run.endsAt))
            }
            if run.endsAt <= now {
                handlers[name]?.run = nil
                directives.append(.cutOff(handler: name))
            }
        }
        return directives
    }

    /// Returns the last end of a window within a time; nil when none ends there.
    private static func lastEnd(
        of window: KeepAliveWindow, after now: BootInstant, upTo limit: BootInstant
    ) -> BootInstant? {
        let end = window.end(of: window.number(at: limit) - 1)
        return end > now && end <= limit ? end : nil
    }
}

/// A directive of the keep-alive that is due now.
///
/// Source: contract P4.
public enum KeepAliveDirective: Hashable, Sendable {
    /// Call a handler.
    case run(KeepAliveRun)
    /// Tell a handler that its time is nearly over.
    case warn(handler: String, endsAt: BootInstant)
    /// End a handler: its time is over.
    case cutOff(handler: String)
}

/// The times of the keep-alive.
///
/// Source: contract P4; Apple's `setKeepAliveTimeout(_:handler:)`, with a least interval of 600 s.
public struct KeepAliveRules: Hashable, Sendable {
    /// The shortest interval that is accepted.
    public static let minimumInterval = Duration.seconds(600)
    /// The longest interval that is accepted: a year.
    public static let maximumInterval = Duration.seconds(365 * 24 * 3600)

    /// The time that a handler may run. A handler that still runs then is cut off.
    public var budget: Duration
    /// The running time after which a handler is warned that its time is nearly over.
    public var warning: Duration
    /// A handler may run earlier by its interval divided by this number, so that it runs together with others.
    public var slackShare: Int
    /// The time for which inbound traffic proves that its registration's connection is alive.
    public var proofLifetime: Duration

    public init(
        budget: Duration = .seconds(10), warning: Duration = .seconds(8), slackShare: Int = 10,
        proofLifetime: Duration = .seconds(60)
    ) {
        self.budget = budget
        self.warning = min(warning, budget)
        self.slackShare = max(1, slackShare)
        self.proofLifetime = proofLifetime
    }
}

/// The rule for names of handlers and registrations.
enum KeepAliveName {
    static let maximumByteCount = 128

    static func check(_ name: String, of kind: String) throws(LifecycleError) {
        let bytes = name.utf8
        guard (1...maximumByteCount).contains(bytes.count), !bytes.contains(where: { $0 < 0x20 || $0 == 0x7f }) else {
            throw LifecycleError(
                .invalidName,
                "The name of a \(kind) has 1 to \(maximumByteCount) bytes and no control characters; this one has"
                    + " \(bytes.count).", at: String(name.prefix(32)))
        }
    }
}

extension KeepAliveMachine {
    /// The registrations that the keep-alive refreshes, in the order of their names.
    public var registrationNames: [String] { registrations.keys.sorted() }

    /// Returns the time at which a registration lapses unless it is refreshed; nil for an unknown registration.
    public func lapse(of name: String) -> BootInstant? { registrations[name]?.lapsesAt }

    /// Records that a registration was made or refreshed, and is valid for `lifetime` from now.
    ///
    /// - Throws: ``LifecycleError/Code/invalidName``; ``LifecycleError/Code/invalidLifetime`` if it is never valid.
    public mutating func registered(
        _ name: String, for lifetime: Duration, at now: BootInstant
    ) throws(LifecycleError) {
        try KeepAliveName.check(name, of: "registration")
        guard lifetime > .zero else {
            throw LifecycleError(
                .invalidLifetime, "A registration is valid for some time; this one for \(lifetime).", at: name)
        }
        registrations[name] = KeepAliveRegistration(
            lifetime: lifetime, lapsesAt: now.advanced(by: lifetime), provenAt: now)
    }

    /// Records that a registration was removed.
    public mutating func unregistered(_ name: String) {
        registrations[name] = nil
    }

    /// Records inbound traffic on a registration's connection, which proves that it is alive (contract P4).
    public mutating func traffic(on name: String, at now: BootInstant) {
        registrations[name]?.provenAt = now
    }

    /// Returns whether the registrations survive an interval without a refresh, and why not (contract P5). The answer
    /// changes with time, so call this before each sleep.
    public func prepareForBackground(interval: Duration, at now: BootInstant) -> BackgroundPreparation {
        let wake = now.advanced(by: interval)
        let obstacles = registrationNames.compactMap { name -> BackgroundBlocker? in
            guard let registration = registrations[name], registration.lapsesAt <= wake else { return nil }
            if registration.lifetime <= interval {
                return .tooShort(registration: name, lifetime: registration.lifetime, interval: interval)
            }
            guard registration.lapsesAt > now else { return .lapsed(registration: name) }
            return .lapses(registration: name, in: now.duration(to: registration.lapsesAt), interval: interval)
        }
        return obstacles.isEmpty ? .ready : .notReady(obstacles)
    }

    /// Returns the registrations that a handler must refresh, and those that were just proved alive.
    ///
    /// Traffic proves the connection, not the registration: one that would lapse before this handler runs again, which
    /// may be one interval and its slack later, is refreshed nevertheless.
    func proofs(for interval: Duration, at now: BootInstant) -> (toRefresh: [String], provenAlive: [String]) {
        let again = now.advanced(by: interval + interval / rules.slackShare + rules.budget)
        var toRefresh: [String] = []
        var provenAlive: [String] = []
        for name in registrationNames {
            guard let registration = registrations[name] else { continue }
            let isProven = registration.provenAt.map { now <= $0.advanced(by: rules.proofLifetime) } ?? false
            if isProven, registration.lapsesAt > again {
                provenAlive.append(name)
            } else {
                toRefresh.append(name)
            }
        }
        return (toRefresh, provenAlive)
    }
}

/// A registration that the keep-alive refreshes.
package struct KeepAliveRegistration: Hashable, Sendable {
    /// The time that it is valid when it is fresh.
    package var lifetime: Duration
    /// The time at which it lapses unless it is refreshed.
    package var lapsesAt: BootInstant
    /// The last time of traffic on its connection.
    package var provenAt: BootInstant?
}
