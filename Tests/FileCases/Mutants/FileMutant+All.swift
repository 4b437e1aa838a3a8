internal import CoreAPITesting
internal import Platform

extension FileMutant {
    package static let all = order + disk + wakeUps + sessions

    private static let order = [
        FileMutant(
            "publishes regardless of the current commit word", .blindPublication, caughtBy: "S15b",
            saying: "the value after it went on: found Optional(\"old\")"),
        FileMutant(
            "waits for a frozen writer for ever", .endlessTimeout, caughtBy: "S15b",
            saying: "the others go on"),
        FileMutant(
            "passes over a writer that takes long for ever", .silentWriter, caughtBy: "F-S15a",
            saying: "it is not passed over again and again while it is waited for"),
        FileMutant(
            "compacts without sealing the old journal", .unsealedCompaction, caughtBy: "F-S9a",
            saying: " was open. "),
        FileMutant(
            "takes the place that it has come to for the published end", .cachedTail, caughtBy: "S4f",
            saying: "the value of round 0 here: found nil"),
        FileMutant(
            "believes a record whose checksum is wrong", .ignoredChecksum, caughtBy: "F-S11a",
            saying: "it is refused as corrupt, and not: ok"),
        FileMutant(
            "goes on with the journal of an earlier run of the machine", .ignoredBoot, caughtBy: "S8j",
            saying: "what expires is gone one full duration after the start"),
        FileMutant(
            "gives revisions out again after a start of the machine", .repeatedRevisions, caughtBy: "F-S3a",
            saying: "a new session's number lies above every revision before"),
        FileMutant(
            "counts time by the wall clock", .wallClock, caughtBy: "F-S8a", saying: "after the start"),
    ]

    private static let disk = [
        FileMutant(
            "returns before a commit is on the disk", .unawaitedDisk, caughtBy: "F-S10a", saying: "stops itself"),
        FileMutant(
            "keeps no space for endings", .withoutReserve, caughtBy: "F-S10b", saying: "error storageFull"),
        FileMutant(
            "makes no room for endings", .withoutRoom, caughtBy: "F-S10c", saying: "error storageFull"),
        FileMutant(
            "leaves a replaced journal its space", .heldSpace, caughtBy: "F-S10d",
            saying: "space is kept for the next compaction"),
        FileMutant(
            "forgets a failed sync", .forgottenFailure, caughtBy: "F-S10e", saying: "a journal of its own"),
    ]

    private static let wakeUps = [
        FileMutant(
            "rings before it publishes", .earlyRing, caughtBy: "S15b",
            saying: "At commit.beforeRing: the value at first: found Optional(\"old\")"),
        FileMutant(
            "opens the bells only when it rings them", .lateBells, caughtBy: "S9c",
            saying: "the watch hears of it", arming: "look.idle:fail"),
        FileMutant(
            "forgets the listeners when it passes over a frozen writer", .lostInterest, caughtBy: "F-N9a",
            saying: "the listener is woken for post 1 after the roll"),
        FileMutant(
            "ignores that the system's queue of events has overflowed", .overlookedOverflow, caughtBy: "F-N9b",
            saying: "everything is delivered, also what was dropped"),
        FileMutant(
            "does not wake a process that sleeps at shared memory", .silentSignals, caughtBy: "F-N4a",
            saying: "the sleeper is woken for post "),
        FileMutant(
            "sleeps on for the channels of before", .unchangedSleep, caughtBy: "F-N4a",
            saying: "the sleeper is woken for post "),
    ]

    private static let sessions = [
        FileMutant(
            "locks for the process in place of the open file", .processLocks, caughtBy: "L1g",
            saying: "the number of participants in round 0, as another process sees: found 2"),
        FileMutant(
            "lets programs that it starts inherit its files", .inheritedFiles, caughtBy: "F-L3a",
            saying: "when the holder is dead and its program lives: found 2"),
        FileMutant(
            "takes the lock that it looks at", .lockingProbe, caughtBy: "F-L3b",
            saying: "the one that looks and the stopped one: found 3"),
        FileMutant(
            "does not wait for the ends of processes", .unawaitedEnds, caughtBy: "L1f",
            saying: "within 10.0 seconds: what one held that was killed", arming: "look.idle:fail"),
        FileMutant(
            "takes a held lock for a life", .believedLock, caughtBy: "L3b",
            saying: "what one held that was killed with a child left"),
        FileMutant(
            "lets a reader take part", .participatingReader, caughtBy: "L4e",
            saying: "the files that reader 0 has changed beside a participant"),
    ]
}
