public import CoreAPI

/// Participation for as long as a closure runs. The participant and its handle end on every path: when the closure returns,
/// when it throws, and when the task is cancelled.
extension SharedStore {
    /// Owns the core as a Main while `body` runs; then stops it, releases ownership and closes this handle.
    ///
    /// ```swift
    /// try await group.withMain(core: { MailCore(account) }) { main in
    ///     for await event in window.events { handle(event) }
    /// }
    /// ```
    ///
    /// `body` begins when the core runs. If the Main ends by itself, because its core has ended for good, another Main
    /// has taken over or the session has ended, the task of `body` is cancelled and this call throws the reason. `body`
    /// must only wait in ways that a cancellation ends, and must not block its thread.
    ///
    /// - Parameters:
    ///   - options: Deadlines and lifetimes, the same in all processes of the group.
    ///   - environment: The interfaces to the machine: clock, process control, witness, seed.
    ///   - takingOver: True to ask another Main that owns to hand over, and to fence it if it does not.
    ///   - insisting: True to interrupt the owner's activities instead of waiting for them.
    ///   - reporting: Called with the reason of the wait, as in
    ///     ``MainParticipant/start(takingOver:insisting:reporting:)``.
    ///   - core: Makes the core for each ownership.
    ///   - body: The work of the application while it owns, in a task of its own.
    /// - Returns: The result of `body`.
    /// - Throws: What `body` throws; before it begins, what ``MainParticipant/start(takingOver:insisting:reporting:)`` throws, and
    ///   ``SharedCoreError/Code/invalidArgument`` for a handle of another role. When the Main ends by itself:
    ///   ``CoordinationError/Code/coreFailed``, ``CoordinationError/Code/superseded`` or
    ///   ``CoordinationError/Code/fenced``.
    public func withMain<Value: Sendable>(
        options: CoordinationOptions = CoordinationOptions(),
        environment: CoordinationEnvironment, takingOver: Bool = false,
        insisting: Bool = false, reporting: (@Sendable (OwnershipWaitReason) -> Void)? = nil,
        core: @escaping @Sendable () -> any Core,
        _ body: @escaping @Sendable (MainParticipant) async throws -> Value
    ) async throws -> Value {
        try await AlwaysClosedStore(inner: self).closing { () async throws in
            let main = try MainParticipant(of: self, options: options, environment: environment, core: core)
            do {
                try await main.start(takingOver: takingOver, insisting: insisting, reporting: reporting)
                let value = try await main.run(body)
                await main.stop()
                return value
            } catch {
                await main.stop()
                throw error
            }
        }
    }

    /// Takes part as an Executor while `body` runs. Then lets the core serve the other waiting calls, releases
    /// ownership and closes this handle.
    ///
    /// ```swift
    /// try await group.withExecutor(core: { MailCore(account) }) { executor in
    ///     let answer = try await executor.message(forCallID: callID, timeout: .seconds(20))
    ///     if case .message(let taken) = answer.content {
    ///         show(taken.message)
    ///         try await executor.acknowledge(taken)
    ///     }
    /// }
    /// ```
    ///
    /// A core that runs here also serves the other calls if `body` throws, for example after a timeout, within its
    /// budget. If the task is cancelled, the core is stopped at once.
    ///
    /// - Parameters:
    ///   - options: Deadlines and lifetimes, the same in all processes of the group.
    ///   - environment: The interfaces to the machine: clock, process control, witness, seed.
    ///   - core: Makes the core for each ownership.
    ///   - body: The work of the process.
    /// - Returns: The result of `body`.
    /// - Throws: What `body` throws, and ``SharedCoreError/Code/invalidArgument`` for a handle of another role.
    public func withExecutor<Value>(
        options: CoordinationOptions = CoordinationOptions(),
        environment: CoordinationEnvironment, core: @escaping @Sendable () -> any Core,
        _ body: (ExecutorParticipant) async throws -> Value
    ) async throws -> Value {
        try await AlwaysClosedStore(inner: self).closing { () async throws in
            let executor = try ExecutorParticipant(of: self, options: options, environment: environment, core: core)
            do {
                let value = try await body(executor)
                await executor.finishAndClose()
                return value
            } catch {
                await executor.finishAndClose()
                throw error
            }
        }
    }
}

/// A handle that is also closed in a cancelled task, in which a request over a network might not be sent.
private struct AlwaysClosedStore: ForwardingStore {
    let inner: any SharedStore

    func close() async {
        guard Task.isCancelled else { return await inner.close() }
        await Task { await inner.close() }.value
    }
}

extension ExecutorParticipant {
    fileprivate func finishAndClose() async {
        // A cancelled task does not wait until the core has served other calls.
        await finish()
        await close()
    }
}

extension MainParticipant {
    /// Runs `body` until it returns, or until this Main ends by itself.
    fileprivate func run<Value: Sendable>(
        _ body: @escaping @Sendable (MainParticipant) async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: RunEvent<Value>.self) { tasks in
            tasks.addTask { .returned(try await body(self)) }
            tasks.addTask { .ended(await self.waitUntilEnded()) }
            defer { tasks.cancelAll() }
            while true {
                switch try await tasks.next() {
                case .returned(let value): return value
                case .ended(let end):
                    // The end of a cancelled wait is not reported: `body` may have stopped its own Main.
                    guard !Task.isCancelled, let error = CoordinationError(end) else { continue }
                    throw error
                case nil: throw CancellationError()
                }
            }
        }
    }

    private enum RunEvent<Value: Sendable>: Sendable {
        case returned(Value)
        case ended(MainEndReason)
    }
}

extension CoordinationError {
    /// Makes the error for the end of a Main; nil if it was stopped.
    fileprivate init?(_ end: MainEndReason) {
        switch end {
        case .stopped: return nil
        case .superseded: self.init(.superseded, "Another Main took over.")
        case .coreFailed(let problem): self.init(.coreFailed, problem)
        case .sessionEnded: self.init(.fenced, "The session is over for the group.")
        }
    }
}

extension SharedStore {
    /// Returns true if this handle can never be used again after its watch has ended with
    /// ``SharedCoreError/Code/unavailable``, as when the group's files were removed. A hub or a cluster that is away
    /// ends no watch.
    package func isLost() async -> Bool {
        do throws(SharedCoreError) {
            try await sync()
            return false
        } catch {
            return error.code == .unavailable
        }
    }
}
