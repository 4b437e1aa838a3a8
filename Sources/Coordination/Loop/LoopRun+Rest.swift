internal import CoreAPI
internal import Synchronization

/// Makes a stack quiet for a Main that sleeps, and resumes it.
///
/// Source: contract C26.
extension LoopRun {
    /// Makes the stack quiet on the loop's thread, and returns when it is. Cancellation withdraws a rest that has not
    /// begun.
    ///
    /// - Throws: The stack's error: the stack then continues as before. ``SharedCoreError/Code/cancelled`` if the core
    ///   stops first, and `CancellationError` if the rest was withdrawn.
    func rest() async throws {
        let stops = SharedCoreError(.cancelled, "The core stops, so it does not rest.", at: "LoopCore")
        let change = LoopRestChange(ifOver: stops)
        try await carryOut(change) { [self] stack in
            guard change.begin() else { return }
            guard !isTold else { return change.end(stops) }
            guard !rests.isUnderWay else { return change.end(nil) }
            do {
                try during(.rest) { try stack.rest(in: LoopContext(run: self)) }
                rests.isUnderWay = true
                change.end(nil)
            } catch {
                change.end(error)
            }
        }
    }

    /// Resumes a stack that rests, on the loop's thread. Does nothing if the core is told to stop.
    ///
    /// - Throws: The stack's error, which also ends the loop. `CancellationError` if the resume was withdrawn.
    func resume(for wake: Wake) async throws {
        let change = LoopRestChange(ifOver: nil)
        try await carryOut(change) { [self] stack in
            guard change.begin() else { return }
            guard rests.isUnderWay, !isTold else { return change.end(nil) }
            rests.isUnderWay = false
            do {
                try during(.resume) { try stack.resume(in: LoopContext(run: self), for: wake) }
                change.end(nil)
            } catch {
                change.end(error)
                throw error
            }
        }
    }

    /// Runs a closure on the loop's thread, after those that were accepted before it. Returns when the change has
    /// ended.
    private func carryOut(
        _ change: LoopRestChange, _ body: @escaping @Sendable (any LoopStack) throws -> Void
    ) async throws {
        rests.open(change)
        defer { rests.close(change) }
        if !perform(body) { change.drop() }
        let failure = await withTaskCancellationHandler {
            await change.outcome.value()
        } onCancel: {
            change.withdraw()
        }
        if let failure { throw failure }
    }
}

/// The rest of a stack and its pending changes.
final class LoopRests: Sendable {
    private struct State {
        var isUnderWay = false
        var open: [LoopRestChange] = []
        var isOver = false
    }

    private let state = Mutex(State())

    /// True while the stack rests. Only the loop's thread sets it.
    var isUnderWay: Bool {
        get { state.withLock(\.isUnderWay) }
        set { state.withLock { $0.isUnderWay = newValue } }
    }

    func open(_ change: LoopRestChange) {
        let isOver = state.withLock { state in
            state.open.append(change)
            return state.isOver
        }
        if isOver { change.drop() }
    }

    func close(_ change: LoopRestChange) {
        state.withLock { $0.open.removeAll { $0 === change } }
    }

    /// Ends the changes that have not begun, because the loop is over.
    func finish() {
        let open = state.withLock { state in
            state.isOver = true
            return state.open
        }
        for change in open { change.drop() }
    }
}

/// A pending change of a loop: its stack is to rest, or to resume.
final class LoopRestChange: Sendable {
    /// The error with which the change has ended; nil if the change has succeeded.
    let outcome = Promise<(any Error)?>()
    private let hasBegun = Atomic(false)
    private let errorIfOver: (any Error)?

    /// Makes a change that has not begun.
    ///
    /// - Parameter error: The outcome if the loop ends before the change begins; nil for success.
    init(ifOver error: (any Error)?) {
        errorIfOver = error
    }

    /// Marks the change as begun.
    ///
    /// - Returns: False if it has begun or was withdrawn before.
    func begin() -> Bool { !hasBegun.exchange(true, ordering: .sequentiallyConsistent) }

    func end(_ failure: (any Error)?) { outcome.fulfil(failure) }

    /// Ends the change with `CancellationError` if it has not begun.
    func withdraw() {
        if begin() { end(CancellationError()) }
    }

    /// Ends the change if it has not begun, because the loop is over.
    func drop() {
        if begin() { end(errorIfOver) }
    }
}
