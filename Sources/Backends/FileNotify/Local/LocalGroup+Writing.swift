internal import CoreAPI
internal import Platform
internal import Replica
internal import StoreEngine
internal import Synchronization

/// How a commit gets its place in the order.
///
/// Under the journal's lock: catch up, evaluate, write the record behind the tail, publish it by compare-and-swap of
/// the commit word from the tail that was seen. The lock keeps writers out of each other's way. The compare-and-swap
/// makes the order one, so a writer that was stopped under the lock can be passed over.
extension LocalGroup {
    /// The outcome of one try to write, under the lock.
    enum Attempt<Value> {
        case written(Value)
        /// The order goes on in another journal than the one that is locked.
        case moved
        /// The same, noticed when the record was to be published: all was in vain.
        case passedOver
        case noRoom(NoRoom)
    }

    /// The reason why a record was not written that may be written soon.
    struct NoRoom {
        /// The error of the request when there never is space.
        let error: SharedCoreError
        /// Whether another process has the spare file, and may be freeing space. Otherwise only a compaction frees
        /// some.
        let isSpareInUse: Bool
        /// Whether the record is one that a full disk may refuse.
        let isContent: Bool
    }

    /// Gets a request its place in the order. When the lock is free, the whole write happens on the calling thread.
    ///
    /// - Parameter durability: The failure that the answer has to survive. If the disk has lost something, a request
    ///   that has to be on the disk is refused as `unavailable`, and nothing is recorded.
    func write(
        _ request: OrderRequest, as durability: Durability = .process
    ) async throws(SharedCoreError) -> Written {
        if isReadOnly { throw .readOnly(directory.directory.path) }
        if Task.isCancelled { throw .cancelled("commit") }
        if durability == .disk { try await requireTrust() }
        if queue.isEmpty, let written = try attempt(request, as: durability) { return written }
        return try await enqueue(request, as: durability)
    }

    /// Writes as ``write(_:as:)`` does, for a record that must be made also when the calling task is cancelled.
    @discardableResult
    func writeThoughCancelled(
        _ request: OrderRequest, as durability: Durability = .process
    ) async throws(SharedCoreError) -> Written {
        if durability == .disk { try await requireTrust() }
        if queue.isEmpty, let written = try attempt(request, as: durability) { return written }
        let answer: WriteRequest.Answer = await withCheckedContinuation { continuation in
            if queue.add(WriteRequest(request, as: durability) { continuation.resume(returning: $0) }) { serveQueue() }
        }
        return try answer.get()
    }

    /// Gets a request its place in the order without waiting for it.
    func writeInBackground(_ request: OrderRequest) {
        if isReadOnly { return }
        if queue.isEmpty, (try? attempt(request, as: .process)) != nil { return }
        if queue.add(WriteRequest(request, as: .process) { _ in }) { serveQueue() }
    }

    /// Tries once.
    ///
    /// - Returns: Nil when another writer has the lock, or the journal is sealed and has no successor yet; and when
    ///   there is no space for a record that must be written also on a full disk, or for which a compaction may make
    ///   some.
    func attempt(_ request: OrderRequest, as durability: Durability) throws(SharedCoreError) -> Written? {
        var rung = Bells()
        let made: Attempt<Written>?
        var journal: Journal?
        do throws(SharedCoreError) {
            made = try withLock { locked throws(SharedCoreError) in
                journal = locked
                return try self.record(request, as: durability, in: locked, ringing: &rung)
            }
        } catch {
            announce(rung, in: journal)
            throw error
        }
        announce(rung, in: journal)
        guard case .written(let written) = made else { return nil }
        compactWhenLong()
        return written
    }

    /// Runs `body` with the lock of the present journal; nil when another writer has it.
    func withLock<Value>(
        _ body: (Journal) throws(SharedCoreError) -> Value
    ) throws(SharedCoreError) -> Value? {
        try requirePlace()
        var damage: SharedCoreError?
        let value = try writer.withLockIfAvailable { _ throws(SharedCoreError) -> Value? in
            let journal = self.position.journal
            do throws(SystemCallError) {
                guard try journal.file.tryLock(byteAt: Journal.lockByte) else { return nil }
            } catch {
                throw SharedCoreError(error)
            }
            defer {
                FailPoint.hit("commit.beforeUnlock")
                journal.file.unlock(byteAt: Journal.lockByte)
            }
            FailPoint.hit("commit.afterLock")
            damage = try self.damage(of: journal)
            return damage == nil ? try body(journal) : nil
        }
        // Waiting tasks are resumed under no lock.
        if let damage { throw lose(with: damage) }
        return value ?? nil
    }

