internal import CoreAPI
internal import Synchronization

extension Calls {
    private static let counter = Atomic<UInt64>(0)
    /// The time to wait for the store's answers after the deadline of a command.
    private static let answerGrace = Duration.seconds(1)

    /// Asks the holder of an open call to carry out a command, and returns when the holder confirms it.
    ///
    /// A command is carried out at most once. If the holder has not taken it at the deadline, or when this process
    /// ends, it is not carried out. A stopped process cannot withdraw its command: the holder then ignores the late
    /// command, if both run on one machine.
    ///
    /// Source: contract C24.
    ///
    /// - Parameters:
    ///   - command: The command for the holder.
    ///   - id: The id of the call.
    ///   - timeout: How long to wait for the holder.
    /// - Throws: ``CoordinationError/Code/notFound`` when no call of the id is open; ``CoordinationError/Code/timeout``
    ///   when its holder has not taken the command; ``CoordinationError/Code/outcomeUnknown`` when the holder has taken
    ///   it and has ended or has not reported the outcome in time, or when the group has not answered a second after
    ///   the deadline; ``CoordinationError/Code/refused`` when it refuses, with its reason;
    ///   ``CoordinationError/Code/store``, with ``SharedCoreError/Code/limitExceeded`` when 16 commands or more wait
    ///   for the call; ``CoordinationError/Code/cancelled``, ``CoordinationError/Code/closed`` and
    ///   ``CoordinationError/Code/fenced``.
    public func send(
        _ command: CallCommand, to id: CallID, within timeout: Duration = .seconds(5)
    ) async throws(CoordinationError) {
        let limit = clock.now().advanced(by: timeout)
        let exchange = Exchange()
        // The exchange continues without its caller if the store does not answer.
        let exchanging = Task {
            let result: Result<Void, CoordinationError>
            do throws(SharedCoreError) {
                result = try await carryOut(exchange, command, with: id, before: limit)
            } catch {
                result = .failure(CoordinationError(ofCommand: error))
            }
            exchange.answer.fulfil(result)
        }
        let timer = Task { await giveUp(exchange, at: limit.advanced(by: Self.answerGrace)) }
        defer { timer.cancel() }
        try await withTaskCancellationHandler {
            await exchange.answer.value()
        } onCancel: {
            exchanging.cancel()
            Task { await giveUp(exchange, at: clock.now().advanced(by: Self.answerGrace)) }
        }.get()
    }

    /// One command and its answer.
    private final class Exchange: Sendable {
        let answer = Promise<Result<Void, CoordinationError>>()
        private let isWritten = Atomic(false)

        /// Records that the command is about to be written, unless its caller has been answered already. Returns false
        /// in that case.
        func write() -> Bool { answer.whileOpen { isWritten.store(true, ordering: .relaxed) } }

        /// Answers the caller if the store does not answer in time.
        func giveUp() {
            answer.fulfil(
                .failure(
                    isWritten.load(ordering: .relaxed)
                        ? CoordinationError(
                            .outcomeUnknown, "The group does not answer, so the outcome of the command is not known.")
                        : Calls.late))
        }
    }

    private func giveUp(_ exchange: Exchange, at instant: BootInstant) async {
        do { try await clock.sleep(until: instant) } catch { return }
        exchange.giveUp()
    }

    private static let late = CoordinationError(
        .timeout, "The holder of the call has not taken the command in time. It is not carried out.")

    private func carryOut(
        _ exchange: Exchange, _ command: CallCommand, with id: CallID, before limit: BootInstant
    ) async throws(SharedCoreError) -> Result<Void, CoordinationError> {
        let call = try CallKey.record(of: id)
        let number = Self.counter.add(1, ordering: .relaxed).newValue
        let key = try CallKey.command(number, of: store.session.id, for: call)
        // If the backend can detect dead processes, this ends their sessions, so that a dead process does not count as
        // the holder.
        _ = try await store.sessions()
        // The watch is armed before the command is written, so no answer is missed.
        let watch = try await store.watch(try CallSight.prefixes(of: call), from: .snapshot)
        defer { watch.cancel() }
        var sight = CallSight(of: call)
        guard let first = try await watch.next() else { return .failure(ended) }
        sight.apply(first)
        guard let open = sight.open else { return .failure(notFound(id)) }
        guard sight.commands.count < CallKey.maximumCommandCount else {
            throw SharedCoreError(
                .limitExceeded, "\(CallKey.maximumCommandCount) commands wait for the call already.", at: key.text)
        }
        guard clock.now() < limit, exchange.write() else { return .failure(Self.late) }
        let record = CommandRecord(command, for: open.record, before: limit, in: clock.bootID)
        let transaction = Transaction.sending(record, as: key, for: call)
        do throws(SharedCoreError) {
            _ = try await store.commit(transaction)
        } catch {
            if error.guardFailure != nil { return .failure(notFound(id)) }
            // The outcome of the commit is unknown, so the command may have been written and taken.
            guard error.code == .outcomeUnknown, let progress = try await withdraw(key) else { throw error }
            return outcome(of: progress)
        }
        let timer = Task { [clock] in
            try await clock.sleep(until: limit)
            watch.cancel()
        }
        defer { timer.cancel() }
        var reason = Self.late
        var reported: CommandProgress?
        do throws(SharedCoreError) {
            reported = try await follow(key, to: open.record, in: watch, from: sight)
            if Task.isCancelled {
                reason = CoordinationError(.cancelled, "The task that sent the command was cancelled.")
            } else if clock.now() < limit {
                reason = notFound(id)
            }
        } catch {
            reason = CoordinationError(ofCommand: error)
        }
        let found: CommandProgress?
        do throws(SharedCoreError) {
            found = try await withdraw(key)
        } catch {
            // The holder has reported the outcome. The command stays in the store until this session ends.
            guard let reported else { throw error }
            found = reported
        }
        guard let progress = found else { return .failure(reason) }
        if progress.kind == .taken, await shows(command, of: open.record, at: call) { return .success(()) }
        return outcome(of: progress)
    }

