public import CoreAPI

extension KeepAliveMachine {
    /// The registrations that are looked after, in the order of their names.
    public var registrationNames: [String] { registrations.keys.sorted() }

    /// When a registration lapses unless it is refreshed; nil for one that is not looked after.
    public func lapse(of name: String) -> BootInstant? { registrations[name]?.lapsesAt }

    /// Takes note that a registration was made or refreshed, and is valid for `lifetime` from now.
    ///
    /// - Throws: ``LifecycleError/Code/invalidName``; ``LifecycleError/Code/invalidLifetime`` when it is never valid.
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

    /// Takes note that a registration is there no more.
    public mutating func unregistered(_ name: String) {
        registrations[name] = nil
    }

    /// Takes note that something came in over a registration's connection: it lives (contract P4).
    public mutating func traffic(on name: String, at now: BootInstant) {
        registrations[name]?.provenAt = now
    }

    /// Whether the registrations survive an interval without a refresh, and why not (contract P5). Ask every time.
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

    /// What a handler is to refresh, and what has just been proved alive.
    ///
    /// Traffic proves the connection, not the registration: one that would lapse before this handler comes again, which
    /// may be one interval and its slack later, is refreshed all the same.
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

/// A registration that the keep-alive looks after.
package struct KeepAliveRegistration: Hashable, Sendable {
    /// How long it is valid when it is fresh.
    package var lifetime: Duration
    /// When it lapses unless it is refreshed.
    package var lapsesAt: BootInstant
    /// When traffic came on its connection last.
    package var provenAt: BootInstant?
}
