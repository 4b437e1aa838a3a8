internal import CoreAPI
internal import Mailboxes
internal import Platform
internal import Synchronization

/// One run of a loop: its thread, and the requests of other threads to it.
final class LoopRun: Sendable {
    private struct State {
        var bodies: [@Sendable (any LoopStack) throws -> Void] = []
        /// The request to stop; nil before the core is told to.
        var told: StopRequest?
        /// True once the stack was told to stop.
        var isStackTold = false
        /// The time at which the stack is closed even if it has not ended the loop.
        var limit: ContinuousClock.Instant?
        /// True if the loop ends after this callback.
        var isEnding = false
        /// True once the core was given up.
        var isGivenUp = false
        /// True if the loop closed the stack because ``limit`` passed before the stack had ended the loop.
        var isCut = false
        var isStarted = false
        /// Cancels the task that the thread waits for.
        var cancelWait: (@Sendable () -> Void)?
        /// The outcome of the baton that the stack has given; nil while it is not known.
        var batonEnd: BatonEnd?
        /// The callback that runs; nil between two of them.
        var callback: Callback?
        /// The result of the run; nil while the thread may still call the stack.
        var outcome: Result<Void, any Error>?

        var isOver: Bool { outcome != nil }

        /// Returns true if the task that the thread waits for must be cancelled.
        func cancelsWaits(at now: ContinuousClock.Instant) -> Bool {
            isGivenUp || limit.map { $0 <= now } ?? false
        }
    }

    enum Callback: String {
        case make = "init"
        case start, prepare, dispatch, perform, rest, resume, stop, handOver, batonEnded, close
    }

    /// The work before the next wait.
    private struct Turn {
        var bodies: [@Sendable (any LoopStack) throws -> Void]
        var request: StopRequest?
        var isOver: Bool
        var limit: ContinuousClock.Instant?
    }

    let context: CoreContext
    private let state = Mutex(State())
    /// Wakes the thread from its poll.
    private let wake: EventCounter
    /// Wakes the thread while it waits for a task.
    private let answered: EventCounter
    /// The loop's thread; zero while there is none.
    private let thread = Atomic<UInt>(0)
    /// Wakes the task that waits for the start or the end.
    private let changed = AsyncEvent()
    private let closed = Promise<Void>()
    /// The baton that the stack has given; nil when it gives none.
    private let handedOver = Promise<Baton?>()
    /// The stack's rest and resume.
    let rests = LoopRests()

    init(in context: CoreContext) throws(SystemCallError) {
        self.context = context
        wake = try EventCounter()
        answered = try EventCounter()
    }

    // MARK: - For the core

    /// Starts the thread.
    func begin(_ makeStack: @escaping @Sendable () throws -> any LoopStack) throws(SystemCallError) {
        try OwnedThread.start("sc-loop", stackByteCount: 8 << 20) { [self] in
            thread.store(ThreadIdentity.current.rawValue, ordering: .sequentiallyConsistent)
            let outcome = Result { try drive(makeStack) }
            thread.store(0, ordering: .sequentiallyConsistent)
            finish(outcome)
        }
    }

    /// Records that no thread calls the stack any more.
    func finish(_ outcome: Result<Void, any Error>) {
        // Dropping a closure may run code of the application, so it happens outside the lock.
        let dropped = state.withLock { state in
            state.outcome = outcome
            defer { state.bodies = [] }
            return state.bodies
        }
        withExtendedLifetime(dropped) {}
        // The context would keep a reference to this run, which has a reference to the context.
        context.giveUp.forget()
        handedOver.fulfil(nil)
        rests.finish()
        closed.open()
        changed.signal()
    }

    /// Returns when the stack has started, or when the task is cancelled.
    func untilStarted() async throws {
        try await until(\.isStarted)
    }

    /// Returns when the stack is closed, or when the task is cancelled.
    func untilOver() async throws {
        try await until(\.isOver)
    }

    private func until(_ condition: (State) -> Bool) async throws {
        while true {
            let (isFulfilled, outcome) = state.withLock { (condition($0), $0.outcome) }
            if let outcome { return try outcome.get() }
            if isFulfilled { return }
            try Task.checkCancellation()
            await changed.wait()
        }
    }

