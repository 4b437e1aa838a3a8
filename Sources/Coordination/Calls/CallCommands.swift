public import CoreAPI

extension OpenCall {
    /// Begins to take the commands that processes of the group send for this call. The watch is armed when this
    /// returns, so no later command is missed; commands that wait already come first.
    ///
    /// ```swift
    /// for try await received in try await call.commands() {
    ///     guard await telephone.do(received.command) else {
    ///         try await received.refuse(because: "the line is dead")
    ///         continue
    ///     }
    ///     try await received.accept()
    /// }
    /// ```
    ///
    /// Each element is a command that this core has taken; no command is delivered twice. The sequence ends when the
    /// call or the ownership ends, and when its task is cancelled. It has one consumer at a time. Without a consumer a
    /// command is not carried out, and its sender gets a timeout at the command's deadline.
    ///
    /// Source: contract C24.
    public func commands() async throws(SharedCoreError) -> CallCommands {
        let watch = try await context.store.watch(try CallSight.prefixes(of: key), from: .snapshot)
        return CallCommands(for: self, watch: watch)
    }
}

/// The commands for a call, as its holder receives them.
///
/// Source: contract C24.
public final class CallCommands: AsyncSequence, Sendable {
    public typealias Element = ReceivedCallCommand
    public typealias Failure = SharedCoreError

    private let call: OpenCall
    private let watch: Watch

    init(for call: OpenCall, watch: Watch) {
        self.call = call
        self.watch = watch
    }

    /// Ends the sequence. Idempotent.
    public func cancel() {
        watch.cancel()
    }

    public func makeAsyncIterator() -> Iterator {
        Iterator(call: call, watch: watch)
    }

    /// Takes commands, the oldest first.
    public struct Iterator: AsyncIteratorProtocol {
        private let call: OpenCall
        private let watch: Watch
        private var sight: CallSight
        /// The commands that this iterator has taken. The watch may still show such a command as waiting, because it
        /// delivers a commit later than the commit returns.
        private var taken: Set<Key> = []
        private var hasBegun = false

        init(call: OpenCall, watch: Watch) {
            self.call = call
            self.watch = watch
            sight = CallSight(of: call.key)
        }

        /// Waits for the next command and takes it; returns nil after the ownership or the call has ended.
        ///
        /// - Throws: The errors of the store; ``SharedCoreError/Code/outcomeUnknown`` if it is not known whether a
        ///   command was taken; the command is not carried out.
        public mutating func next() async throws(SharedCoreError) -> ReceivedCallCommand? {
            try await take()
        }

        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(SharedCoreError) -> ReceivedCallCommand? {
            try await take()
        }

        private nonisolated(nonsending) mutating func take() async throws(SharedCoreError) -> ReceivedCallCommand? {
            while true {
                if hasBegun {
                    guard sight.owner == call.context.epoch else { return nil }
                    try await removeLeftovers()
                    guard let open = sight.open else { return nil }
                    for entry in sight.commands where !taken.contains(entry.key) {
                        if let received = try await take(entry, for: open.record, at: open.revision) {
                            return received
                        }
                    }
                }
                guard let event = try await watch.next() else { return nil }
                hasBegun = true
                sight.apply(event)
                let present = Set(sight.commands.map(\.key))
                taken.formIntersection(present)
            }
        }

        /// Takes a command. Returns nil if the command was removed, was taken, is late, cannot be read, or is for an earlier
        /// call of the id. Also returns nil if the call has changed; the watch then delivers the change.
        private nonisolated(nonsending) mutating func take(
            _ entry: Entry, for record: CallRecord, at revision: Revision
        ) async throws(SharedCoreError) -> ReceivedCallCommand? {
            let progress = try CallKey.progress(of: entry.key)
            guard sight[progress] == nil, let command = CommandRecord(entry.value), command.isFor(record) else {
                return nil
            }
            // If the backend can detect dead processes, this ends their sessions, which removes the commands of senders
            // that have died.
            _ = try await call.context.store.sessions()
            // A sender that is frozen cannot withdraw its command, so the deadline is checked here too.
            let clock = call.context.clock
            guard !command.isOver(at: clock.now(), in: clock.bootID) else { return nil }
            let transaction = try Transaction.taking(entry, for: call.key, at: revision)
            do throws(SharedCoreError) {
                let commit = try await call.context.store.commit(transaction)
                taken.insert(entry.key)
                return ReceivedCallCommand(
                    command: command.command, call: call.id, sender: entry.origin, key: entry.key, progress: progress,
                    epoch: commit.revision, store: call.context.store)
            } catch {
                guard let key = error.guardFailure?.condition.key, key != OwnershipKey.owner else { throw error }
                return nil
            }
        }

        /// Removes the progress of commands that ended with the session of their sender.
        private nonisolated(nonsending) func removeLeftovers() async throws(SharedCoreError) {
            for key in sight.leftovers { _ = try await call.context.store.delete(key) }
        }
    }
}

/// A command that a core has taken. The core reports the outcome once; if the core ends before that, the outcome is
/// unknown.
///
/// Source: contract C24.
public struct ReceivedCallCommand: Sendable {
    /// The requested change.
    public let command: CallCommand
    /// The call that it is for.
    public let call: CallID
    /// The session that sent the command.
    public let sender: SessionID

    let key: Key
    let progress: Key
    let epoch: Revision
    let store: any SharedStore

    /// Reports that the command was carried out. A sender that no longer waits does not learn of it.
    ///
    /// - Throws: ``SharedCoreError/Code/guardFailed`` when the core is superseded.
    public func accept() async throws(SharedCoreError) {
        try await finish(CommandProgress(.done))
    }

    /// Reports that the command is not carried out.
    ///
    /// - Parameter reason: The reason, as text for users: at most 256 bytes of UTF-8.
    /// - Throws: As ``accept()``; ``SharedCoreError/Code/invalidArgument`` for a reason that is too long.
    public func refuse(because reason: String) async throws(SharedCoreError) {
        guard reason.utf8.count <= CallDescription.maximumReasonByteCount else {
            throw SharedCoreError(
                .invalidArgument, "A reason has at most \(CallDescription.maximumReasonByteCount) bytes.",
                at: progress.text)
        }
        try await finish(CommandProgress(.refused, reason))
    }

    private func finish(_ outcome: CommandProgress) async throws(SharedCoreError) {
        let transaction = try Transaction.finishing(key, as: outcome, taken: epoch)
        do throws(SharedCoreError) {
            _ = try await store.commit(transaction)
        } catch {
            switch error.guardFailure?.condition.key {
            case progress: break
            // The sender has ended, so no other process removes this outcome.
            case key: _ = try await store.delete(progress)
            default: throw error
            }
        }
    }
}
