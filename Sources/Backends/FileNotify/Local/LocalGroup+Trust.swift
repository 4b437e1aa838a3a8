internal import CoreAPI
internal import Platform
internal import Replica
internal import StoreEngine
internal import Synchronization

/// How a group goes on when the disk has lost something of it. A later sync of the same file would prove nothing, so
/// the journal is abandoned by all processes (``CommitWord/isAbandoned``), and one of them writes the group anew, in a
/// file of its own, until that is on the disk.
extension LocalGroup {
    /// Returns when an answer to a request, and the state that it rests on, survives the loss of power.
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

    /// Keeps in memory the part of an abandoned journal that the disk has not confirmed: this process's journal keeps
    /// it for all its readers here.
    func rescue() {
        let journal = position.journal
        if journal.word.isAbandoned, !Defect.forgottenFailure.isPresent { journal.abandon() }
    }

    /// Returns when the present journal is one that a sync can bring to the disk, after writing it anew where it must
    /// be.
    ///
    /// - Throws: `unavailable` as long as the disk refuses.
    func requireTrust() async throws(SharedCoreError) {
        guard position.journal.word.isAbandoned, !Defect.forgottenFailure.isPresent else { return }
        try await compaction.thread.run { [self] () throws(SharedCoreError) in try rewrite() }
    }

    /// The same at the place of the order where a request is evaluated. Under the lock.
    func requireTrust(in state: inout StoreState) throws(SharedCoreError) {
        guard follower.position(in: &state).journal.word.isAbandoned, !Defect.forgottenFailure.isPresent else { return }
        throw untrusted(nil)
    }

    /// Writes the group anew when that has to be done, without waiting for it.
    func rewriteInBackground() {
        guard !isReadOnly, position.journal.word.isAbandoned, !Defect.forgottenFailure.isPresent else { return }
        guard compaction.isRunning.compareExchange(expected: false, desired: true, ordering: .acquiring).exchanged
        else { return }
        compaction.thread.submit { [self] in
            try? rewrite()
            compaction.isRunning.store(false, ordering: .releasing)
        }
    }

    /// The number of times that one try begins anew because another process came between.
    private static let rewriteAttempts = 50

    /// Blocks. Only on the compaction's thread.
    private func rewrite() throws(SharedCoreError) {
        try catchUp()
        guard position.journal.word.isAbandoned else { return }
        let now = SystemClock().now()
        guard compaction.retry.withLock({ $0.mayTry(at: now) }) else { throw untrusted(nil) }
        do throws(SharedCoreError) {
            // Another process may be in the way; then its journal is checked.
            var patience = Patience()
            for _ in 0..<Self.rewriteAttempts where position.journal.word.isAbandoned {
                if try compact(isUrgent: true) { break }
                // A journal may be sealed although its successor was never made.
                if case .sealed = try catchUp() {
                    try overtake(&patience)
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
                + "the group goes on by itself.",
            at: directory.directory.path, cause: cause.map { "\($0)" })
    }
}

/// The time at which something is tried again that has failed.
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
