internal import Coordination
internal import CoreAPI
internal import FileNotifyBackend
internal import Platform
internal import ProgramOutput
internal import SharedCoreConfiguration
internal import Synchronization

/// An operation on a group that a person starts, by a command or from the page. Both call the same function.
///
/// The timeline gets an entry `operated` with the user, before the operation or in the same commit.
enum Operation: Hashable, Sendable {
    /// Moves the pushes that were given up back to the queue.
    case retryPushes
    /// Forgets the pushes of a call-id that were given up.
    case dropPushes(CallID)
    /// Pauses the host: it starts no Executors until ``resumeHost``.
    case pauseHost
    case resumeHost
    /// Asks the owner's process to end, so that its core stops and the ownership is released. With an epoch, only that one.
    case handOver(epoch: Revision?, isForced: Bool)
    /// Asks the process of a session, by its id as `status` prints it, to end.
    case endSession(String, isForced: Bool)
    /// Replaces the journal by one with a snapshot.
    case compact
}

/// The outcome of an operation.
struct OperationReceipt: Sendable {
    let text: String
    let json: JSONObject
    /// False if the operation has begun but is not complete, for example because a process does not end in time.
    var isDone = true
}

extension CommandContext {
    /// Performs an operation in the configured group, with a session for it alone.
    ///
    /// - Parameters:
    ///   - command: The command's name, for messages and for the name of the session.
    ///   - user: The number of the acting user, for the timeline.
    ///   - timeout: The time limit for the end of a process that is told to end.
    ///   - startsHub: Whether a hub is started if the group needs one and none runs. A hub belongs to the service of the
    ///     process that starts it and ends with that service, so a server starts none.
    ///   - check: Called when the group is open, before anything is done. It throws if another group is meant.
    func perform(
        _ operation: Operation, for command: String, by user: UInt32 = OwnProcess.user,
        timeout: Duration = Operator.timeout, startsHub: Bool = true,
        check: @Sendable () async throws -> Void = {}
    ) async throws -> OperationReceipt {
        if operation == .compact { return try await compact(by: user, check: check) }
        try requirePresentGroup()
        let group = try await openGroup(
            as: SessionDescription(role: .tool, name: "sharedcore \(command)"), for: command, startsHub: startsHub)
        return try await group.closing {
            try await check()
            return try await Operator(group: group, user: user, timeout: timeout).perform(operation, in: self)
        }
    }

    /// The maximum number of attempts at a compaction. An attempt fails if another process compacts first.
    private static let compactionCount = 3

    private func compact(by user: UInt32, check: @Sendable () async throws -> Void) async throws -> OperationReceipt {
        let place = try directoryOfFiles(for: "compact")
        try requirePresentGroup(at: place)
        let group: FileGroup
        do throws(SharedCoreError) {
            group = try await FileGroup.open(
                directory: place, as: SessionDescription(role: .tool, name: "sharedcore compact"))
        } catch {
            throw try CommandFailure.opening(error, with: resolution)
        }
        return try await group.closing {
            try await check()
            try await Operator(group: group, user: user).note("has the journal compacted")
            let before = JournalTotal(of: place)
            for _ in 0..<Self.compactionCount {
                guard try await group.compactNow() else { continue }
                let after = JournalTotal(of: place)
                return OperationReceipt(
                    text: "The journal has \(after.byteCount.counting("byte")); it had \(before.byteCount).",
                    json: ["event": "compacted", "before": .object(before.json), "after": .object(after.json)])
            }
            throw CommandFailure(.unavailable, "other processes replace the journal at this moment; try again")
        }
    }
}

/// The journals of a group's directory together.
struct JournalTotal: Hashable, Sendable {
    let count: Int
    let byteCount: Int
    let allocatedByteCount: Int

    init(of directory: String) {
        let journals = FileGroup.journals(in: directory)
        count = journals.count
        byteCount = journals.reduce(0) { $0 + $1.byteCount }
        allocatedByteCount = journals.reduce(0) { $0 + $1.allocatedByteCount }
    }

    /// `count bytes diskBytes`.
    var json: JSONObject {
        [
            "count": .integer(Int64(count)), "bytes": .integer(Int64(byteCount)),
            "diskBytes": .integer(Int64(allocatedByteCount)),
        ]
    }
}

/// Performs operations through a handle, for a user.
struct Operator: Sendable {
    /// The default time limit for the end of a process that is asked to end.
    static let timeout = Duration.seconds(10)
    private static let pause = Duration.milliseconds(50)

    let group: any SharedGroup
    let user: UInt32
    var timeout = Self.timeout
    private let clock = SystemClock()

    init(group: any SharedGroup, user: UInt32, timeout: Duration = Self.timeout) {
        self.group = group
        self.user = user
        self.timeout = timeout
    }

