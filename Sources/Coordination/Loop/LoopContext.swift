public import CoreAPI

/// A running loop, as its stack uses it. Call everything except ``perform(_:)`` and ``context`` on the loop's thread,
/// in a callback of the stack: a call on another thread ends the program with an error message.
public struct LoopContext: Sendable {
    let run: LoopRun

    /// The context of the core: its store, epoch, role and push.
    public var context: CoreContext { run.context }

    /// Stores a received message for the participants that ask for it. Blocks only the loop, until the message is
    /// committed. The stack must not acknowledge the message to its server before this returns, nor if this throws.
    ///
    /// Source: contract C8, C10.
    ///
    /// - Throws: As ``CoreContext/deliver(_:)``. When the core is told to stop while this waits:
    ///   ``SharedCoreError/Code/cancelled`` if nothing was stored, ``SharedCoreError/Code/outcomeUnknown`` if it may
    ///   have been stored.
    @discardableResult
    public func deliver(_ message: InboxMessage) throws(SharedCoreError) -> CoreContext.DeliveryResult {
        try wait { context throws(SharedCoreError) in try await context.deliver(message) }
    }

    /// Begins work that a Main's request for hand-over waits for. Blocks the loop until it is committed.
    ///
    /// Source: contract C17.
    ///
    /// - Throws: As ``CoreContext/begin(_:id:expectedEnd:)``; ``SharedCoreError/Code/cancelled`` as ``deliver(_:)``.
    public func begin(
        _ kind: Activity.Kind, id: String, expectedEnd: Duration? = nil
    ) throws(SharedCoreError) -> OpenActivity {
        try wait { context throws(SharedCoreError) in
            try await context.begin(kind, id: id, expectedEnd: expectedEnd)
        }
    }

    /// Ends an activity. Blocks the loop until that is committed.
    ///
    /// - Throws: As ``OpenActivity/end()``; ``SharedCoreError/Code/cancelled`` as ``deliver(_:)``.
    public func end(_ activity: OpenActivity) throws(SharedCoreError) {
        try wait { _ throws(SharedCoreError) in try await activity.end() }
    }

    /// Begins a call. Blocks the loop until it is committed. The loop calls a closure for each command, as it calls
    /// closures of ``perform(_:)``, until the call ends.
    ///
    /// Source: contract C23, C24.
    ///
    /// - Parameters:
    ///   - call: The description of the call.
    ///   - state: The state of the call.
    ///   - moves: The kind of the ``Baton`` with which another core can continue it.
    ///   - needs: The part of the baton that this core needs.
    ///   - onCommand: Called with each command that was taken for this core. It answers with ``accept(_:)`` or
    ///     ``refuse(_:because:)``.
    /// - Throws: As ``CoreContext/begin(call:in:moves:needs:)``; ``SharedCoreError/Code/cancelled`` as ``deliver(_:)``.
    public func begin<Stack: LoopStack>(
        call: CallDescription, in state: Call.State = .incoming, moves: String? = nil,
        needs: BatonNeed = .descriptors,
        onCommand: @escaping @Sendable (Stack, ReceivedCallCommand) throws -> Void
    ) throws(SharedCoreError) -> OpenCall {
        let (open, commands) = try wait { context throws(SharedCoreError) in
            let open = try await context.begin(call: call, in: state, moves: moves, needs: needs)
            return (open, try await open.commands())
        }
        hear(commands, for: open, onCommand)
        return open
    }

    /// Takes over the calls of a former owner's baton, and returns none if there is no baton. Blocks the loop until
    /// that is committed. The stack must send nothing for the calls before this returns.
    ///
    /// Source: contract C25.
    ///
    /// - Parameter onCommand: As in ``begin(call:in:moves:needs:onCommand:)``.
    /// - Throws: As ``ReceivedBaton/apply()``; ``SharedCoreError/Code/cancelled`` as ``deliver(_:)``.
    public func applyBaton<Stack: LoopStack>(
        onCommand: @escaping @Sendable (Stack, ReceivedCallCommand) throws -> Void
    ) throws(SharedCoreError) -> [OpenCall] {
        guard let baton = context.baton else { return [] }
        let calls = try wait { _ throws(SharedCoreError) in
            var calls: [(OpenCall, CallCommands)] = []
            for open in try await baton.apply() { calls.append((open, try await open.commands())) }
            return calls
        }
        for (open, commands) in calls { hear(commands, for: open, onCommand) }
        return calls.map(\.0)
    }

