internal import CoreAPI

extension OwnershipLedger {
    /// The fields in the order of their declaration; dictionaries in the order of their keys.
    func encode(to writer: inout ByteWriter) {
        writer.optional(owner) { writer, owner in
            writer.integer(owner.epoch.rawValue)
            writer.integer(owner.participant.rawValue)
            writer.text(owner.role.rawValue)
            writer.byte(owner.state.rawValue)
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
    }

    /// - Parameter knowsProcesses: Whether each core is followed by its process, as in a checkpoint of version 2.
    init(from reader: inout ByteReader, knowsProcesses: Bool) throws(ByteCodingError) {
        owner = try reader.optional { reader throws(ByteCodingError) in
            let epoch = Revision(rawValue: try reader.integer())
            let participant = SessionID(rawValue: try reader.integer())
            let role = SessionRole(rawValue: try reader.text())
            guard let state = OwnerState(rawValue: try reader.byte()) else { throw .malformed }
            return Owner(epoch: epoch, participant: participant, role: role, state: state)
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
        overlaps = Int(clamping: try reader.integer())
        supersededOverlaps = Int(clamping: try reader.integer())
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
