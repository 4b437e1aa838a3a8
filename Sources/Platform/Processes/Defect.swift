/// Defects of the file backend.
package enum Defect: BackendDefect {
    // MARK: - The order

    /// A record is published even if the commit word has changed since.
    case blindPublication
    /// Other processes wait without limit for a writer that is frozen under the lock.
    case endlessTimeout
    /// A writer that is passed over repeatedly does not show that it runs (its tick).
    case silentWriter
    /// A compaction leaves the old journal open.
    case unsealedCompaction
    /// A reader treats its own position as the published end.
    case cachedTail
    /// A record with a wrong checksum is accepted.
    case ignoredChecksum
    /// The journal of an earlier boot of the machine is continued in this one.
    case ignoredBoot
    /// After a restart of the machine, revisions continue where the files end.
    case repeatedRevisions
    /// Times are of the wall clock.
    case wallClock

    // MARK: - The disk

    /// A commit returns before it is on the disk.
    case unawaitedDisk
    /// Only the process that saw a failed sync acts on it.
    case forgottenFailure
    /// Content may use all space, including that for endings and for the next compaction.
    case withoutReserve
    /// An ending that finds no space does not free any.
    case withoutRoom
    /// A journal that was replaced keeps its space as long as a process has it open.
    case heldSpace

    // MARK: - Wake-ups

    /// Wake channels are signalled before the commit is published.
    case earlyRing
    /// Wake channels are opened only when they are signalled, so that the end of a writer signals none.
    case lateBells
    /// The interest of listeners is lost when the journal is passed over.
    case lostInterest
    /// An overflow of the event queue is ignored.
    case overlookedOverflow
    /// Writers do not wake the threads that sleep at shared memory.
    case silentSignals
    /// A thread that sleeps at shared memory is not woken when it must listen to other channels.
    case unchangedSleep

    // MARK: - Sessions

    /// Locks belong to a process, which loses them with any descriptor of the file that it closes.
    case processLocks
    /// Programs that are started inherit the files.
    case inheritedFiles
    /// A check of whether a lock is held takes the lock.
    case lockingProbe
    /// The ends of processes are not awaited.
    case unawaitedEnds
    /// A held lock proves that the process is alive, even if a child of the ended process holds it.
    case believedLock
    /// A reader is opened as a participant, with a session and the right to write.
    case participatingReader

    #if FAIL_POINTS
        package static let present = injected()
    #endif
}