    /// Records the outcome of a request at this place of the order. Entries that are due to expire come first. Under
    /// the lock.
    func record(
        _ request: OrderRequest, as durability: Durability, in journal: Journal, ringing rung: inout Bells
    ) throws(SharedCoreError) -> Attempt<Written> {
        struct Next {
            let step: StoreState.Step
            let position: JournalFollower.Position
        }
        while true {
            let next = try replica.change { state throws(SharedCoreError) -> Next? in
                let standing = try self.follower.catchUp(&state)
                let position = self.follower.position(in: &state)
                guard case .current = standing, position.journal === journal else { return nil }
                if durability == .disk { try self.requireTrust(in: &state) }
                return Next(step: try state.next(for: request, at: self.clock.now()), position: position)
            }
            FailPoint.hit("commit.afterCatchUp")
            guard let next else { return .moved }
            let position = next.position
            let effect: Effect
            var outcome: RequestOutcome?
            switch next.step {
            case .answer(let outcome):
                return .written(Written(outcome: outcome, journal: journal, tail: position.offset))
            case .record(let recorded, let result): (effect, outcome) = (recorded, result)
            case .expireFirst(let expiry): effect = expiry
            }
            switch try append(effect, at: position, ringing: &rung) {
            case .written(let tail):
                if let outcome { return .written(Written(outcome: outcome, journal: journal, tail: tail)) }
            case .moved, .passedOver: return .passedOver
            case .noRoom(let room): return .noRoom(room)
            }
        }
    }

    /// Writes a record behind the tail and publishes it.
    ///
    /// - Returns: The new tail; `passedOver` when the journal was sealed meanwhile, so that the record is none.
    /// - Throws: `outcomeUnknown` when the record is published and this process cannot go on behind it; any other error
    ///   before it is.
    private func append(
        _ effect: Effect, at position: JournalFollower.Position, ringing rung: inout Bells
    ) throws(SharedCoreError) -> Attempt<Int> {
        let payload = try effect.payload()
        guard payload.count <= JournalChain.maximumPayloadByteCount else {
            throw SharedCoreError(
                .limitExceeded,
                "A commit takes at most \(JournalChain.maximumPayloadByteCount) bytes in the journal, this one takes "
                    + "\(payload.count).",
                at: position.journal.file.path)
        }
        let journal = position.journal
        let touched = Bells(of: effect)
        var after = position
        let frame = after.chain.frame(payload, interest: touched.interestMask)
        after.pass(position.offset + JournalChain.headerByteCount..<position.offset + frame.count)
        let claim = replica.read { effect.claim(in: $0) }
        let isContent = claim.journalByteCount >= Journal.reserveByteCount
        do throws(SharedCoreError) {
            try journal.reserveSpace(for: frame.count, at: position.offset, keeping: claim.journalByteCount)
            if let error = try requireSpareSpace(for: effect, claim, in: journal, endingAt: after.offset) {
                return .noRoom(NoRoom(error: error, isSpareInUse: true, isContent: isContent))
            }
        } catch {
            guard error.code == .storageFull else { throw error }
            // A process that ended behind its compaction has left journals: their space is content's as well.
            if !isContent || directory.hasJournal(before: journal.generation) {
                return .noRoom(NoRoom(error: error, isSpareInUse: false, isContent: isContent))
            }
            throw error
        }
        let interest = journal.interest
        if !interest.isEmpty, !Defect.lateBells.isPresent {
            bells.prepare(replica.read { state in Bells(of: effect, before: state) }.intersection(interest))
        }
        // Opened even where there is no listener yet: when the system closes the channels, later listeners learn that
        // this process has died.
        bells.prepare(Bells(ofKeysHeldBy: effect))
        do throws(SystemCallError) {
            if FailPoint.isActive("commit.halfRecord") {
                try journal.file.write(Array(frame.prefix(frame.count / 2)), at: position.offset)
                FailPoint.hit("commit.halfRecord")
            }
            try journal.file.write(frame, at: position.offset)
        } catch {
            throw SharedCoreError(error)
        }
        if Defect.earlyRing.isPresent { announce(touched, in: journal) }
        FailPoint.hit("commit.beforePublish")
        guard journal.publish(from: position.offset, to: after.offset) else { return .passedOver }
        FailPoint.hit("commit.afterPublish")

        var applied = effect
        if payload.count > ExternalValues.defaultThreshold {
            // Large values stay in the file here as they do in every other replica.
            let external = ExternalValues(
                source: journal, offset: UInt64(position.offset + JournalChain.headerByteCount))
            if case .effect(let decoded)? = try? JournalRecord(payload[...], external: external) { applied = decoded }
        }
        do throws(SharedCoreError) {
            let changed = try replica.change { state throws(SharedCoreError) -> Bells in
                if FailPoint.fails("commit.advance") {
                    throw SharedCoreError(SystemCallError("pread", number: 5, at: journal.file.path))
                }
                try self.follower.advance(from: position, to: after, applying: applied, &state)
                return Bells(of: effect, expected: touched, in: &state)
            }
            if !Defect.earlyRing.isPresent {
                // A hub that starts after this process reads the journal when this process has ended: records published
                // before need no signal. So the flag is read behind that.
                let isHub = isHub.load(ordering: .sequentiallyConsistent)
                rung.formUnion(isHub && !effect.beginsToEnd ? changed.subtracting(.everything) : changed)
            }
        } catch {
            rung.formUnion(touched)
            throw SharedCoreError(
                .outcomeUnknown,
                "The commit stands for all processes, but this one cannot read on behind it.", at: error.location,
                cause: "\(error)")
        }
        return .written(after.offset)
    }

    /// Reports what was done under the lock, after it: to the waiting tasks of this process, and to the channels that
    /// have a listener.
    func announce(_ rung: Bells, in journal: Journal?) {
        guard let journal else { return }
        replica.wake()
        guard !rung.isEmpty else { return }
        FailPoint.hit("commit.beforeRing")
        bells.announce(rung, interest: journal.interest)
    }
}