    /// Requests that the stack stop. Only the first request counts.
    func stop(_ request: StopRequest) {
        let limit = ContinuousClock.now + request.timeout * 3 / 4
        let cancel = state.withLock { state in
            guard state.told == nil else { return nil as (@Sendable () -> Void)? }
            state.told = request
            state.limit = limit
            return state.cancelWait
        }
        cancel?()
        wake.raise()
        answered.raise()
    }

    /// Returns when the stack is closed, also in a task that is cancelled.
    ///
    /// - Returns: True if its limit passed before the stack had ended the loop.
    func untilClosed() async -> Bool {
        await closed.pass()
        return state.withLock(\.isCut)
    }

    /// Returns what the stack has given when it was told to stop; nil when it gives nothing.
    func untilHandedOver() async -> Baton? { await handedOver.value() }

    /// Ends the wait of a stack that has given a baton.
    func endBaton(_ end: BatonEnd) {
        state.withLock { $0.batonEnd = $0.batonEnd ?? end }
        wake.raise()
    }

    /// Handles that the core is given up: another participant may own soon, although this loop has not ended.
    func giveUp(_ action: StuckLoopAction) {
        let (isOver, callback, request, cancel) = state.withLock { state in
            state.isEnding = true
            state.isGivenUp = true
            return (state.isOver, state.callback, state.told, state.cancelWait)
        }
        guard !isOver else { return }
        if action == .endProcess {
            let timeout = request?.timeout ?? context.stopTimeout
            let reason = request.map { " (\($0.reason))" } ?? ""
            let place = callback.map { "its callback “\($0.rawValue)” has not returned" } ?? "its loop has not ended"
            OwnProcess.end(
                70,
                saying:
                    "sharedcore: the core of epoch \(context.epoch) did not stop within \(timeout)\(reason): \(place). "
                    + "The process ends, so that no second core runs beside it.\n")
        }
        cancel?()
        wake.raise()
        answered.raise()
    }

    // MARK: - For the stack

    /// Ends the program where the calling thread is not the loop's.
    func assertOnThread() {
        guard thread.load(ordering: .sequentiallyConsistent) != ThreadIdentity.current.rawValue else { return }
        fatalError(
            "LoopContext: a call of another thread than the loop's. Call it in a callback of the stack, or use perform(_:)."
        )
    }

    func end() {
        state.withLock { $0.isEnding = true }
    }

    func perform(_ body: @escaping @Sendable (any LoopStack) throws -> Void) -> Bool {
        let isTaken = state.withLock { state in
            guard !state.isOver, !state.isEnding else { return false }
            state.bodies.append(body)
            return true
        }
        if isTaken { wake.raise() }
        return isTaken
    }

    /// Runs a task, and blocks the loop's thread until it has returned.
    func wait<Value: Sendable, Failure: Error>(
        _ body: @escaping @Sendable (CoreContext) async throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let answer = Answer<Value, Failure>()
        let wasTold = state.withLock { $0.told != nil }
        let task = Task.detached(executorPreference: context.executor) { [context, answered] in
            let result: Result<Value, Failure>
            do throws(Failure) {
                result = .success(try await body(context))
            } catch {
                result = .failure(error)
            }
            answer.result.withLock { $0 = result }
            answered.raise()
        }
        let isTold = state.withLock { state in
            state.cancelWait = { task.cancel() }
            return state.told != nil
        }
        if isTold, !wasTold { task.cancel() }
        defer { state.withLock { $0.cancelWait = nil } }
        while true {
            answered.clear()
            if let result = answer.result.withLock({ $0 }) { return try result.get() }
            let now = ContinuousClock.now
            let (isCancelled, limit) = state.withLock { ($0.cancelsWaits(at: now), $0.limit) }
            if isCancelled { task.cancel() }
            let timeout = isCancelled ? nil : limit.map { now.duration(to: $0) }
            _ = Poll.wait(for: [answered.descriptor], timeout: timeout)
        }
    }

    private final class Answer<Value: Sendable, Failure: Error>: Sendable {
        let result = Mutex<Result<Value, Failure>?>(nil)
    }

    // MARK: - The thread

