internal import CSharedCore
internal import Coordination
internal import CoreAPI
internal import Synchronization

/// A core in C. Each call of the participant adds an event and waits until the program has answered it.
final class BridgedCore: Core {
    private let events: ParticipantEvents
    private let running = Mutex<CoreObject?>(nil)
    /// The core that has given a baton, until its end is known.
    private let given = Mutex<CoreObject?>(nil)

    init(_ events: ParticipantEvents) { self.events = events }

    func start(in context: CoreContext) async throws {
        let core = try CoreObject(context)
        running.withLock { $0 = core }
        guard events.begin(core) else { throw CoreFailure(reason: "The participant was closed.") }
        try await core.waitUntilStarted()
    }

    func iterate(in context: CoreContext) async throws {
        guard let core = running.withLock({ $0 }) else { return }
        try await core.waitUntilFailed()
    }

    func rest(in context: CoreContext) async throws {
        try await answer(toResume: false) { .restCore($0) }
    }

    func resume(in context: CoreContext, for wake: Wake) async throws {
        try await answer(toResume: true) { .resumeCore($0, wake) }
    }

    /// Adds an event about a rest, and waits until the program has answered it or the core has failed.
    private func answer(toResume isResume: Bool, _ event: (UInt64) -> ParticipantEvent) async throws {
        guard let core = running.withLock({ $0 }) else { throw CoreFailure(reason: "The core does not run.") }
        let answers = core.beginRestAnswer(toResume: isResume)
        guard events.add(event(core.handle)) else { throw CoreFailure(reason: "The participant was closed.") }
        try await answers.value()
    }

    func stop() async { await stop(StopRequest(.closing)) }

    func stop(_ request: StopRequest) async { _ = await handOver(request) }

    func handOver(_ request: StopRequest) async -> Baton? {
        let core = running.withLock { core in
            defer { core = nil }
            return core
        }
        guard let core, !core.isStopped else { return nil }
        core.allowBaton(for: request)
        // If the last event was delivered before, the program answers nothing any more, so do not wait.
        if events.add(.stopCore(core.handle, request)), let baton = await core.waitUntilHandedOver() {
            given.withLock { $0 = core }
            return baton
        }
        events.end(core)
        return nil
    }

    func batonEnded(_ end: BatonEnd) async {
        let core = given.withLock { core in
            defer { core = nil }
            return core
        }
        guard let core else { return }
        if !core.isStopped, events.add(.batonEnded(core.handle, end)) { await core.waitUntilStopped() }
        events.end(core)
    }
}

/// The failure of a core in C, with the program's reason.
struct CoreFailure: Error, CustomStringConvertible {
    let reason: String

    var description: String { reason }
}

/// One run of a core in C.
final class CoreObject: HandleObject {
    let context: CoreContext
    private let given = Mutex<UInt64>(0)
    private let started = Answers<Void>()
    private let failed = Answers<Void>()
    private let stopped = Answers<Void>()
    /// The answer to the event to stop: a baton, or none.
    private let handedOver = Answers<Baton?>()
    /// True if the event to stop asks for a baton.
    private let mayGiveBaton = Atomic(false)
    private struct RestEvents {
        /// The last unanswered event about a rest, and whether it asks the core to resume; nil if there is none.
        var last: (isResume: Bool, answers: Answers<Void>)?
        /// The number of earlier events that the program has still to answer: those to rest, and those to resume.
        var earlier = (rest: 0, resume: 0)
    }

    private let restEvents = Mutex(RestEvents())

    init(_ context: CoreContext) throws(Failure) {
        self.context = context
        let handle = try Handles.add(self)
        given.withLock { $0 = handle }
    }

    var handle: UInt64 { given.withLock { $0 } }
    var isStopped: Bool { stopped.isGiven }

    func waitUntilStarted() async throws { try await started.value() }

    func waitUntilFailed() async throws { try await failed.value() }

    /// Waits even in a cancelled task: the participant limits the wait by `stopTimeout`.
    func waitUntilStopped() async { _ = await stopped.valueIgnoringCancellation() }

    /// Waits as ``waitUntilStopped()`` does, or until the program has given a baton.
    func waitUntilHandedOver() async -> Baton? { await handedOver.valueIgnoringCancellation() ?? nil }