    func perform(_ operation: Operation, in context: CommandContext) async throws -> OperationReceipt {
        switch operation {
        case .retryPushes: try await retryPushes(in: try context.resolution.pushQueue(of: group))
        case .dropPushes(let callID): try await drop(callID, in: try context.resolution.pushQueue(of: group))
        case .pauseHost: try await pauseHost()
        case .resumeHost: try await resumeHost()
        case .handOver(let epoch, let isForced): try await handOver(of: epoch, isForced: isForced)
        case .endSession(let id, let isForced): try await endSession(id, isForced: isForced)
        case .compact: try await context.perform(operation, for: "compact", by: user)
        }
    }

    /// Adds the user's operation to the timeline.
    func note(_ sentence: String) async throws(SharedCoreError) {
        try await commitNote(sentence)
        try await Timeline(group).trim()
    }

    /// Commits an entry of the timeline about the operation.
    ///
    /// - Parameter condition: A guard of the same commit.
    private func commitNote(
        _ sentence: String, requiring condition: Transaction.Guard? = nil
    ) async throws(SharedCoreError) {
        var transaction = Transaction()
        if let condition { transaction.require(condition) }
        try note(sentence, in: &transaction)
        _ = try await group.commit(transaction)
    }

    private func note(_ sentence: String, in transaction: inout Transaction) throws(SharedCoreError) {
        let entry = TimelineEntry(
            .operated, by: group.session, reason: "user \(user) \(sentence)", at: clock.now(), bootID: clock.bootID)
        try Timeline(group).append(entry, to: &transaction)
    }

    // MARK: - Pushes

    private func retryPushes(in queue: PushQueue) async throws -> OperationReceipt {
        try await note("has the pushes tried anew that were given up")
        let (count, left) = try await queue.retryFailures()
        return OperationReceipt(
            text: count.counting("push is", "pushes are") + " tried anew"
                + (left > 0
                    ? "; \(left.counting("stays", "stay")) given up, because push.capacity is reached." : "."),
            json: ["event": "retried", "count": .integer(Int64(count)), "left": .integer(Int64(left))])
    }

    private func drop(_ callID: CallID, in queue: PushQueue) async throws -> OperationReceipt {
        let count = try await queue.dropFailures(of: callID) {
            (transaction: inout Transaction) throws(SharedCoreError) in
            try note("drops the given-up pushes of “\(callID.text)”", in: &transaction)
        }
        guard count > 0 else {
            throw CommandFailure(.no, "no push of “\(ValueText.oneLine(callID.text))” is given up")
        }
        try await Timeline(group).trim()
        return OperationReceipt(
            text: count.counting("push is", "pushes are") + " dropped.",
            json: ["event": "dropped", "callID": .text(callID.text), "count": .integer(Int64(count))])
    }

    // MARK: - The host

    private func pauseHost() async throws -> OperationReceipt {
        var transaction = Transaction()
        transaction.require(.absent(HostPause.key))
        transaction.put(HostPause.key, HostPause(user: user).bytes)
        try note("pauses the host", in: &transaction)
        let isNew = try await commit(transaction)
        return OperationReceipt(
            text: isNew ? "The host is paused: pushes wait." : "The host is paused already.",
            json: ["event": "paused", "changed": .flag(isNew)])
    }

    private func resumeHost() async throws -> OperationReceipt {
        var isChanged = false
        if let entry = try await group.get(HostPause.key) {
            var transaction = Transaction()
            transaction.require(.revision(HostPause.key, entry.revision))
            transaction.delete(HostPause.key)
            try note("resumes the host", in: &transaction)
            isChanged = try await commit(transaction)
        }
        return OperationReceipt(
            text: isChanged ? "The host continues." : "The host is not paused.",
            json: ["event": "resumed", "changed": .flag(isChanged)])
    }

    /// Commits a pause or a resumption of the host.
    ///
    /// - Returns: False if another process has done the same in between.
    private func commit(_ transaction: Transaction) async throws(SharedCoreError) -> Bool {
        do throws(SharedCoreError) {
            _ = try await group.commit(transaction)
        } catch {
            guard error.guardFailure?.condition.key == HostPause.key else { throw error }
            return false
        }
        try await Timeline(group).trim()
        return true
    }

    // MARK: - Sessions