    /// Sets the kind of baton with which a call can move. Blocks the loop until that is committed.
    ///
    /// - Throws: As ``OpenCall/setMoves(_:needs:)``; ``SharedCoreError/Code/cancelled`` as ``deliver(_:)``.
    public func setMoves(
        _ kind: String?, needs: BatonNeed = .descriptors, of call: OpenCall
    ) throws(SharedCoreError) {
        try wait { _ throws(SharedCoreError) in try await call.setMoves(kind, needs: needs) }
    }

    private func hear<Stack: LoopStack>(
        _ commands: CallCommands, for open: OpenCall,
        _ onCommand: @escaping @Sendable (Stack, ReceivedCallCommand) throws -> Void
    ) {
        Task(executorPreference: context.executor) {
            do {
                for try await command in commands {
                    guard perform({ (stack: Stack) in try onCommand(stack, command) }) else { return }
                }
            } catch {
                await context.report("commands for the call “\(open.id.text.prefix(64))” cannot be received: \(error)")
            }
        }
    }

    /// Sets the state of a call, which may be its end, and its media. Blocks the loop until that is committed.
    ///
    /// - Throws: As ``OpenCall/change(to:media:)``; ``SharedCoreError/Code/cancelled`` as ``deliver(_:)``.
    public func change(
        _ call: OpenCall, to state: Call.State, media: Call.Media? = nil
    ) throws(SharedCoreError) {
        try wait { _ throws(SharedCoreError) in try await call.change(to: state, media: media) }
    }

    /// Reports that a command was carried out. Blocks the loop until that is committed.
    ///
    /// - Throws: As ``ReceivedCallCommand/accept()``; ``SharedCoreError/Code/cancelled`` as ``deliver(_:)``.
    public func accept(_ command: ReceivedCallCommand) throws(SharedCoreError) {
        try wait { _ throws(SharedCoreError) in try await command.accept() }
    }

    /// Reports that a command is not carried out. Blocks the loop until that is committed.
    ///
    /// - Throws: As ``ReceivedCallCommand/refuse(because:)``; ``SharedCoreError/Code/cancelled`` as ``deliver(_:)``.
    public func refuse(_ command: ReceivedCallCommand, because reason: String) throws(SharedCoreError) {
        try wait { _ throws(SharedCoreError) in try await command.refuse(because: reason) }
    }

    /// Writes a problem to the timeline, for example about a message that the core had to set aside. Blocks the loop
    /// until it is written.
    public func report(_ problem: String) {
        wait { context in await context.report(problem) }
    }

    /// Runs a task, and blocks the loop until it has returned.
    ///
    /// ```swift
    /// let account = try loop.wait { context in try await context.store.get("account") }
    /// ```
    ///
    /// A task that is running when the core is told to stop is cancelled, as with any core. Tasks that begin later
    /// still run, so that a stack can deliver messages while it unregisters. They are cancelled when the stack's time
    /// to stop has passed.
    ///
    /// - Parameter body: Runs on the concurrent pool. It must not wait for the loop.
    /// - Returns: The result of `body`.
    /// - Throws: What `body` throws.
    public func wait<Value: Sendable, Failure: Error>(
        _ body: @escaping @Sendable (CoreContext) async throws(Failure) -> Value
    ) throws(Failure) -> Value {
        run.assertOnThread()
        return try run.wait(body)
    }

    /// Tells the loop that the stack has stopped. The loop ends after the present callback. If the stack was not told
    /// to stop, the core has ended by itself.
    public func end() {
        run.assertOnThread()
        run.end()
    }

    /// Makes the loop call a closure with the stack, between two callbacks. Callable from any thread; returns at once.
    ///
    /// ```swift
    /// loop.perform { (stack: MailStack) in stack.send(text) }
    /// ```
    ///
    /// Closures run in the order of their calls; their queue has no bound. A closure that throws ends the core, and so
    /// does a closure for another type of stack. The loop calls ``LoopStack/prepare()`` anew afterwards.
    ///
    /// - Returns: True if the loop has accepted the closure. An accepted closure is dropped if the loop ends before it
    ///   runs.
    @discardableResult
    public func perform<Stack: LoopStack>(_ body: @escaping @Sendable (Stack) throws -> Void) -> Bool {
        run.perform { stack in
            guard let stack = stack as? Stack else {
                throw SharedCoreError(
                    .invalidArgument,
                    "perform(_:) was given a closure for \(Stack.self). The stack is a \(type(of: stack)).",
                    at: "LoopContext")
            }
            try body(stack)
        }
    }
}
