public import CoreAPI

/// Runs a ``ConnectivityMachine``: passes the events to it and has its actions carried out, one at a time, in order.
///
/// ```swift
/// let runner = ConnectivityRunner(ConnectivityMachine(seed: .random(in: .min ... .max)), delegate: telephone,
///                                 clock: SystemClock()) { transition in log("\(transition)") }
/// await runner.handle(.networkBack)
/// ```
///
/// An action that no longer applies is cancelled. The next one waits for its end, but at most a second: an action that
/// ignores its cancellation is abandoned and listed in ``abandoned``.
///
/// Source: contract P2.
public actor ConnectivityRunner {
    /// The time to wait for a cancelled action.
    static let timeout = Duration.seconds(1)

    private let delegate: any ConnectivityDelegate
    private let clock: any TimeSource
    private let onTransition: (@Sendable (ConnectivityTransition) -> Void)?
    private let traceCapacity: Int
    private var machine: ConnectivityMachine
    private var underWay: UnderWay?
    private var alarm: (at: BootInstant, task: Task<Void, Never>)?
    private var waiting: [UInt64: CheckedContinuation<Void, Never>] = [:]
    private var lastWaiting: UInt64 = 0
    private var isClosed = false

    /// The last transitions, the oldest first.
    public private(set) var trace: [ConnectivityTransition] = []
    /// The last actions that were cancelled and did not end, the oldest first; as many as ``trace`` keeps transitions.
    public private(set) var abandoned: [OrderedAction] = []

    private struct UnderWay {
        let action: OrderedAction
        let task: Task<Void, Never>
        var timeout: Task<Void, Never>?
    }

    /// Makes a runner, which waits for the first event.
    ///
    /// - Parameters:
    ///   - machine: The machine in its initial state.
    ///   - delegate: The delegate that carries out the actions.
    ///   - clock: The clock of the delays.
    ///   - traceCapacity: The number of transitions that ``trace`` keeps, and of actions that ``abandoned`` keeps.
    ///   - onTransition: Called with each transition, in order, including failures. Must return at once.
    public init(
        _ machine: ConnectivityMachine, delegate: any ConnectivityDelegate, clock: any TimeSource,
        traceCapacity: Int = 256, onTransition: (@Sendable (ConnectivityTransition) -> Void)? = nil
    ) {
        self.machine = machine
        self.delegate = delegate
        self.clock = clock
        self.traceCapacity = max(0, traceCapacity)
        self.onTransition = onTransition
    }

    deinit {
        alarm?.task.cancel()
        underWay?.task.cancel()
        underWay?.timeout?.cancel()
    }

    /// The position of the machine.
    public var position: LifecyclePosition { machine.position }

    /// True if the connection to the server was made and registered on.
    public var isRegistered: Bool { machine.isRegistered }

    /// True if the connection is registered and has its subscriptions, too.
    public var isSubscribed: Bool { machine.isSubscribed }

    /// The present conditions for the levels of services.
    public var conditions: ServiceConditions { machine.conditions() }

    /// The number of tasks that wait in ``settle()``.
    var waitingCount: Int { waiting.count }

    /// Handles an event. Returns when the actions are decided, not when they are done.
    ///
    /// - Returns: The transition; nil after ``close()``.
    @discardableResult
    public func handle(_ event: ConnectivityEvent) -> ConnectivityTransition? {
        guard !isClosed else { return nil }
        let transition = machine.handle(event, at: clock.now())
        note(transition)
        carryOn()
        return transition
    }

    /// Waits until no action is due, or the task is cancelled. Does not wait for a delayed attempt.
    public func settle() async {
        while !isClosed, !Task.isCancelled, underWay != nil || !machine.pending.isEmpty {
            lastWaiting += 1
            let id = lastWaiting
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    // The actor does not suspend between this check and the registration, so a later cancellation finds
                    // the registered continuation.
                    if Task.isCancelled { continuation.resume() } else { waiting[id] = continuation }
                }
            } onCancel: {
                Task { await self.stopWaiting(id) }
            }
        }
    }

    private func stopWaiting(_ id: UInt64) {
        waiting.removeValue(forKey: id)?.resume()
    }

    /// Closes the runner: the current action is cancelled, and no more actions are carried out. Idempotent.
    public func close() {
        isClosed = true
        alarm?.task.cancel()
        alarm = nil
        underWay?.task.cancel()
        underWay?.timeout?.cancel()
        underWay = nil
        wakeWaiting()
    }

    private func note(_ transition: ConnectivityTransition) {
        trace.append(transition)
        if trace.count > traceCapacity { trace.removeFirst(trace.count - traceCapacity) }
        if let underWay, underWay.timeout == nil, transition.dropped.contains(underWay.action) {
            underWay.task.cancel()
            self.underWay?.timeout = wait(until: clock.now().advanced(by: Self.timeout)) { runner in
                await runner.giveUp(underWay.action)
            }
        }
        onTransition?(transition)
    }

    private func carryOn() {
        setAlarm()
        guard underWay == nil, !isClosed else { return }
        guard let next = machine.pending.first else {
            wakeWaiting()
            return
        }
        let task = Task { [weak self, delegate] in
            let outcome: ConnectivityMachine.Outcome
            do {
                outcome = .done(try await delegate.carryOut(next.action))
            } catch {
                outcome = .failed(String(describing: error))
            }
            await self?.ended(next, outcome)
        }
        underWay = UnderWay(action: next, task: task)
    }

    private func ended(_ action: OrderedAction, _ outcome: ConnectivityMachine.Outcome) {
        guard !isClosed, underWay?.action == action else { return }
        underWay?.timeout?.cancel()
        underWay = nil
        if let transition = machine.finished(action.number, outcome, at: clock.now()) { note(transition) }
        carryOn()
    }

    private func giveUp(_ action: OrderedAction) {
        guard !isClosed, underWay?.action == action else { return }
        underWay = nil
        abandoned.append(action)
        if abandoned.count > traceCapacity { abandoned.removeFirst(abandoned.count - traceCapacity) }
        carryOn()
    }

    private func setAlarm() {
        let next = isClosed ? nil : machine.nextStep
        guard alarm?.at != next else { return }
        alarm?.task.cancel()
        alarm = next.map { next in (next, wait(until: next) { await $0.rang(at: next) }) }
    }

    private func rang(at instant: BootInstant) {
        guard !isClosed, alarm?.at == instant else { return }
        alarm = nil
        if let transition = machine.timePassed(at: clock.now()) { note(transition) }
        carryOn()
    }

    private func wait(
        until instant: BootInstant, then act: @escaping @Sendable (ConnectivityRunner) async -> Void
    ) -> Task<Void, Never> {
        Task { [weak self, clock] in
            do { try await clock.sleep(until: instant) } catch { return }
            if let self { await act(self) }
        }
    }

    private func wakeWaiting() {
        let resumed = waiting
        waiting = [:]
        for continuation in resumed.values { continuation.resume() }
    }
}
