internal import CoreAPI
internal import Glibc
internal import Platform

/// How long a writer waits for the journal's lock before it takes its holder for frozen: as long as nothing is
/// published for a while. A wrong suspicion costs a new journal and nothing else.
struct Patience {
    /// How long nothing may be published.
    static let frozenNanoseconds: UInt64 = 100_000_000
    /// How long a sealed journal may be without a successor: whoever sealed it has the next one ready.
    static let sealedNanoseconds: UInt64 = 3_000_000
    /// What one try counts at most, so that a process that was stopped itself suspects nobody for that.
    private static let stepLimit: UInt64 = 20_000_000

    private var generation: UInt64 = 0
    private var word: CommitWord?
    private var waited: UInt64 = 0
    private var last: BootInstant?
    private var tries = 0

    /// Begins anew.
    mutating func reset() {
        self = Patience()
    }

    /// Whether it is over, looking at the journal whose lock is not to be had.
    mutating func isOver(at journal: Journal) -> Bool {
        if Defect.endlessPatience.isPresent { return false }
        let now = SystemClock().now()
        let found = journal.word
        if found != word || journal.generation != generation {
            (word, generation, waited) = (found, journal.generation, 0)
        } else if let last {
            waited += min(last.duration(to: now).clampedNanoseconds, Self.stepLimit)
        }
        last = now
        return waited >= (found.isSealed ? Self.sealedNanoseconds : Self.frozenNanoseconds)
    }

    /// Waits a little before the next try: at first only for other threads to run.
    mutating func pause() {
        tries += 1
        if tries < 8 {
            sched_yield()
        } else {
            usleep(tries < 32 ? 50 : 500)
        }
    }
}
