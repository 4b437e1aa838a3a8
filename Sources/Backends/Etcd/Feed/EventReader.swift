#if Etcd
    internal import CoreAPI
    internal import FoundationEssentials
    internal import StoreEngine

    /// Converts the events of revisions to effects: the events of a commit, together with its head.
    struct EventReader {
        let keys: Keyspace
        let clock: any TimeSource

        /// The content of a revision.
        struct Reading {
            let effect: Effect
            /// The lease that has ended with it.
            var endedLease: Int64?
            /// The number by which the sender identifies the request, and its result; nil for a revision that no
            /// participant committed.
            var delivery: (session: SessionID, number: UInt64, commit: Commit)?
            /// The keys of entries that were removed and created again in one transaction, which etcd reports as
            /// changes.
            var madeAgain: [Key] = []
            /// The keys of which the record of such a creation was removed.
            var forgotten: [Key] = []
            /// The numbers of further posts of a name in one commit.
            var extras: [NotificationName: UInt64] = [:]
        }

        /// Reads the events of one revision as a commit of the group.
        ///
        /// - Parameters:
        ///   - revision: The revision of the events.
        ///   - sessionOf: The session that a lease belongs to.
        func read(
            _ events: ArraySlice<Mvccpb_Event>, at revision: Int64, sessionOf: (Int64) -> SessionID?
        ) throws(SharedCoreError) -> Reading {
            let place = Revision(etcd: revision)
            var parts = Parts()
            for event in events { try parts.take(event, in: keys) }

            guard let head = parts.head else {
                if let lease = parts.endedLease, let session = sessionOf(lease) {
                    return Reading(
                        effect: Effect(revision: place, time: clock.now(), body: .sessionEnded(session)),
                        endedLease: lease)
                }
                // The write of another program, such as keys that were removed by hand.
                let operations = try parts.operations(in: keys)
                return Reading(
                    effect: Effect(
                        revision: place, time: clock.now(),
                        body: .committed(SessionID(rawValue: 0), requestNumber: nil, operations)),
                    forgotten: parts.forgotten)
            }
            // The commit of a received event precedes this moment, so a lifetime that is counted from now never ends
            // early.
            let time = clock.now()
            switch head.kind {
            case .opened:
                guard let (lease, record) = parts.opened else { throw .unreadable("the opening of a session") }
                let mark = EtcdSessionMark(lease: lease, namespace: record.namespace)
                return Reading(
                    effect: Effect(
                        revision: place, time: record.openedAt, body: .sessionOpened(record.opening(mark))))
            case .expired:
                return Reading(effect: Effect(revision: place, time: time, body: .expired(parts.removed)))
            case .committed:
                let operations = try parts.operations(in: keys)
                let body = Effect.Body.committed(head.origin, requestNumber: nil, operations)
                return Reading(
                    effect: Effect(revision: place, time: time, body: body),
                    delivery: (head.origin, head.delivery, Commit(revision: place, changed: !operations.isEmpty)),
                    madeAgain: Array(parts.madeAgain), extras: parts.extras)
            }
        }

        /// The events of one revision, sorted.
        private struct Parts {
            var head: HeadRecord?
            var opened: (lease: Int64, record: SessionRecord)?
            var endedLease: Int64?
            var madeAgain: Set<Key> = []
            /// Only a participant that opens the group removes the records of creations, in a transaction that does not
            /// write the head.
            var forgotten: [Key] = []
            var extras: [NotificationName: UInt64] = [:]
            private var states: [NotificationName: UInt64] = [:]
            private var steps: [Step] = []

            private enum Step {
                case put(Key, EntryRecord)
                case delete(Key)
                case post(NotificationName, PostRecord)
            }

            var removed: [Key] {
                steps.compactMap { if case .delete(let key) = $0 { key } else { nil } }
            }

            mutating func take(_ event: Mvccpb_Event, in keys: Keyspace) throws(SharedCoreError) {
                let pair = event.kv
                guard let (kind, name) = keys.split(pair.key) else { throw .unreadable("a key") }
                let isPut = event.type == .put
                switch kind {
                case .head where isPut: head = try HeadRecord(pair.value)
                case .session:
                    guard let lease = Keyspace.lease(ofSession: name) else { throw .unreadable("a session's key") }
                    if !isPut {
                        endedLease = lease
                    } else if pair.version == 1 {
                        opened = (lease, try SessionRecord(pair.value))
                    }
                case .entry:
                    let key = try Key(etcd: name)
                    steps.append(isPut ? .put(key, try EntryRecord(pair.value)) : .delete(key))
                case .creation:
                    let key = try Key(etcd: name)
                    if isPut { madeAgain.insert(key) } else { forgotten.append(key) }
                case .name where isPut:
                    steps.append(.post(try NotificationName(etcd: name), try PostRecord(pair.value)))
                case .state where isPut: states[try NotificationName(etcd: name)] = try PostRecord.number(pair.value)
                case .extra where isPut: extras[try NotificationName(etcd: name)] = try PostRecord.number(pair.value)
                case .head, .name, .state, .extra, .layout, .result: break
                }
            }

            func operations(in keys: Keyspace) throws(SharedCoreError) -> [Effect.Operation] {
                var operations: [Effect.Operation] = []
                for step in steps {
                    switch step {
                    case .put(let key, let record):
                        if madeAgain.contains(key) { operations.append(.delete(key)) }
                        operations.append(.put(key, .inline(record.value), record.lifetime))
                    case .delete(let key): operations.append(.delete(key))
                    case .post(let name, let record):
                        for _ in 1..<record.count { operations.append(.post(name, state: nil)) }
                        operations.append(.post(name, state: states[name]))
                    }
                }
                return operations
            }
        }
    }

    extension Key {
        init(etcd name: [UInt8]) throws(SharedCoreError) {
            guard let text = String(validating: name, as: UTF8.self) else { throw .unreadable("a key") }
            self = try Key(text)
        }
    }

    extension NotificationName {
        init(etcd name: [UInt8]) throws(SharedCoreError) {
            guard let text = String(validating: name, as: UTF8.self) else { throw .unreadable("a notification's name") }
            self = try NotificationName(text)
        }
    }
#endif
