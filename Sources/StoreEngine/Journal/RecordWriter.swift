package import CoreAPI

/// Writes the records of the journal.
struct RecordWriter {
    var bytes = ByteWriter(reserving: 256)

    mutating func effect(_ effect: Effect) throws(SharedCoreError) {
        bytes.byte(RecordTag.effect)
        bytes.integer(effect.revision.rawValue)
        bytes.integer(effect.time.nanoseconds)
        switch effect.body {
        case .sessionOpened(let opening):
            bytes.byte(1)
            bytes.identity(opening.process)
            bytes.text(opening.role.rawValue)
            bytes.text(opening.name)
            bytes.data(opening.backendData)
        case .committed(let session, let number, let operations):
            bytes.byte(effect.delivery == nil ? 2 : 7)
            bytes.integer(session.rawValue)
            if let delivery = effect.delivery { bytes.integer(delivery) }
            bytes.optional(number) { $0.integer($1) }
            bytes.integer(operations.count)
            for operation in operations { try self.operation(operation) }
        case .refused(let session, let number, let failure):
            bytes.byte(3)
            bytes.integer(session.rawValue)
            bytes.integer(number)
            self.failure(failure)
        case .sessionEnded(let session):
            bytes.byte(4)
            bytes.integer(session.rawValue)
        case .expired(let keys):
            bytes.byte(5)
            bytes.array(keys) { $0.text($1.text) }
        case .restarted(let bootID):
            bytes.byte(6)
            bytes.bootID(bootID)
        }
    }

    mutating func snapshotPart(_ part: SnapshotPart) throws(SharedCoreError) {
        switch part {
        case .begin(let revision):
            bytes.byte(RecordTag.snapshotBegin)
            bytes.integer(revision.rawValue)
        case .entries(let entries):
            bytes.byte(RecordTag.snapshotEntries)
            bytes.integer(entries.count)
            for (key, entry) in entries { try stored(key, entry) }
        case .sessions(let sessions):
            bytes.byte(RecordTag.snapshotSessions)
            bytes.integer(sessions.count)
            for session in sessions { self.session(session) }
        case .topics(let topics):
            let areLater = topics.contains { $0.topic.firstCount != 0 }
            bytes.byte(areLater ? RecordTag.snapshotLaterTopics : RecordTag.snapshotTopics)
            bytes.array(topics) { bytes, topic in
                bytes.text(topic.name.text)
                bytes.integer(topic.topic.state)
                bytes.integer(topic.topic.count)
                bytes.integer(topic.topic.revision.rawValue)
                bytes.integer(topic.topic.origin.rawValue)
                if areLater { bytes.integer(topic.topic.firstCount) }
            }
        case .forgottenNames(let forgotten):
            bytes.byte(RecordTag.snapshotForgottenNames)
            bytes.integer(forgotten.lastPost.rawValue)
            bytes.integer(forgotten.highestCount)
        case .deliveries(let session, let deliveries):
            bytes.byte(RecordTag.snapshotDeliveries)
            bytes.integer(session.rawValue)
            bytes.array(deliveries) { bytes, delivery in
                bytes.integer(delivery.number)
                bytes.integer(delivery.commit.revision.rawValue)
                bytes.flag(delivery.commit.changed)
            }
        case .history(let commits):
            bytes.byte(RecordTag.snapshotHistory)
            bytes.integer(commits.count)
            for commit in commits { try changes(commit) }
        case .end:
            bytes.byte(RecordTag.snapshotEnd)
        }
    }

    private mutating func changes(_ commit: CommittedChanges) throws(SharedCoreError) {
        bytes.integer(commit.revision.rawValue)
        bytes.integer(commit.origin.rawValue)
        bytes.integer(commit.changes.count)
        for change in commit.changes {
            switch change.kind {
            case .put: bytes.byte(1)
            case .deleted: bytes.byte(2)
            case .expired: bytes.byte(3)
            case .sessionEnded: bytes.byte(4)
            }
            bytes.text(change.key.text)
            for entry in [change.old, change.new] {
                bytes.flag(entry != nil)
                if let entry { try stored(change.key, entry) }
            }
        }
    }

