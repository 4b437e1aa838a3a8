public import CoreAPI

extension KeepAliveMachine {
    /// Returns the state to keep until the next process runs the machine.
    public func record(on boot: BootID) -> KeepAliveRecord {
        KeepAliveRecord(
            bootID: [boot.high, boot.low],
            handlers: handlerNames.compactMap { name in
                handlers[name].map { handler in
                    KeepAliveRecord.Handler(
                        name: name, interval: Int64(clamping: handler.window.interval.clampedNanoseconds),
                        origin: handler.window.origin,
                        ranIn: handler.run == nil ? handler.ranIn : handler.ranIn - 1)
                }
            },
            registrations: registrationNames.compactMap { name in
                registrations[name].map { registration in
                    KeepAliveRecord.Registration(
                        name: name, lifetime: Int64(clamping: registration.lifetime.clampedNanoseconds),
                        lapsesAt: registration.lapsesAt.nanoseconds, provenAt: registration.provenAt?.nanoseconds)
                }
            })
    }

    /// Restores the machine from a record. Calls that were due meanwhile are due now. After a reboot, the clock counts
    /// from zero again and all connections are lost, so every handler is due and every registration has lapsed. A
    /// handler is called after it was added again.
    ///
    /// - Throws: ``LifecycleError/Code/unreadableRecord``, ``LifecycleError/Code/invalidInterval``,
    ///   ``LifecycleError/Code/invalidName`` or ``LifecycleError/Code/invalidLifetime`` for an invalid record.
    public init(
        restoring record: KeepAliveRecord, rules: KeepAliveRules = KeepAliveRules(), on boot: BootID,
        at now: BootInstant
    ) throws(LifecycleError) {
        self.init(rules: rules)
        guard let kept = record.boot else {
            throw LifecycleError(.unreadableRecord, "A boot id has two words.", at: "keep-alive record")
        }
        for handler in record.handlers {
            let interval = Duration.nanoseconds(handler.interval)
            try add(handler: handler.name, every: interval, at: now)
            if kept == boot {
                var window = KeepAliveWindow(origin: handler.origin, interval: interval)
                // A window in the future is invalid, because no handler can have run in it, so limit it to the present
                // one.
                let ranIn = min(handler.ranIn, window.number(at: now))
                if handler.origin > Int64(clamping: now.nanoseconds) {
                    window = KeepAliveWindow(endingAt: now, interval: interval)
                }
                handlers[handler.name] = KeepAliveHandlerState(
                    window: window, ranIn: max(ranIn, -1), isPresent: false)
            } else {
                // The interval that ends now is due.
                let window = KeepAliveWindow(endingAt: now, interval: interval)
                handlers[handler.name] = KeepAliveHandlerState(window: window, ranIn: -1, isPresent: false)
            }
        }
        for registration in record.registrations {
            try registered(registration.name, for: .nanoseconds(registration.lifetime), at: now)
            let lapsesAt = kept == boot ? BootInstant(nanoseconds: registration.lapsesAt) : now
            registrations[registration.name]?.lapsesAt = min(
                lapsesAt, now.advanced(by: .nanoseconds(registration.lifetime)))
            registrations[registration.name]?.provenAt =
                kept == boot
                ? registration.provenAt.map { min(BootInstant(nanoseconds: $0), now) } : nil
        }
    }
}
