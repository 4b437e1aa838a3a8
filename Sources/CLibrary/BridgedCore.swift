internal import CSharedCore
internal import Coordination
internal import CoreAPI
internal import Synchronization

/// A core in C. Each call of the participant adds an event and waits until the program has answered it.
final class BridgedCore: Core {
    private let events: ParticipantEvents
    private let running = Mutex<CoreObject?>(nil)

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

    func stop(_ request: StopRequest) async {
        let core = running.withLock { core in
            defer { core = nil }
            return core
        }
        guard let core, !core.isStopped else { return }
        // After the last event no program answers.
        if events.add(.stopCore(core.handle, request)) { await core.waitUntilStopped() }
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
    private let started = Answers()
    private let failed = Answers()
    private let stopped = Answers()
    /// The answer to the last event about a rest, and whether that was the one to resume.
    private let rest = Mutex<(isResume: Bool, answers: Answers)?>(nil)

    init(_ context: CoreContext) throws(Failure) {
        self.context = context
        let handle = try Handles.add(self)
        given.withLock { $0 = handle }
    }

    var handle: UInt64 { given.withLock { $0 } }
    var isStopped: Bool { stopped.isGiven }

    func waitUntilStarted() async throws { try await started.value() }

    func waitUntilFailed() async throws { try await failed.value() }

    /// Waits also in a task that is cancelled: the participant bounds the wait by `stopTimeout`.
    func waitUntilStopped() async { await stopped.valueIgnoringCancellation() }

    func start() { started.give(.success(())) }

    /// Returns the place for the answer to an event about a rest, which is given already if the core has failed or stopped.
    fileprivate func beginRestAnswer(toResume isResume: Bool) -> Answers {
        let answers = Answers()
        rest.withLock { $0 = (isResume, answers) }
        if failed.isGiven { answers.give(.failure(CoreFailure(reason: "The core has failed."))) }
        return answers
    }

    /// Answers the last event about a rest. Does nothing where that was another one: the answer comes too late.
    func answerRest(toResume isResume: Bool) {
        guard let last = rest.withLock({ $0 }), last.isResume == isResume else { return }
        last.answers.give(.success(()))
    }

    func fail(_ reason: String) {
        let failure = CoreFailure(reason: reason)
        started.give(.failure(failure))
        failed.give(.failure(failure))
        rest.withLock { $0 }?.answers.give(.failure(failure))
    }

    /// Marks the run as stopped, and resumes the tasks that wait for its start, its failure or its stop.
    func close() {
        started.give(.failure(CoreFailure(reason: "The core was stopped.")))
        failed.give(.failure(CancellationError()))
        rest.withLock { $0 }?.answers.give(.failure(CancellationError()))
        stopped.give(.success(()))
    }
}

/// An answer that is given once, and the tasks that wait for it.
private final class Answers: Sendable {
    private struct State {
        var answer: Result<Void, any Error>?
        var waiting: [UInt64: CheckedContinuation<Void, any Error>] = [:]
        var next: UInt64 = 0
    }

    private let state = Mutex(State())

    var isGiven: Bool { state.withLock { $0.answer != nil } }

    func give(_ answer: Result<Void, any Error>) {
        let waiting = state.withLock { state in
            guard state.answer == nil else { return [CheckedContinuation<Void, any Error>]() }
            state.answer = answer
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for continuation in waiting { continuation.resume(with: answer) }
    }

    /// Returns the answer, or throws when the task is cancelled.
    func value() async throws {
        let number = state.withLock { state in
            state.next += 1
            return state.next
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let answer = state.withLock { state -> Result<Void, any Error>? in
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

    func valueIgnoringCancellation() async {
        _ = try? await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            let answer = state.withLock { state -> Result<Void, any Error>? in
                if let answer = state.answer { return answer }
                state.next += 1
                state.waiting[state.next] = continuation
                return nil
            }
            if let answer { continuation.resume(with: answer) }
        }
    }
}
