public import CoreAPI

/// Runs a ``KeepAliveMachine``: calls the handlers when they are due, warns them when their time is nearly over, and
/// ends them when it is over.
///
/// ```swift
/// let keepAlive = try KeepAlive(restoring: saved, clock: SystemClock(), save: { keep($0.bytes) })
/// try await keepAlive.add("registration", every: .seconds(600), handler: refresher)
/// await keepAlive.prepareForBackground(interval: .seconds(600))
/// ```
///
/// Swift cannot stop a task by force. A handler is cancelled when its time has passed, and the keep-alive no longer
/// waits for it. Only the host can kill the process.
///
/// Source: contract P4, P5.
public actor KeepAlive {
    private let clock: any TimeSource
    private let save: (@Sendable (KeepAliveRecord) -> Void)?
    private let report: (@Sendable (KeepAliveReport) -> Void)?
    private var machine: KeepAliveMachine
    private var handlers: [String: any KeepAliveHandler] = [:]
    private var calls: [String: Call] = [:]
    private var lastCall: UInt64 = 0
    private var alarm: (at: BootInstant, task: Task<Void, Never>)?
    private var isClosed = false

    private struct Call {
        let number: UInt64
        let run: KeepAliveRun
        let task: Task<Void, Never>
    }

    /// Makes a keep-alive, which calls the handlers that are added to it.
    ///
    /// - Parameters:
    ///   - record: The record of an earlier keep-alive. Its handlers are called after they were added again, at once if
    ///     they are due.
    ///   - rules: The budget of a call, its warning, and the other options.
    ///   - clock: The clock of the intervals.
    ///   - save: Called with the record to keep at every change, in order; traffic is no change. Must return at once.
    ///   - report: Called with the report of each call. Must return at once.
    /// - Throws: ``LifecycleError`` for an invalid record.
    public init(
        restoring record: KeepAliveRecord? = nil, rules: KeepAliveRules = KeepAliveRules(), clock: any TimeSource,
        save: (@Sendable (KeepAliveRecord) -> Void)? = nil, report: (@Sendable (KeepAliveReport) -> Void)? = nil
    ) throws(LifecycleError) {
        self.clock = clock
        self.save = save
        self.report = report
        if let record {
            machine = try KeepAliveMachine(restoring: record, rules: rules, on: clock.bootID, at: clock.now())
        } else {
            machine = KeepAliveMachine(rules: rules)
        }
    }

    deinit {
        alarm?.task.cancel()
        for call in calls.values { call.task.cancel() }
    }

    /// Adds a handler, or replaces the one of the same name.
    ///
    /// - Throws: ``LifecycleError/Code/invalidInterval`` for less than 600 s, ``LifecycleError/Code/invalidName``,
    ///   ``LifecycleError/Code/closed``.
    public func add(
        _ name: String, every interval: Duration, handler: any KeepAliveHandler
    ) throws(LifecycleError) {
        guard !isClosed else { throw LifecycleError(.closed, "The keep-alive was closed.", at: name) }
        try machine.add(handler: name, every: interval, at: clock.now())
        handlers[name] = handler
        changed()
    }

    /// Removes a handler. A call that is under way is cancelled.
    public func remove(_ name: String) {
        machine.remove(handler: name)
        handlers[name] = nil
        calls.removeValue(forKey: name)?.task.cancel()
        changed()
    }

    /// Records that a registration was made or refreshed, and is valid for `lifetime` from now.
    ///
    /// - Throws: ``LifecycleError/Code/invalidName`` or ``LifecycleError/Code/invalidLifetime``.
    public func registered(_ name: String, for lifetime: Duration) throws(LifecycleError) {
        try machine.registered(name, for: lifetime, at: clock.now())
        changed()
    }

    /// Records that a registration was removed.
    public func unregistered(_ name: String) {
        machine.unregistered(name)
        changed()
    }

    /// Records inbound traffic on a registration's connection, which proves that it is alive.
    public func traffic(on name: String) {
        machine.traffic(on: name, at: clock.now())
    }

    /// Returns whether the registrations survive an interval without a refresh, and why not (contract P5). The answer
    /// changes with time, so call this before each sleep.
    public func prepareForBackground(interval: Duration) -> BackgroundPreparation {
        machine.prepareForBackground(interval: interval, at: clock.now())
    }

    /// The state to keep until the next process runs it.
    public var record: KeepAliveRecord { machine.record(on: clock.bootID) }

    /// Closes the keep-alive: no handler is called any more, and the current call is cancelled. Idempotent.
    public func close() {
        isClosed = true
        alarm?.task.cancel()
        alarm = nil
        for call in calls.values { call.task.cancel() }
        calls = [:]
    }

    private func changed() {
        guard !isClosed else { return }
        advance()
        save?(record)
    }

    private func advance() {
        for directive in machine.step(at: clock.now()) {
            switch directive {
            case .run(let run): begin(run)
            case .warn(let name, _):
                if let call = calls[name] { handlers[name]?.timeIsNearlyOver(call.run) }
            case .cutOff(let name):
                guard let call = calls.removeValue(forKey: name) else { continue }
                call.task.cancel()
                report?(KeepAliveReport(run: call.run, outcome: .cutOff))
            }
        }
        setAlarm()
    }

    private func begin(_ run: KeepAliveRun) {
        guard let handler = handlers[run.handler] else { return }
        lastCall += 1
        let number = lastCall
        let task = Task { [weak self] in
            var failure: String?
            do {
                try await handler.keepAlive(run)
            } catch {
                failure = String(describing: error)
            }
            await self?.ended(run.handler, number, failure)
        }
        calls[run.handler] = Call(number: number, run: run, task: task)
    }

    private func ended(_ name: String, _ number: UInt64, _ failure: String?) {
        // A call that was cut off or replaced is no longer awaited.
        guard let call = calls[name], call.number == number else { return }
        let isInTime = machine.finished(handler: name, at: clock.now())
        calls[name] = nil
        let outcome: KeepAliveReport.Outcome = isInTime ? failure.map { .failed($0) } ?? .finished : .cutOff
        report?(KeepAliveReport(run: call.run, outcome: outcome))
        changed()
    }

    private func setAlarm() {
        let next = machine.nextStep
        guard alarm?.at != next else { return }
        alarm?.task.cancel()
        alarm = next.map { next in
            let clock = clock
            let task = Task { [weak self] in
                do { try await clock.sleep(until: next) } catch { return }
                await self?.rang(at: next)
            }
            return (next, task)
        }
    }

    private func rang(at instant: BootInstant) {
        guard !isClosed, alarm?.at == instant else { return }
        alarm = nil
        changed()
    }
}
