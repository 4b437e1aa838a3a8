internal import CoreAPI
internal import Platform
internal import Replica
internal import StoreEngine

/// Receives the changes of the group by the stream, and requests missing ones.
extension HubLink {
    func hear(_ bytes: [UInt8]) {
        guard let message = try? StreamMessage(bytes) else { return }
        switch message {
        case .armed(let echo):
            guard echo == mark else { return }
            isArmed = true
            resumeJoining()
            // The subscription is active again. Request the updates that were published meanwhile; a client that is
            // joining also requests the state.
            isHeardAnew = catchUp != nil
            askForMissing()
        case .updates(let updates, let incarnation):
            guard incarnation == welcome?.incarnation else { return }
            guard replica != nil else {
                // The replica does not exist yet, and the requested state may be older than these effects. Remember
                // their revision.
                if let last = updates.effects.last.flatMap({ Updates.revision(of: $0) }) { announce(last) }
                return
            }
            if !apply(updates), !FailPoint.fails("link.gap") { askForMissing() }
        case .beacon(let revision, let incarnation):
            guard incarnation == welcome?.incarnation else { return }
            announce(revision)
        }
    }

    /// Notes that a revision exists, and requests what the replica lacks up to it.
    func announce(_ revision: Revision) {
        announced = max(announced, revision)
        guard let replica else {
            // If the hub refused the state while the client was joining, request it again, but not before the echo of
            // the subscription: earlier changes could be missed.
            if isArmed { askForMissing() }
            return
        }
        if replica.read({ $0.revision }) < announced { askForMissing() }
    }

    /// Applies effects if the replica's revision is the one before them or within them.
    ///
    /// - Returns: Whether the replica has them all now.
    @discardableResult
    func apply(_ updates: Updates) -> Bool {
        guard let replica else { return false }
        var isUnreadable = false
        let isWhole = replica.update { state in
            guard updates.after <= state.revision else { return false }
            for payload in updates.effects {
                // Skip effects that the replica has already got by the other connection.
                if let revision = Updates.revision(of: payload), revision <= state.revision { continue }
                guard case .effect(let effect)? = try? JournalRecord(payload[...]) else {
                    isUnreadable = true
                    return true
                }
                if effect.revision > state.revision { state.apply(effect) }
            }
            return true
        }
        // The effect is damaged, and another request would get the same bytes.
        if isUnreadable { giveUp(with: Wire.malformed("an effect is damaged")) }
        return isWhole
    }

    /// Requests the changes after the replica's revision, or the whole state if there is no replica.
    func askForMissing() {
        guard catchUp == nil, case .joined = phase else { return }
        lastNumber += 1
        let known = replica?.read { $0.revision }
        guard let bytes = try? Request(number: lastNumber, nonce: nonce, body: .catchUp(after: known)).bytes(),
            requests?.send([bytes]) == true
        else { return }
        catchUp = lastNumber
        if nextGreeting == nil { nextGreeting = clock.now().advanced(by: greetingPause) }
    }

    func takeMissing(_ reply: Reply.Body, _ records: Answer.Records) {
        defer { answered() }
        switch reply {
        case .current(let revision, let updates):
            if !apply(updates) { return askForMissing() }
            announce(revision)
        case .snapshot(let revision):
            guard let welcome, let state = Self.state(of: records, welcome.capabilities.limits, options),
                state.revision == revision
            else {
                return giveUp(with: Wire.malformed("its snapshot is damaged"))
            }
            if let replica {
                replica.update { former in
                    guard state.revision > former.revision else { return }
                    var state = state
                    state.keepHistory(of: former)
                    former = state
                }
            } else {
                replica = Replica(state)
                resumeJoining()
            }
            announce(revision)
        case .welcome, .outcome, .done, .refused, .unknown, .history, .view, .baton: break
        }
    }

    /// Prepends earlier changes to the replica's history.
    func extendHistory(with records: Answer.Records, at revision: Revision) -> Bool {
        do throws(SharedCoreError) {
            var parts: [SnapshotPart] = []
            try records.forEach { record throws(SharedCoreError) in
                guard case .snapshot(let part) = try JournalRecord(record[...]) else {
                    throw Wire.malformed("its history is damaged")
                }
                parts.append(part)
            }
            try replica?.change { state throws(SharedCoreError) in try state.prependHistory(parts, at: revision) }
            return true
        } catch {
            giveUp(with: error)
            return false
        }
    }

    static func state(
        of records: Answer.Records, _ limits: Limits, _ options: ZMQGroupOptions
    ) -> StoreState? {
        var reader = SnapshotReader(limits: limits, historyByteCount: options.historyByteCount)
        do throws(SharedCoreError) {
            try records.forEach { record throws(SharedCoreError) in
                guard case .snapshot(let part) = try JournalRecord(record[...]) else {
                    throw Wire.malformed("a record of its state is damaged")
                }
                try reader.read(part)
            }
        } catch {
            return nil
        }
        return reader.result
    }
}