    func allowBaton(for request: StopRequest) {
        mayGiveBaton.store(!request.takes.isEmpty, ordering: .sequentiallyConsistent)
    }

    /// Answers the event to stop with a baton.
    ///
    /// - Throws: `refused` if no Main has asked for a baton, or if the event was answered before.
    func give(_ baton: Baton) throws(Failure) {
        guard mayGiveBaton.load(ordering: .sequentiallyConsistent) else {
            throw Failure(.refused, "No Main that takes batons asks this core to stop.", at: "core \(handle)")
        }
        guard handedOver.give(.success(baton)) else {
            throw Failure(.refused, "The core has stopped, or has given a baton before.", at: "core \(handle)")
        }
    }

    func start() { started.give(.success(())) }

    /// Returns the object that receives the answer to an event about a rest. If the core has failed or stopped, it has
    /// an answer already.
    fileprivate func beginRestAnswer(toResume isResume: Bool) -> Answers<Void> {
        let answers = Answers<Void>()
        restEvents.withLock { events in
            switch events.last?.isResume {
            case true?: events.earlier.resume += 1
            case false?: events.earlier.rest += 1
            case nil: break
            }
            events.last = (isResume, answers)
        }
        if failed.isGiven { answers.give(.failure(CoreFailure(reason: "The core has failed."))) }
        return answers
    }

    /// Answers an event about a rest. The program answers each event once, in their order. An answer to an event other
    /// than the last one is too late, and has no effect.
    func answerRest(toResume isResume: Bool) {
        let answers = restEvents.withLock { events -> Answers<Void>? in
            let earlier = isResume ? \RestEvents.earlier.resume : \.earlier.rest
            guard events[keyPath: earlier] == 0 else {
                events[keyPath: earlier] -= 1
                return nil
            }
            guard let last = events.last, last.isResume == isResume else { return nil }
            events.last = nil
            return last.answers
        }
        answers?.give(.success(()))
    }

    func fail(_ reason: String) {
        let failure = CoreFailure(reason: reason)
        started.give(.failure(failure))
        failed.give(.failure(failure))
        restEvents.withLock { $0.last }?.answers.give(.failure(failure))
    }

    /// Marks the run as stopped, and resumes the tasks that wait for its start, its failure or its stop.
    func close() {
        started.give(.failure(CoreFailure(reason: "The core was stopped.")))
        failed.give(.failure(CancellationError()))
        restEvents.withLock { $0.last }?.answers.give(.failure(CancellationError()))
        handedOver.give(.success(nil))
        stopped.give(.success(()))
    }
}

/// An answer that is given once, and the tasks that wait for it.
private final class Answers<Value: Sendable>: Sendable {
    private struct State {
        var answer: Result<Value, any Error>?
        var waiting: [UInt64: CheckedContinuation<Value, any Error>] = [:]
        var next: UInt64 = 0
    }

    private let state = Mutex(State())

    var isGiven: Bool { state.withLock { $0.answer != nil } }

    /// Gives the answer. Returns false when there is one already.
    @discardableResult
    func give(_ answer: Result<Value, any Error>) -> Bool {
        let waiting = state.withLock { state -> [CheckedContinuation<Value, any Error>]? in
            guard state.answer == nil else { return nil }
            state.answer = answer
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for continuation in waiting ?? [] { continuation.resume(with: answer) }
        return waiting != nil
    }

    /// Returns the answer, or throws when the task is cancelled.
    func value() async throws -> Value {
        let number = state.withLock { state in
            state.next += 1
            return state.next
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let answer = state.withLock { state -> Result<Value, any Error>? in
                    if let answer = state.answer { return answer }
                    if Task.isCancelled { return .failure(CancellationError()) }
                    state.waiting[number] = continuation
                    return nil
                }
                if let answer { continuation.resume(with: answer) }
            }
        } onCancel: {
            let continuation = state.withLock { $0.waiting.removeValue(forKey: number) }
            continuation?.resume(throwing: CancellationError())
        }
    }

    /// Returns the answer, also in a task that is cancelled; nil for a failure.
    func valueIgnoringCancellation() async -> Value? {
        try? await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Value, any Error>) in
            let answer = state.withLock { state -> Result<Value, any Error>? in
                if let answer = state.answer { return answer }
                state.next += 1
                state.waiting[state.next] = continuation
                return nil
            }
            if let answer { continuation.resume(with: answer) }
        }
    }
}
