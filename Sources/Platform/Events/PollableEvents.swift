public import CoreAPI
internal import Synchronization

/// The events of a watch or an observation for a loop that polls descriptors.
///
/// ```swift
/// let calls = try await group.observe("calls").pollable()
/// // in the loop, when calls.descriptor is readable:
/// while case .event(let call) = try calls.next() { ring(call) }
/// ```
///
/// A task takes one event ahead of the loop. This loses or adds nothing: a watch continues after it, and later posts
/// are merged into the next delivery.
///
/// Source: contract W1-W4, N2-N4.
public final class PollableEvents<Element: Sendable>: Sendable {
    /// The result of taking an event.
    public enum Next: Sendable {
        case event(Element)
        /// No event now: the descriptor becomes readable at the next one.
        case nothing
        /// The sequence has ended, for example because the group was closed, and the descriptor stays readable. Stop
        /// polling it.
        case ended
    }

    private let ahead: Ahead<Element>
    private let task: Task<Void, Never>
    private let stop: @Sendable () -> Void

    /// Makes an eventfd, and starts the task that takes one event ahead of the consumer.
    ///
    /// - Throws: ``SharedCoreError/Code/unavailable`` when the process has no descriptor left.
    package init(
        on executor: (any TaskExecutor)?, next: @escaping @Sendable () async throws(SharedCoreError) -> Element?,
        cancel: @escaping @Sendable () -> Void
    ) throws(SharedCoreError) {
        do throws(SystemCallError) {
            ahead = try Ahead()
        } catch {
            throw SharedCoreError(error)
        }
        stop = cancel
        task = Task.detached(executorPreference: executor) { [ahead] in
            var goesOn = true
            while goesOn {
                do throws(SharedCoreError) {
                    goesOn = await ahead.offer(.success(try await next()))
                } catch {
                    goesOn = await ahead.offer(.failure(error))
                }
            }
        }
    }

    deinit {
        cancel()
    }

    /// An eventfd that is readable exactly while ``next()`` returns anything other than ``Next/nothing``. Poll it, but
    /// do not read or close it: this object owns it.
    public var descriptor: Int32 { ahead.counter.descriptor }

    /// Takes the next event. It never waits, and may be called from any thread.
    ///
    /// - Throws: The error that ended the sequence, once; after that it returns ``Next/ended``.
    public func next() throws(SharedCoreError) -> Next {
        try ahead.take()
    }

    /// Ends the sequence at once. Idempotent.
    public func cancel() {
        stop()
        task.cancel()
        ahead.end()
    }
}

extension Watch {
    /// Connects the watch to a polling loop: the returned object is then its consumer.
    ///
    /// - Parameter executor: The executor of the task that takes the events, best the group's
    ///   ``SharedStore/deliveryExecutor``; nil for the concurrent pool.
    /// - Throws: ``SharedCoreError/Code/unavailable`` when the process has no descriptor left.
    public func pollable(
        on executor: (any TaskExecutor)? = nil
    ) throws(SharedCoreError) -> PollableEvents<WatchEvent> {
        try PollableEvents(
            on: executor, next: { () async throws(SharedCoreError) in try await self.next() }, cancel: { self.cancel() }
        )
    }
}

extension Observation {
    /// Connects the observation to a polling loop: the returned object is then its consumer.
    ///
    /// - Parameter executor: The executor of the task that takes the deliveries, best the group's
    ///   ``SharedStore/deliveryExecutor``; nil for the concurrent pool.
    /// - Throws: ``SharedCoreError/Code/unavailable`` when the process has no descriptor left.
    public func pollable(
        on executor: (any TaskExecutor)? = nil
    ) throws(SharedCoreError) -> PollableEvents<NotificationDelivery> {
        try PollableEvents(
            on: executor, next: { () async throws(SharedCoreError) in try await self.next() }, cancel: { self.cancel() }
        )
    }
}

/// Holds the event that was taken before the consumer asked for it. The event and the counter change under one lock.
private final class Ahead<Element: Sendable>: Sendable {
    private struct State {
        /// The event that was taken; nil while there is none. The end of the sequence, or its error, is kept until the
        /// consumer takes it.
        var held: Result<Element?, SharedCoreError>?
        /// The task that waits until the consumer has taken the event. It is resumed with true to take another event.
        var task: CheckedContinuation<Bool, Never>?
        var isEnded = false
    }

    let counter: EventCounter
    private let state = Mutex(State())

    init() throws(SystemCallError) {
        counter = try EventCounter()
    }

    /// Stores a result and waits until the consumer has taken it. Returns whether the task must take another event.
    func offer(_ result: Result<Element?, SharedCoreError>) async -> Bool {
        await withCheckedContinuation { continuation in
            let isFinal = state.withLock { state in
                guard !state.isEnded else { return true }
                state.held = result
                counter.raise()
                if case .success(.some) = result {
                    state.task = continuation
                    return false
                }
                state.isEnded = true
                return true
            }
            if isFinal { continuation.resume(returning: false) }
        }
    }

    func take() throws(SharedCoreError) -> PollableEvents<Element>.Next {
        let (held, task) = state.withLock { state in
            defer {
                if state.isEnded {
                    state.held = .success(nil)
                } else if state.held != nil {
                    state.held = nil
                    state.task = nil
                    counter.clear()
                }
            }
            return (state.held, state.isEnded ? nil : state.task)
        }
        task?.resume(returning: true)
        switch held {
        case nil: return .nothing
        case .success(let event): return event.map { .event($0) } ?? .ended
        case .failure(let error): throw error
        }
    }

    /// Drops the event that was taken ahead of the consumer. An end of the sequence that was found before stays.
    func end() {
        let task = state.withLock { state in
            guard !state.isEnded else { return nil as CheckedContinuation<Bool, Never>? }
            state.isEnded = true
            state.held = .success(nil)
            counter.raise()
            defer { state.task = nil }
            return state.task
        }
        task?.resume(returning: false)
    }
}
