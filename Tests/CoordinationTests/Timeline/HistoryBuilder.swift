import CoreAPI

@testable import Coordination

/// Writes a history line by line, as if participants had committed it: each line is a commit of its own.
struct HistoryBuilder {
    /// A participant that acts in a history.
    struct Actor {
        let session: Session

        init(_ number: UInt64, _ role: SessionRole) {
            session = Session(
                id: SessionID(rawValue: number),
                process: ProcessIdentity(bootID: HistoryBuilder.boot, pid: Int32(1000 + number), startTime: number),
                role: role, name: "\(role)-\(number)", openedAt: BootInstant(nanoseconds: 1))
        }
    }

    static let boot = BootID(high: 1, low: 2)

    private(set) var records: [TimelineRecord] = []
    private var revision: UInt64 = 100
    /// Milliseconds since the machine started.
    var now: UInt64 = 10_000
    var bootID = HistoryBuilder.boot

    var history: TimelineHistory { TimelineHistory(records: records) }
    var report: CheckReport { TimelineChecker.check(history) }
    /// The rules that the checker says are broken.
    var broken: [Violation.Rule] { report.violations.map(\.rule) }

    /// Adds a line and gives its revision.
    @discardableResult
    mutating func add(
        _ kind: TimelineEntry.Kind, by actor: Actor, epoch: Revision? = nil, other: Revision? = nil,
        from: OwnerState? = nil, to: OwnerState? = nil, previous: PreviousOwnership? = nil, bound: Duration? = nil
    ) -> Revision {
        revision += 10
        now += 1
        records.append(
            TimelineRecord(
                revision: Revision(rawValue: revision),
                entry: TimelineEntry(
                    kind, by: actor.session, epoch: epoch, other: other, from: from, to: to, previous: previous,
                    bound: bound, at: BootInstant(nanoseconds: now * 1_000_000), bootID: bootID)))
        return Revision(rawValue: revision)
    }

    /// Acquires, starts the core and runs it.
    mutating func own(_ actor: Actor, after previous: PreviousOwnership? = nil) -> Revision {
        let epoch = add(.acquired, by: actor, to: .starting, previous: previous)
        run(actor, epoch)
        return epoch
    }

    mutating func takeOver(_ actor: Actor, from epoch: Revision, because end: OwnershipEndReason) -> Revision {
        add(.tookOver, by: actor, to: .starting, previous: PreviousOwnership(epoch: epoch, end: end))
    }

    mutating func run(_ actor: Actor, _ epoch: Revision) {
        add(.coreStarted, by: actor, epoch: epoch)
        add(.stateChanged, by: actor, epoch: epoch, from: .starting, to: .running)
    }

    /// Stops the core and releases.
    mutating func release(_ actor: Actor, _ epoch: Revision) {
        add(.stateChanged, by: actor, epoch: epoch, from: .running, to: .stopping)
        add(.coreStopped, by: actor, epoch: epoch)
        add(.released, by: actor, epoch: epoch, from: .stopping)
    }
}