    private func drive(_ makeStack: () throws -> any LoopStack) throws {
        let stack = try during(.make) { try makeStack() }
        defer { during(.close) { stack.close() } }
        try during(.start) { try stack.start(on: LoopContext(run: self)) }
        state.withLock { $0.isStarted = true }
        changed.signal()
        while true {
            let turn = takeTurn()
            if turn.isOver { return }
            for body in turn.bodies where !isEnding { try during(.perform) { try body(stack) } }
            if let request = turn.request, !isEnding {
                rests.isUnderWay = false
                let baton = request.takes.isEmpty ? nil : try during(.handOver) { try stack.handOver(request) }
                handedOver.fulfil(baton)
                if baton != nil { return awaitBatonEnd(stack) }
                try during(.stop) { try stack.stop(request) }
            }
            if isEnding { return }
            if rests.isUnderWay {
                // `perform`, a stop and a resume end this wait.
                _ = try poll(LoopWait(for: []), until: nil)
                continue
            }
            let wait = try during(.prepare) { try stack.prepare() }
            if isEnding { return }
            guard let ready = try poll(wait, until: turn.limit) else { continue }
            try during(.dispatch) { try stack.dispatch(ready) }
        }
    }

    /// Waits until the baton that the stack has given has ended.
    private func awaitBatonEnd(_ stack: any LoopStack) {
        while true {
            wake.clear()
            let (end, isGivenUp) = state.withLock { ($0.batonEnd, $0.isGivenUp) }
            if let end { return during(.batonEnded) { stack.batonEnded(end) } }
            if isGivenUp { return }
            _ = Poll.wait(for: [wake.descriptor], timeout: nil)
        }
    }

    /// Takes the requests of other threads.
    private func takeTurn() -> Turn {
        wake.clear()
        return state.withLock { state in
            let isLate = state.limit.map { $0 <= .now } ?? false
            if isLate, !state.isEnding { state.isCut = true }
            var turn = Turn(bodies: state.bodies, isOver: state.isEnding || isLate, limit: state.limit)
            state.bodies = []
            if let told = state.told, !state.isStackTold {
                state.isStackTold = true
                turn.request = told
            }
            return turn
        }
    }

    private var isEnding: Bool { state.withLock(\.isEnding) }

    /// True once the core was told to stop.
    var isTold: Bool { state.withLock { $0.told != nil } }

    func during<Value>(_ callback: Callback, _ body: () throws -> Value) rethrows -> Value {
        state.withLock { $0.callback = callback }
        defer { state.withLock { $0.callback = nil } }
        return try body()
    }

    /// Waits for a descriptor, the time, or another thread.
    ///
    /// - Returns: The descriptors that are ready, none when the time has passed; nil if another thread woke the loop.
    private func poll(_ wait: LoopWait, until limit: ContinuousClock.Instant?) throws -> [LoopDescriptor]? {
        let entries =
            [(descriptor: wake.descriptor, events: Poll.readable)]
            + wait.descriptors.map { (descriptor: $0.number, events: $0.events.rawValue) }
        let left = limit.map { max(.zero, ContinuousClock.now.duration(to: $0)) }
        let timeout = [wait.timeout.map { max(.zero, $0) }, left].compactMap { $0 }.min()
        guard let events = try Poll.events(of: entries, timeout: timeout) else { return nil }
        let ready = zip(wait.descriptors, events.dropFirst()).compactMap { descriptor, events in
            events == 0 ? nil : LoopDescriptor(descriptor.number, .init(events))
        }
        if let closed = zip(entries, events).first(where: { $0.1 & Poll.notOpen != 0 }) {
            throw SharedCoreError(
                .invalidArgument, "The stack polls descriptor \(closed.0.descriptor), which is not open.",
                at: "LoopStack.prepare()")
        }
        if !ready.isEmpty { return ready }
        // Woken by another thread, or for the end of the stack's time to stop.
        guard events.allSatisfy({ $0 == 0 }), let own = wait.timeout, left.map({ own <= $0 }) ?? true else {
            return nil
        }
        return []
    }
}

extension LoopDescriptor.Events {
    /// Converts the events that `poll` reports. ``failed``, for example, stands for several of them.
    fileprivate init(_ reported: Int16) {
        self.init(rawValue: reported)
        if !isDisjoint(with: .failed) { insert(.failed) }
    }
}
