internal import CoreAPI
internal import Platform
internal import Replica
internal import StoreEngine
internal import Synchronization

/// Recovers a group after the disk has lost a part of it. A later sync of the same file would prove nothing, so all
/// processes abandon the journal (``CommitWord/isAbandoned``), and one of them writes the group anew, in a new file,
/// until that is on the disk.
extension LocalGroup {
    /// Waits until an answer to a request, and the state that it depends on, survives a loss of power.
    ///
    /// - Throws: `outcomeUnknown`.
    func settle(_ written: Written) async throws(SharedCoreError) {
        do throws(SharedCoreError) {
            try await durability.wait(for: written.journal, to: written.tail, in: directory)
        } catch {
            rescue()
            rewriteInBackground()
            throw error
        }
    }

    /// If the journal was abandoned, copies the part that the disk has not confirmed into this process's memory, from
    /// which its reads then get it.
    func rescue() {
        let journal = position.journal
        if journal.word.isAbandoned, !Defect.forgottenFailure.isPresent { journal.abandon() }
    }

    /// Waits until the present journal can be synced to the disk. Writes the group anew if necessary.
    ///
    /// - Throws: `unavailable` while the disk refuses.
    func requireTrust() async throws(SharedCoreError) {
        guard position.journal.word.isAbandoned, !Defect.forgottenFailure.isPresent else { return }
        try await compaction.thread.run { [self] () throws(SharedCoreError) in try rewrite() }
    }

    /// Throws if the journal in which a request is evaluated was abandoned. Under the lock.
    func requireTrust(in state: inout StoreState) throws(SharedCoreError) {
        guard follower.position(in: &state).journal.word.isAbandoned, !Defect.forgottenFailure.isPresent else { return }
        throw untrusted(nil)
    }

    /// Starts writing the group anew if necessary, without waiting for it.
    func rewriteInBackground() {
        guard !isReadOnly, position.journal.word.isAbandoned, !Defect.forgottenFailure.isPresent else { return }
        guard compaction.isRunning.compareExchange(expected: false, desired: true, ordering: .acquiring).exchanged
        else { return }
        compaction.thread.submit { [self] in
            try? rewrite()
            compaction.isRunning.store(false, ordering: .releasing)
        }
    }

    /// How often one attempt starts again because another process has changed the journals meanwhile.
    private static let rewriteAttempts = 50

    /// Writes the group anew. Blocks. Only on the compaction's thread.
    private func rewrite() throws(SharedCoreError) {
        try catchUp()
        guard position.journal.word.isAbandoned else { return }
        let now = SystemClock().now()
        guard compaction.retry.withLock({ $0.mayTry(at: now) }) else { throw untrusted(nil) }
        do throws(SharedCoreError) {
            // Another process may continue the order meanwhile. Then check the journal that it has created.
            var lockTimeout = LockTimeout()
            for _ in 0..<Self.rewriteAttempts where position.journal.word.isAbandoned {
                if try compact(isUrgent: true) { break }
                // A process may have sealed the journal and have ended before it created the successor.
                if case .sealed = try catchUp() {
                    try overtake(&lockTimeout)
                } else {
                    OwnedThread.sleep(for: .milliseconds(5))
                }
            }
        } catch {
            compaction.retry.withLock { $0.failed(at: SystemClock().now()) }
            throw untrusted(error)
        }
        guard !position.journal.word.isAbandoned else {
            compaction.retry.withLock { $0.failed(at: SystemClock().now()) }
            throw untrusted(nil)
        }
        compaction.retry.withLock { $0 = RetryPause() }
    }

    func untrusted(_ cause: SharedCoreError?) -> SharedCoreError {
        SharedCoreError(
            .unavailable,
            "A sync of the group's files has failed, and they could not be written anew yet. Nothing was done. See to the disk; "
                + "the group then continues by itself.",
            at: directory.directory.path, cause: cause.map { "\($0)" })
    }
}

/// The time of the next try after a failure.
struct RetryPause {
    private var delay = RetryDelay()
    private var next: BootInstant?

    func mayTry(at now: BootInstant) -> Bool {
        next.map { $0 <= now } ?? true
    }

    mutating func failed(at now: BootInstant) {
        next = now.advanced(by: delay.next())
    }
}