    /// Returns true if the call's record shows the end that a command asked for: a holder that stops, as for a
    /// hand-over, may end the call without an answer.
    private func shows(_ command: CallCommand, of call: CallRecord, at key: Key) async -> Bool {
        guard let end = command.end, let entry = try? await store.get(key), let record = CallRecord(entry.value) else {
            return false
        }
        return record.state == .ended(end) && (record.began, record.bootID) == (call.began, call.bootID)
    }

    private func outcome(of progress: CommandProgress) -> Result<Void, CoordinationError> {
        switch progress.kind {
        case .done: .success(())
        case .refused: .failure(CoordinationError(.refused, "The holder of the call refuses: \(progress.text)"))
        case .taken:
            .failure(
                CoordinationError(
                    .outcomeUnknown, "The holder of the call has taken the command, and has not reported the outcome."))
        }
    }

    /// Waits until the outcome of a command cannot change: its holder has reported the outcome or no longer owns, the
    /// call ended before the command was taken, or the watch has ended.
    ///
    /// - Returns: The outcome that the holder has reported; nil if it has reported none.
    private func follow(
        _ key: Key, to call: CallRecord, in watch: Watch, from first: CallSight
    ) async throws(SharedCoreError) -> CommandProgress? {
        let progressKey = try CallKey.progress(of: key)
        var sight = first
        while let event = try await watch.next() {
            sight.apply(event)
            if let entry = sight[progressKey] {
                let progress = CommandProgress(entry.value)
                guard progress.kind == .taken else { return progress }
                guard !entry.isOlder(than: sight.owner) else { return nil }
            } else if !sight.isOpen(call) {
                return nil
            }
        }
        return nil
    }

    /// Removes a command, also in a cancelled task. A command without progress can then no longer be taken.
    ///
    /// - Returns: The holder's progress; nil if it had not taken the command.
    func withdraw(_ key: Key) async throws(SharedCoreError) -> CommandProgress? {
        try await Task { () -> Result<CommandProgress?, SharedCoreError> in
            do throws(SharedCoreError) { return .success(try await remove(key)) } catch { return .failure(error) }
        }.value.get()
    }

    private func remove(_ key: Key) async throws(SharedCoreError) -> CommandProgress? {
        let progressKey = try CallKey.progress(of: key)
        while true {
            let entry = try await store.get(progressKey)
            let transaction = try Transaction.withdrawing(key, after: entry)
            do throws(SharedCoreError) {
                _ = try await store.commit(transaction)
                return entry.map { CommandProgress($0.value) }
            } catch {
                guard error.guardFailure?.condition.key == progressKey else { throw error }
            }
        }
    }

    private func notFound(_ id: CallID) -> CoordinationError {
        CoordinationError(.notFound, "No call “\(id.text.prefix(64))” is open.")
    }

    private var ended: CoordinationError { CoordinationError(.closed, "The group's handle is closed.") }
}

extension CoordinationError {
    /// Makes the error of a command from an error of the store.
    fileprivate init(ofCommand error: SharedCoreError) {
        switch error.code {
        case .closed: self.init(.closed, "The group's handle is closed.", cause: error)
        case .sessionEnded: self.init(.fenced, "The session is over for the group.", cause: error)
        case .cancelled: self.init(.cancelled, "The task that sent the command was cancelled.", cause: error)
        default: self.init(.store, "The group's store failed.", cause: error)
        }
    }
}
