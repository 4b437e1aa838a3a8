/// Defects of the file backend.
package enum Defect: BackendDefect {
    // MARK: - The order

    /// A record is published also when the commit word has changed since.
    case blindPublication
    /// A writer that is frozen under the lock is waited for.
    case endlessPatience
    /// A writer that is passed over again and again gives no sign of life.
    case silentWriter
    /// A compaction leaves the old journal open.
    case unsealedCompaction
    /// A reader takes the place that it has come to for the published end.
    case cachedTail
    /// A record with a wrong checksum is believed.
    case ignoredChecksum
    /// The journal of an earlier run of the machine goes on in this one.
    case ignoredBoot
    /// After a start of the machine, revisions go on where the files end.
    case repeatedRevisions
    /// Time is that of the wall clock.
    case wallClock

    // MARK: - The disk

    /// A commit returns before it is on the disk.
    case unawaitedDisk
    /// A failed sync is forgotten by all but the process that saw it.
    case forgottenFailure
    /// Content may use all space, also that of endings and of the next compaction.
    case withoutReserve
    /// An ending that finds no space makes none.
    case withoutRoom
    /// A journal that was replaced keeps its space as long as a process has it open.
    case heldSpace

    // MARK: - Wake-ups

    /// Wake channels are signalled before the commit is published.
    case earlyRing
    /// Wake channels are opened only when they are signalled, so that the end of a writer signals none.
    case lateBells
    /// The listeners are forgotten when the journal is passed over.
    case lostInterest
    /// A queue of events that has overflowed is taken for one that has not.
    case overlookedOverflow
    /// Writers do not wake the threads that sleep at shared memory.
    case silentSignals

    // MARK: - Sessions

    /// Locks belong to a process, which loses them with any descriptor of the file that it closes.
    case processLocks
    /// Programs that are started inherit the files.
    case inheritedFiles
    /// A check whether a lock is held takes it.
    case lockingProbe
    /// The end of a process is not waited for.
    case unawaitedEnds
    /// A lock that is held proves a life, also when a child of the ended process holds it.
    case believedLock

    #if FAIL_POINTS
        package static let present = injected()
    #endif
}
