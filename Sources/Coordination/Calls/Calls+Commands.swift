public import CoreAPI
internal import Synchronization

extension Calls {
    private static let counter = Atomic<UInt64>(0)

    /// Asks the holder of an open call to do something, and returns when it says that it has.
    ///
    /// A command is carried out at most once. One that its holder has not taken when the time is over, or when this process ends, is not
    /// carried out.
    ///
    /// Source: contract C24.
    ///
    /// - Parameter timeout: How long to wait for the holder.
    /// - Throws: ``CoordinationError/Code/notFound`` when no call of the id is open; ``CoordinationError/Code/timeout`` when its holder has not
    ///   taken the command; ``CoordinationError/Code/outcomeUnknown`` when it has, and has not said what came of it before the time was over, or
    ///   has ended; ``CoordinationError/Code/refused`` when it refuses, with its reason; ``CoordinationError/Code/store``, with
    ///   ``SharedCoreError/Code/limitExceeded`` when 16 commands wait for the call; ``CoordinationError/Code/cancelled``,
    ///   ``CoordinationError/Code/closed`` and ``CoordinationError/Code/fenced``.
    public func send(
        _ command: CallCommand, to id: CallID, within timeout: Duration = .seconds(5)
    ) async throws(CoordinationError) {
        let limit = clock.now().advanced(by: timeout)
        let result: Result<CommandProgress, CoordinationError>
        do throws(SharedCoreError) {
            result = try await exchange(command, with: id, before: limit)
        } catch {
            throw CoordinationError(ofCommand: error)
        }
        let progress = try result.get()
        if progress.kind == .refused {
            throw CoordinationError(.refused, "The holder of the call refuses: \(progress.text)")
        }
    }

    private func exchange(
        _ command: CallCommand, with id: CallID, before limit: BootInstant
    ) async throws(SharedCoreError) -> Result<CommandProgress, CoordinationError> {
        let call = try CallKey.record(of: id)
        let number = Self.counter.add(1, ordering: .relaxed).newValue
        let key = try CallKey.command(number, of: store.session.id, for: call)
        // Armed before the command is there: no answer goes unnoticed.
        let watch = try await store.watch(try CallSight.prefixes(of: call), from: .snapshot)
        defer { watch.cancel() }
        var sight = CallSight(of: call)
        guard let first = try await watch.next() else { return .failure(ended) }
        sight.apply(first)
        guard sight.open != nil else { return .failure(notFound(id)) }
        guard sight.commands.count < CallKey.maximumCommandCount else {
            throw SharedCoreError(
                .limitExceeded, "At most \(CallKey.maximumCommandCount) commands wait for a call.", at: key.text)
        }
        var transaction = Transaction(guards: [.exists(call)])
        transaction.put(key, [CallKey.commandVersion, command.rawValue], lifetime: .session)
        do throws(SharedCoreError) {
            _ = try await store.commit(transaction)
        } catch {
            if error.guardFailure != nil { return .failure(notFound(id)) }
            // It may stand there.
            if error.code == .outcomeUnknown { _ = try await withdraw(key) }
            throw error
        }
        let timer = Task { [clock] in
            try await clock.sleep(until: limit)
            watch.cancel()
        }
        defer { timer.cancel() }
        var reason = CoordinationError(
            .timeout, "The holder of the call has not taken the command in time. It is not carried out.")
        do throws(SharedCoreError) {
            if let progress = try await follow(key, in: watch, from: sight) { return .success(progress) }
            if Task.isCancelled {
                reason = CoordinationError(.cancelled, "The task that sent the command was cancelled.")
            } else if clock.now() < limit {
                reason = notFound(id)
            }
        } catch {
            reason = CoordinationError(ofCommand: error)
        }
        // In a task of its own, for a task that was cancelled.
        let last = try await Task { () -> Result<CommandProgress?, SharedCoreError> in
            do throws(SharedCoreError) { return .success(try await withdraw(key)) } catch { return .failure(error) }
        }.value.get()
        switch last?.kind {
        case nil: return .failure(reason)
        case .taken:
            return .failure(
                CoordinationError(
                    .outcomeUnknown, "The holder of the call has taken the command, and has not said what came of it."))
        case .done, .refused: return last.map { .success($0) } ?? .failure(reason)
        }
    }

    /// Waits for what the holder says of a command.
    ///
    /// - Returns: Nil when nothing more is to be waited for: the watch has ended, the call is over before the command was taken, or the holder
    ///   that took it is no owner any more.
    private func follow(
        _ key: Key, in watch: Watch, from first: CallSight
    ) async throws(SharedCoreError) -> CommandProgress? {
        let progressKey = try CallKey.progress(of: key)
        var sight = first
        var wasTaken = false
        while let event = try await watch.next() {
            sight.apply(event)
            if let entry = sight[progressKey] {
                let progress = CommandProgress(entry.value)
                if progress.kind != .taken {
                    _ = try await withdraw(key)
                    return progress
                }
                if entry.isOlder(than: sight.owner) { return nil }
                wasTaken = true
            } else if wasTaken {
                return CommandProgress(.taken)
            } else if sight.open == nil {
                return nil
            }
        }
        return nil
    }

    /// Removes a command. One that has no progress is not taken any more.
    ///
    /// - Returns: How far its holder was with it; nil where it had not taken it.
    private func withdraw(_ key: Key) async throws(SharedCoreError) -> CommandProgress? {
        let progressKey = try CallKey.progress(of: key)
        while true {
            let entry = try await store.get(progressKey)
            var transaction = Transaction(
                guards: [entry.map { .revision(progressKey, $0.revision) } ?? .absent(progressKey)])
            transaction.delete(key)
            transaction.delete(progressKey)
            do throws(SharedCoreError) {
                _ = try await store.commit(transaction)
                return entry.map { CommandProgress($0.value) }
            } catch {
                guard error.guardFailure != nil else { throw error }
            }
        }
    }

    private func notFound(_ id: CallID) -> CoordinationError {
        CoordinationError(.notFound, "No call “\(id.text.prefix(64))” is open.")
    }

    private var ended: CoordinationError { CoordinationError(.closed, "The group's handle is closed.") }
}

extension CoordinationError {
    /// An error of the store that a command met.
    fileprivate init(ofCommand error: SharedCoreError) {
        switch error.code {
        case .closed: self.init(.closed, "The group's handle is closed.", cause: error)
        case .sessionEnded: self.init(.fenced, "The session is over for the group.", cause: error)
        case .cancelled: self.init(.cancelled, "The task that sent the command was cancelled.", cause: error)
        default: self.init(.store, "The group's store failed.", cause: error)
        }
    }
}
