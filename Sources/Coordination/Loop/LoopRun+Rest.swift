internal import CoreAPI
internal import Synchronization

/// The rest of a stack.
///
/// Source: contract C26.
extension LoopRun {
    /// Has the loop make the stack quiet. A task that is cancelled before the loop comes to it takes that back.
    ///
    /// - Throws: What the stack throws, which goes on as before then.
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

    /// Has the loop resume a stack that rests. A core that is told to stop does so instead.
    ///
    /// - Throws: What the stack throws, which ends the loop.
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

    /// Has the loop do something between two callbacks, behind the closures that it was given before. Returns when that is done.
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

/// Whether a stack rests, and what is to change in that.
final class LoopRests: Sendable {
    private struct State {
        var isUnderWay = false
        var open: [LoopRestChange] = []
        var isOver = false
    }

    private let state = Mutex(State())

    /// Whether the stack rests. Only the loop's thread sets it.
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

    /// Ends the changes that the loop has not come to.
    func finish() {
        let open = state.withLock { state in
            state.isOver = true
            return state.open
        }
        for change in open { change.drop() }
    }
}

/// A change that a loop is asked for: that its stack rests, or resumes.
final class LoopRestChange: Sendable {
    /// The error with which it has ended; nil where there is none.
    let outcome = Promise<(any Error)?>()
    private let hasBegun = Atomic(false)
    private let errorIfOver: (any Error)?

    /// - Parameter error: How it ends where the loop has ended before it came to it.
    init(ifOver error: (any Error)?) {
        errorIfOver = error
    }

    /// - Returns: Whether it is still to be done.
    func begin() -> Bool { !hasBegun.exchange(true, ordering: .sequentiallyConsistent) }

    func end(_ failure: (any Error)?) { outcome.fulfil(failure) }

    /// Takes it back where it has not begun.
    func withdraw() {
        if begin() { end(CancellationError()) }
    }

    func drop() {
        if begin() { end(errorIfOver) }
    }
}