    private func handOver(of epoch: Revision?, isForced: Bool) async throws -> OperationReceipt {
        guard let owner = try await GroupOwner.current(in: group) else {
            throw CommandFailure(.no, "no participant owns the core")
        }
        if let epoch, owner.epoch != epoch {
            throw CommandFailure(.no, "epoch \(epoch) does not own any more; epoch \(owner.epoch) does")
        }
        // The owner is the holder, which owns for a Main that rests. It runs no core, and its process has other tasks,
        // so refuse to end it.
        if let resting = try await RestingMain.current(in: group) {
            throw CommandFailure(
                .no, "no core runs: pid \(owner.process.pid) owns for main “\(resting.name)”, which rests")
        }
        guard let session = try await self.session({ $0.id == owner.session }) else {
            throw CommandFailure(.no, "epoch \(owner.epoch) does not own any more")
        }
        let isEnded: Bool
        do {
            isEnded = try await end(
                session, isForced: isForced,
                "asks the owner, epoch \(owner.epoch), to hand over: \(owner.role) “\(owner.name)”, pid \(owner.process.pid)",
                requiring: .epoch(OwnershipKey.owner, owner.epoch))
        } catch let error as SharedCoreError where error.guardFailure?.condition.key == OwnershipKey.owner {
            throw CommandFailure(.no, "epoch \(owner.epoch) does not own any more")
        }
        return receipt(
            of: session, isEnded, event: "handedOver", "Epoch \(owner.epoch) is over",
            more: ["epoch": .natural(owner.epoch.rawValue)])
    }

    private func endSession(_ id: String, isForced: Bool) async throws -> OperationReceipt {
        guard let session = try await self.session({ $0.id.description == id }) else {
            throw CommandFailure(.no, "there is no session “\(ValueText.oneLine(id))”; “sharedcore status” lists them")
        }
        let isEnded = try await end(
            session, isForced: isForced,
            "asks session \(session.id) to end: \(session.role) “\(session.name)”, pid \(session.process.pid)")
        return receipt(of: session, isEnded, event: "ended", "Session \(session.id) has ended", more: [:])
    }

    private func receipt(
        of session: Session, _ isEnded: Bool, event: String, _ sentence: String, more: JSONObject
    ) -> OperationReceipt {
        var json: JSONObject = [
            "event": .text(isEnded ? event : "running"), "session": .text(session.id.description),
            "pid": .integer(Int64(session.process.pid)),
        ]
        for (name, value) in more.members { json.append(name, value) }
        return OperationReceipt(
            text: isEnded
                ? sentence + "."
                : "Process \(session.process.pid) was asked to end, and has not ended within "
                    + "\(DurationText.write(timeout)).",
            json: json, isDone: isEnded)
    }

    private func session(_ isMeant: (Session) -> Bool) async throws(SharedCoreError) -> Session? {
        try await group.sessions().first(where: isMeant)
    }

    /// Sends SIGTERM, or SIGKILL if forced, to the process of a session.
    ///
    /// - Parameters:
    ///   - sentence: The sentence for the timeline. It is written immediately before the signal, when a pidfd of the
    ///     process is open and the kernel has proven that the process has the session. If no signal is sent after all,
    ///     another entry says so.
    ///   - condition: A guard of that commit, which fails if what the caller has read has changed since. Then no
    ///     process is signalled.
    /// - Returns: True if the session has ended in time.
    private func end(
        _ session: Session, isForced: Bool, _ sentence: String, requiring condition: Transaction.Guard? = nil
    ) async throws -> Bool {
        let (id, process) = (session.id, session.process)
        guard process.bootID == clock.bootID else {
            throw CommandFailure(.unavailable, "session \(id) is one of another machine: end it there")
        }
        guard process != .current else { throw CommandFailure(.no, "session \(id) is this process's own") }
        let noting = Mutex<Result<Void, SharedCoreError>?>(nil)
        let outcome = await LocalProcessControl().signal(isForced ? .kill : .terminate, to: process) {
            guard let prover = group as? any SessionProver else {
                return "the backend cannot prove to which process a session belongs"
            }
            if let doubt = await prover.doubt(that: process, has: id) { return doubt }
            do throws(SharedCoreError) {
                try await commitNote(sentence + (isForced ? ", by SIGKILL" : ""), requiring: condition)
                noting.withLock { $0 = .success(()) }
                return nil
            } catch {
                noting.withLock { $0 = .failure(error) }
                return error.sentence
            }
        }
        let isNoted = try noting.withLock { try $0?.get() } != nil
        switch outcome {
        case .signalled: try await Timeline(group).trim()
        case .gone:
            if isNoted { try await note("did not signal the process of session \(id), which had ended") }
        case .impossible(let reason):
            if isNoted { try await note("did not signal the process of session \(id): \(reason)") }
            throw CommandFailure(.unavailable, "session \(id) is not ended: \(reason)")
        }
        let deadline = clock.now().advanced(by: timeout)
        // A call of `sessions()` ends the sessions of processes that have ended.
        while try await self.session({ $0.id == id }) != nil {
            guard clock.now() < deadline else { return false }
            try await clock.sleep(until: clock.now().advanced(by: Self.pause))
        }
        return true
    }
}
