internal import CoreAPI
internal import Platform
internal import Replica
internal import StoreEngine
internal import Synchronization

/// Records commits in the order.
///
/// Under the journal's lock: catch up, evaluate, write the record behind the tail, publish it by compare-and-swap of
/// the commit word from the tail that was read. The lock keeps writers from wasting work. The compare-and-swap ensures
/// a single order, so a writer that was stopped under the lock can be passed over.
extension LocalGroup {
    /// The outcome of one try to write, under the lock.
    enum Attempt<Value> {
        case written(Value)
        /// The locked journal is sealed: the order continues in another one.
        case moved
        /// The journal was sealed before the record could be published, so the record does not count.
        case passedOver
        case noRoom(NoSpace)
    }

    /// The reason why a record was not written although it may be written soon.
    struct NoSpace {
        /// The error of the request if space never becomes free.
        let error: SharedCoreError
        /// True if another process has locked the spare file, and may be freeing space. Otherwise only a compaction
        /// frees space.
        let isSpareInUse: Bool
        /// True if a full disk may refuse the record.
        let isContent: Bool
    }

    /// Records a request in the order. If the lock is free, the whole write happens on the calling thread.
    ///
    /// - Parameter durability: The failure that the answer must survive. After the disk has lost a part of the group, a
    ///   request that must be on the disk is refused as `unavailable`, and nothing is recorded.
    func write(
        _ request: OrderRequest, as durability: Durability = .process
    ) async throws(SharedCoreError) -> Written {
        if isReadOnly { throw .readOnly(directory.directory.path) }
        if Task.isCancelled { throw .cancelled("commit") }
        if durability == .disk { try await requireTrust() }
        if queue.isEmpty, let written = try attempt(request, as: durability) { return written }
        return try await enqueue(request, as: durability)
    }

    /// Writes as ``write(_:as:)`` does, even if the calling task is cancelled.
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

    /// Records a request in the order without waiting for it.
    func writeInBackground(_ request: OrderRequest) {
        if isReadOnly { return }
        if queue.isEmpty, (try? attempt(request, as: .process)) != nil { return }
        if queue.add(WriteRequest(request, as: .process) { _ in }) { serveQueue() }
    }

    /// Tries once to record a request.
    ///
    /// - Returns: Nil if another writer has the lock, or if the journal is sealed and has no successor yet. Also nil
    ///   without space, if the record must be written even on a full disk, or if a compaction may free the space.
    func attempt(_ request: OrderRequest, as durability: Durability) throws(SharedCoreError) -> Written? {
        var signaled = WakeChannels()
        let made: Attempt<Written>?
        var journal: Journal?
        // Apply the records of other processes before the lock is taken, so that it is held for a shorter time. An
        // error is ignored here, because the same read under the lock reports it.
        _ = try? applyPublished()
        do throws(SharedCoreError) {
            made = try withLock { locked throws(SharedCoreError) in
                journal = locked
                return try self.record(request, as: durability, in: locked, signaling: &signaled)
            }
        } catch {
            announce(signaled, in: journal)
            throw error
        }
        announce(signaled, in: journal)
        guard case .written(let written) = made else { return nil }
        compactWhenLong()
        return written
    }

    /// Runs `body` with the lock of the present journal; returns nil if another writer has it.
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
        // This resumes waiting tasks, so it must not run under a lock.
        if let damage { throw lose(with: damage) }
        return value ?? nil
    }

    /// Records the outcome of a request at this position in the order, after the expiries that are due. Under the lock.
    func record(
        _ request: OrderRequest, as durability: Durability, in journal: Journal, signaling signaled: inout WakeChannels
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
            switch try append(effect, at: position, signaling: &signaled) {
            case .written(let tail):
                if let outcome { return .written(Written(outcome: outcome, journal: journal, tail: tail)) }
            case .moved, .passedOver: return .passedOver
            case .noRoom(let room): return .noRoom(room)
            }
        }
    }

    /// Writes a record behind the tail and publishes it.
    ///
    /// - Returns: The new tail; `passedOver` if the journal was sealed meanwhile, so that the record does not count.
    /// - Throws: `outcomeUnknown` if the record is published and this process cannot continue after it; any other error
    ///   is thrown before the publication.
    private func append(
        _ effect: Effect, at position: JournalFollower.Position, signaling signaled: inout WakeChannels
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
        let touched = replica.read { WakeChannels(of: effect, before: $0) }
        var after = position
        // The mask of a frame follows from the record alone (decision 30).
        let frame = after.chain.frame(payload, interest: WakeChannels(of: effect).interestMask)
        after.pass(position.offset + JournalChain.headerByteCount..<position.offset + frame.count)
        let claim = replica.read { effect.claim(in: $0) }
        let isContent = claim.journalByteCount >= Journal.reserveByteCount
        do throws(SharedCoreError) {
            try journal.reserveSpace(for: frame.count, at: position.offset, keeping: claim.journalByteCount)
            if let error = try requireSpareSpace(for: effect, claim, in: journal, endingAt: after.offset) {
                return .noRoom(NoSpace(error: error, isSpareInUse: true, isContent: isContent))
            }
        } catch {
            guard error.code == .storageFull else { throw error }
            // A process that ended right after its compaction has left old journals, and their space can be freed.
            // Content may use that space as well.
            if !isContent || directory.hasJournal(before: journal.generation) {
                return .noRoom(NoSpace(error: error, isSpareInUse: false, isContent: isContent))
            }
            throw error
        }
        let interest = journal.interest
        if !interest.isEmpty, !Defect.lateBells.isPresent {
            wakeChannels.prepare(touched.intersection(interest))
        }
        // Open these channels even if they have no listener yet: when this process ends, the kernel closes them, and that
        // wakes the processes that listen by then.
        wakeChannels.prepare(WakeChannels(ofKeysHeldBy: effect))
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
            // Large values stay in the file, as in every other replica.
            let external = ExternalValues(
                source: journal, offset: UInt64(position.offset + JournalChain.headerByteCount))
            if case .effect(let decoded)? = try? JournalRecord(payload[...], external: external) { applied = decoded }
        }
        do throws(SharedCoreError) {
            let changed = try replica.change { state throws(SharedCoreError) -> WakeChannels in
                if FailPoint.fails("commit.advance") {
                    throw SharedCoreError(SystemCallError("pread", number: 5, at: journal.file.path))
                }
                try self.follower.advance(from: position, to: after, applying: applied, &state)
                return WakeChannels(of: effect, expected: touched, in: &state)
            }
            if !Defect.earlyRing.isPresent {
                // A hub that starts after this process reads the journal when this process has ended: records published
                // before need no signal. So the flag is read after the publication.
                let isHub = isHub.load(ordering: .sequentiallyConsistent)
                signaled.formUnion(isHub && !effect.beginsToEnd ? changed.subtracting(.everything) : changed)
            }
        } catch {
            signaled.formUnion(touched)
            throw SharedCoreError(
                .outcomeUnknown,
                "The commit took effect, but this process cannot read the journal after it.", at: error.location,
                cause: "\(error)")
        }
        return .written(after.offset)
    }

    /// Reports changes to the waiting tasks of this process, and signals the channels that have a listener. Called
    /// after the lock was released.
    func announce(_ signaled: WakeChannels, in journal: Journal?) {
        guard let journal else { return }
        replica.wake()
        guard !signaled.isEmpty else { return }
        FailPoint.hit("commit.beforeRing")
        wakeChannels.announce(signaled, interest: journal.interest)
    }
}