    mutating func transaction(_ transaction: Transaction) throws(SharedCoreError) {
        bytes.integer(transaction.guards.count)
        for condition in transaction.guards { self.condition(condition) }
        bytes.integer(transaction.operations.count)
        for operation in transaction.operations { try self.operation(Effect.Operation(operation)) }
        bytes.optional(transaction.requestNumber) { $0.integer($1) }
    }

    mutating func outcome(_ outcome: RequestOutcome) {
        switch outcome {
        case .committed(let commit):
            bytes.flag(true)
            bytes.integer(commit.revision.rawValue)
            bytes.flag(commit.changed)
        case .refused(let failure):
            bytes.flag(false)
            self.failure(failure)
        }
    }

    private mutating func operation(_ operation: Effect.Operation) throws(SharedCoreError) {
        switch operation {
        case .put(let key, let value, let lifetime):
            bytes.byte(1)
            bytes.text(key.text)
            self.lifetime(lifetime)
            bytes.data(try value.bytes())
        case .delete(let key):
            bytes.byte(2)
            bytes.text(key.text)
        case .deletePrefix(let prefix):
            bytes.byte(3)
            bytes.text(prefix.path)
        case .post(let name, let state):
            bytes.byte(4)
            bytes.text(name.text)
            bytes.optional(state) { $0.integer($1) }
        }
    }

    private mutating func stored(_ key: Key, _ entry: StoredEntry) throws(SharedCoreError) {
        bytes.text(key.text)
        bytes.integer(entry.revision.rawValue)
        bytes.integer(entry.creationRevision.rawValue)
        bytes.integer(entry.origin.rawValue)
        lifetime(entry.lifetime)
        bytes.optional(entry.expiry) { $0.integer($1.nanoseconds) }
        bytes.data(try entry.value.bytes())
    }

    private mutating func session(_ state: SessionState) {
        bytes.integer(state.session.id.rawValue)
        bytes.identity(state.session.process)
        bytes.text(state.session.role.rawValue)
        bytes.text(state.session.name)
        bytes.integer(state.session.openedAt.nanoseconds)
        bytes.data(state.backendData)
        bytes.integer(state.results.count)
        for result in state.results {
            bytes.integer(result.number)
            outcome(result.outcome)
        }
    }

    private mutating func failure(_ failure: GuardFailure) {
        bytes.integer(failure.index)
        condition(failure.condition)
        bytes.flag(failure.found != nil)
        guard let found = failure.found else { return }
        bytes.integer(found.revision.rawValue)
        bytes.integer(found.creationRevision.rawValue)
        bytes.integer(found.origin.rawValue)
        lifetime(found.lifetime)
        bytes.data(found.value)
    }

    private mutating func condition(_ condition: Transaction.Guard) {
        switch condition {
        case .absent(let key):
            bytes.byte(1)
            bytes.text(key.text)
        case .exists(let key):
            bytes.byte(2)
            bytes.text(key.text)
        case .revision(let key, let revision):
            bytes.byte(3)
            bytes.text(key.text)
            bytes.integer(revision.rawValue)
        case .epoch(let key, let revision):
            bytes.byte(4)
            bytes.text(key.text)
            bytes.integer(revision.rawValue)
        }
    }

    private mutating func lifetime(_ lifetime: Lifetime) {
        switch lifetime {
        case .persistent: bytes.byte(1)
        case .session: bytes.byte(2)
        case .expiring(let duration):
            bytes.byte(3)
            bytes.integer(duration.clampedNanoseconds)
        }
    }
}

extension Lifetime {
    /// The lifetime in the journal's precision: whole nanoseconds, rounded up so that no entry expires early, and at
    /// most what 63 bits can store, which is 292 years. The writer keeps the same value as each reader.
    package var recordable: Lifetime {
        guard case .expiring(let duration) = self else { return self }
        let whole = Duration.nanoseconds(Int64(clamping: duration.clampedNanoseconds))
        guard whole < duration, whole < .nanoseconds(Int64.max) else { return .expiring(after: whole) }
        return .expiring(after: whole + .nanoseconds(1))
    }
}
