package import CoreAPI

/// What the entries of a timeline add up to: who owns, which cores run, what was asked and challenged.
///
/// A pure value. The checker reads broken rules off its steps, and a checkpoint keeps it in place of the entries that
/// were dropped.
package struct OwnershipLedger: Hashable {
    /// Who owns.
    package struct Owner: Hashable {
        let epoch: Revision
        let participant: SessionID
        let role: SessionRole
        var state: OwnerState
    }

    /// A moment that a later one is measured from.
    package struct Moment: Hashable {
        let at: BootInstant
        let bootID: BootID

        /// The time until an entry; nil when the machine was restarted in between.
        func elapsed(until entry: TimelineEntry) -> Duration? {
            bootID == entry.bootID ? at.duration(to: entry.at) : nil
        }
    }

    /// That a Main asked for the core, and how long the owner was given.
    package struct Request: Hashable {
        let moment: Moment
        let bound: Duration
    }

    /// A core that was started: its participant and that one's process.
    package struct Core: Hashable {
        package let participant: SessionID
        /// Without a start time, which no entry tells; nil in a checkpoint that was written before processes were kept.
        package let process: ProcessIdentity?
    }

    /// How many of the past's sessions and epochs are remembered.
    package static let memory = 64

    package var owner: Owner?
    /// The epoch of the last acquisition.
    package var lastEpoch: Revision?
    /// The cores that were started and not stopped, by their epochs.
    package var cores: [Revision: Core] = [:]
    /// The epochs that were fenced or given up, so that their cores may run on: the last ones that were, or were seen to run.
    package var superseded: [Revision] = []
    /// The sessions of owners that were found to have ended: the last ones.
    package var endedSessions: [SessionID] = []
    /// The requests of Mains that do not own yet.
    package var requests: [SessionID: Request] = [:]
    /// Since when an epoch has been challenged without an answer.
    package var challenges: [Revision: Moment] = [:]
    /// How many times the witness saw two cores run that both had a right to.
    package var overlaps = 0
    /// How many times it saw one that had lost its right.
    package var supersededOverlaps = 0

    package init() {}

    package mutating func supersede(_ epoch: Revision) {
        superseded.removeAll { $0 == epoch }
        superseded.append(epoch)
        superseded.removeFirst(max(0, superseded.count - Self.memory))
    }

    /// Notes that the session of an owner is over, and with it its core.
    package mutating func endSession(of owner: Owner) {
        endedSessions.append(owner.participant)
        endedSessions.removeFirst(max(0, endedSessions.count - Self.memory))
        requests[owner.participant] = nil
        cores = cores.filter { $0.value.participant != owner.participant }
    }
}
