package import CoreAPI

/// The state that results from a timeline's entries: the owner, the running cores, the requests and the challenges.
///
/// A pure value. The checker finds broken rules as it applies the entries, and a checkpoint stores it in place of the
/// entries that were dropped.
package struct OwnershipLedger: Hashable {
    /// The owner.
    package struct Owner: Hashable {
        let epoch: Revision
        /// The session that owns; during a rest, the session of the holder.
        var participant: SessionID
        let role: SessionRole
        var state: OwnerState
        /// The Main that rests; nil if none does.
        var sleeper: SessionID?
        /// When that Main was woken first.
        var wokenAt: Moment?
        /// How long it had then.
        var wakeBound = Duration.zero
        /// True if its session has a lease, so that the core may run on after the session has ended.
        var hasLease = false
    }

    /// A point in time, from which the time to a later entry is computed.
    package struct Moment: Hashable {
        let at: BootInstant
        let bootID: BootID

        /// Returns the time until an entry; nil when the machine was restarted in between.
        func elapsed(until entry: TimelineEntry) -> Duration? {
            bootID == entry.bootID ? at.duration(to: entry.at) : nil
        }
    }

    /// A Main's request for the core, and the time that the owner was given.
    package struct Request: Hashable {
        let moment: Moment
        let bound: Duration
    }

    /// A core that was started: its participant, and the process of that participant.
    package struct Core: Hashable {
        package let participant: SessionID
        /// The process, without its start time, which no entry has; nil in a checkpoint of a version that did not store
        /// processes.
        package let process: ProcessIdentity?
    }

    /// How many past sessions, and how many past epochs, are remembered.
    package static let memory = 64

    package var owner: Owner?
    /// The epoch of the last acquisition.
    package var lastEpoch: Revision?
    /// The cores that were started and not stopped, by their epochs.
    package var cores: [Revision: Core] = [:]
    /// The epochs with cores that may run on: they were fenced or given up, or their session had a lease and has ended.
    /// Only the most recent ones are kept.
    package var superseded: [Revision] = []
    /// The sessions of owners that have ended; only the most recent ones are kept.
    package var endedSessions: [SessionID] = []
    /// The requests of Mains that do not own yet.
    package var requests: [SessionID: Request] = [:]
    /// The epochs with an unanswered challenge, and the time of the challenge.
    package var challenges: [Revision: Moment] = [:]
    /// How often the witness saw two running cores that both had the right to run.
    package var overlaps = 0
    /// How often the witness saw a running core that had lost its right to run.
    package var supersededOverlaps = 0
    /// The epochs of batons that were applied, failed or expired; only the most recent ones are kept.
    package var endedBatons: [Revision] = []

    package init() {}

    package mutating func supersede(_ epoch: Revision) {
        superseded.removeAll { $0 == epoch }
        superseded.append(epoch)
        superseded.removeFirst(max(0, superseded.count - Self.memory))
    }

    /// Records that the session of an owner has ended, and its core with it.
    package mutating func endSession(of owner: Owner) {
        end(session: owner.participant)
    }

    /// Records that a session has ended.
    package mutating func end(session: SessionID) {
        endedSessions.append(session)
        endedSessions.removeFirst(max(0, endedSessions.count - Self.memory))
        requests[session] = nil
        cores = cores.filter { $0.value.participant != session }
    }
}

extension OwnershipLedger {
    /// Writes the fields in the order of their declaration, and dictionaries in the order of their keys.
    func encode(to writer: inout ByteWriter) {
        writer.optional(owner) { writer, owner in
            writer.integer(owner.epoch.rawValue)
            writer.integer(owner.participant.rawValue)
            writer.text(owner.role.rawValue)
            writer.byte(owner.state.rawValue)
            writer.optional(owner.sleeper) { $0.integer($1.rawValue) }
            writer.optional(owner.wokenAt) { $1.encode(to: &$0) }
            writer.integer(owner.wakeBound.clampedNanoseconds)
            writer.byte(owner.hasLease ? 1 : 0)
        }
        writer.optional(lastEpoch) { $0.integer($1.rawValue) }
        writer.array(cores.sorted { $0.key < $1.key }) { writer, core in
            writer.integer(core.key.rawValue)
            writer.integer(core.value.participant.rawValue)
            writer.optional(core.value.process) { writer, process in
                writer.word(process.bootID.high)
                writer.word(process.bootID.low)
                writer.halfWord(UInt32(bitPattern: process.pid))
            }
        }
        writer.array(superseded) { $0.integer($1.rawValue) }
        writer.array(endedSessions) { $0.integer($1.rawValue) }
        writer.array(requests.sorted { $0.key < $1.key }) { writer, request in
            writer.integer(request.key.rawValue)
            request.value.moment.encode(to: &writer)
            writer.integer(request.value.bound.clampedNanoseconds)
        }
        writer.array(challenges.sorted { $0.key < $1.key }) { writer, challenge in
            writer.integer(challenge.key.rawValue)
            challenge.value.encode(to: &writer)
        }
        writer.integer(overlaps)
        writer.integer(supersededOverlaps)
        writer.array(endedBatons) { $0.integer($1.rawValue) }
    }

    /// Reads a ledger from a checkpoint of any version.
    ///
    /// - Parameters:
    ///   - knowsProcesses: True if the process follows each core, as in checkpoints since version 2.
    ///   - knowsRestAndBatons: True if the rest follows the owner and the batons come last, as in checkpoints since
    ///     version 3.
    ///   - knowsLease: True if the owner's lease follows the rest, as in checkpoints since version 4.
    init(
        from reader: inout ByteReader, knowsProcesses: Bool, knowsRestAndBatons: Bool, knowsLease: Bool
    ) throws(ByteCodingError) {
        owner = try reader.optional { reader throws(ByteCodingError) in
            let epoch = Revision(rawValue: try reader.integer())
            let participant = SessionID(rawValue: try reader.integer())
            let role = SessionRole(rawValue: try reader.text())
            guard let state = OwnerState(rawValue: try reader.byte()) else { throw .malformed }
            var owner = Owner(epoch: epoch, participant: participant, role: role, state: state)
            guard knowsRestAndBatons else { return owner }
            owner.sleeper = try reader.optional { reader throws(ByteCodingError) in
                SessionID(rawValue: try reader.integer())
            }
            owner.wokenAt = try reader.optional { reader throws(ByteCodingError) in try Moment(from: &reader) }
            owner.wakeBound = .nanoseconds(Int64(clamping: try reader.integer()))
            owner.hasLease = knowsLease ? try reader.byte() == 1 : false
            return owner
        }
        lastEpoch = try reader.optionalRevision()
        for _ in 0..<(try reader.count()) {
            let epoch = Revision(rawValue: try reader.integer())
            let participant = SessionID(rawValue: try reader.integer())
            let process =
                knowsProcesses
                ? try reader.optional { reader throws(ByteCodingError) in
                    let high = try reader.word()
                    let bootID = BootID(high: high, low: try reader.word())
                    return ProcessIdentity(
                        bootID: bootID, pid: Int32(bitPattern: try reader.halfWord()), startTime: 0)
                } : nil
            cores[epoch] = Core(participant: participant, process: process)
        }
        superseded = try reader.array { reader throws(ByteCodingError) in Revision(rawValue: try reader.integer()) }
        endedSessions = try reader.array { reader throws(ByteCodingError) in
            SessionID(rawValue: try reader.integer())
        }
        for _ in 0..<(try reader.count()) {
            let session = SessionID(rawValue: try reader.integer())
            let moment = try Moment(from: &reader)
            requests[session] = Request(
                moment: moment, bound: .nanoseconds(Int64(clamping: try reader.integer())))
        }
        for _ in 0..<(try reader.count()) {
            let epoch = Revision(rawValue: try reader.integer())
            challenges[epoch] = try Moment(from: &reader)
        }
        overlaps = try reader.tally()
        supersededOverlaps = try reader.tally()
        guard knowsRestAndBatons else { return }
        endedBatons = try reader.array { reader throws(ByteCodingError) in Revision(rawValue: try reader.integer()) }
    }
}

extension ByteReader {
    /// Reads a count of events. A count larger than any group can reach means damage; the limit also keeps sums of
    /// counts within 64 bits.
    mutating func tally() throws(ByteCodingError) -> Int {
        let count = try integer()
        guard count <= 1 << 53 else { throw .malformed }
        return Int(count)
    }
}

extension OwnershipLedger.Moment {
    fileprivate func encode(to writer: inout ByteWriter) {
        writer.integer(at.nanoseconds)
        writer.word(bootID.high)
        writer.word(bootID.low)
    }

    fileprivate init(from reader: inout ByteReader) throws(ByteCodingError) {
        at = BootInstant(nanoseconds: try reader.integer())
        let high = try reader.word()
        bootID = BootID(high: high, low: try reader.word())
    }
}
