internal import Coordination
internal import CoreAPI
internal import Glibc
internal import Synchronization
internal import Wormholes

/// Executes the text commands of a second process, and returns the answer to each; empty if none is named here.
///
/// Groups and sessions:
///
/// - `open <address>`: joins the group; answers the session's id
/// - `another <address>`: joins one more group. The following commands apply to that one; the former stays open, and
///   its observations go on counting.
/// - `close`: closes the handle
/// - `wakeUp`: answers how the process learns of commits: `direct`, `fileEvents`, `sharedMemory`, or `looking` for
///   polling
/// - `sync`: calls ``SharedStore/sync()``
/// - `settled <revision>`: waits until the commits up to the revision are durable
/// - `sessions`: answers the ids of the sessions
///
/// Entries:
///
/// - `put <key> <text>`, `get <key>`, `delete <key>`; `hold <key> <text>` puts an entry that lives with the session
/// - `create <key> <text>`: puts a key that must be absent; `fillOne <key> <bytes>`: puts a value of a size
/// - `puts <prefix> <count>`: puts the keys `<prefix>0`, `<prefix>1` and so on; answers the last revision
/// - `increment <key> <count>`: adds 1 to a number as often, each time by compare-and-set
/// - `announce <key> <text> <name> <state>`: puts and posts in one transaction
/// - `pair <prefix> <number> <bytes>`: writes a ``NumberedPair``
/// - `fill <prefix> <count> <bytes>`: puts as many values of a size
/// - `fillUp <bytes>`: puts values of a size until the store refuses one; answers the code of the refusal and the
///   number of values
/// - `takeOvers <key> <count>`: as often replaces the entry by one of this session, and deletes that
/// - `clear <prefix>`: deletes the entries that the prefix selects
///
/// Watches and notifications:
///
/// - `watch <prefix>`: begins to count events; `watched <revision>` waits for the revision, and answers the number of
///   change sets, of lagged events and of events in the wrong order, and the last revision
/// - `watchCycles <count>`: opens and ends as many watches
/// - `await <key>`: waits until the key exists, by a watch
/// - `post <name> <state>`; `posts <name> <count>`; `alternate <name> <name> <count>` posts the two names in turn, each
///   as often
/// - `observe <name>`: begins to count posts; `seen` answers their number and the last state; `forget <count>` ends as
///   many observations, the first ones
///
/// Mailboxes:
///
/// - `produce <sender> <count>`: sends parcels to the queue; `consume` takes parcels and records each, until the
///   process ends
/// - `readParcel`: answers the last parcel; `listenParcels` begins to record parcels, and `heardParcels` answers them
///
/// Participants:
///
/// - `play <role> <name> <server> <settings> <address>`: joins a group as a participant; `player <command>` passes a
///   command to it (``TestParticipantSession``)
/// - `crowd <first> <count> <server> <settings> <address>`: starts an ``ExecutorBurst``; `crowdDone` waits for its end
///   and answers the counts
///
/// Faults:
///
/// - `arm <place>:<action>`: arms a fail point
/// - `storm`: interrupts the process by a signal every millisecond from now on; `stormed` answers the number of signals
/// - `child`: forks a child that inherits every descriptor and lives until it is killed; answers its process id
///
/// The program gets every other command.
final class PeerSession: Sendable {
    private struct State {
        var group: (any SharedGroup)?
        /// Groups that stay open beside the one to which commands apply.
        var former: [any SharedGroup] = []
        var observed: (count: UInt64, state: UInt64) = (0, 0)
        var watched = Watched()
        var tasks: [Task<Void, Never>] = []
        var observations: [Observation] = []
        var heardParcels: MailboxRecorder?
        var participant: TestParticipantSession?
        var burst: Task<ExecutorBurst.Count, Never>?
    }

    private struct Watched {
        var changeSets = 0
        var lagged = 0
        var breaches = 0
        var revision = Revision.zero
    }

    private let program: ConformancePeer
    private let state = Mutex(State())

    init(_ program: ConformancePeer) {
        self.program = program
    }

    func run(_ command: String, _ arguments: [String]) async throws(SharedCoreError) -> String {
        switch command {
        case "open": return try await open(arguments)
        case "another":
            let former = try opened()
            state.withLock { $0.former.append(former) }
            return try await open(arguments)
        case "arm":
            try program.arm(word(arguments, 0))
            return ""
        case "child": return String(try child())
        case "storm":
            SignalStorm.begin()
            return ""
        case "stormed": return String(SignalStorm.count)
        case "play":
            try await play(arguments)
            return ""
        case "player":
            guard let participant = state.withLock(\.participant) else { throw .closed("peer") }
            return try await participant.run(word(arguments, 0), Array(arguments.dropFirst()))
        case "crowd":
            try gather(arguments)
            return ""
        case "crowdDone":
            guard let burst = state.withLock(\.burst) else { throw .closed("peer") }
            return await burst.value.text
        default: break
        }
        let group = try opened()
        switch command {
        case "close":
            await group.close()
            state.withLock { $0.group = nil }
            return ""
        case "put":
            return try await group.put(key(arguments, 0), Array(word(arguments, 1).utf8)).revision.description
        case "create":
            let key = try key(arguments, 0)
            return try await group.put(key, Array(word(arguments, 1).utf8), if: .absent(key)).revision.description
        case "fillOne":
            return try await group.put(key(arguments, 0), [UInt8](repeating: 7, count: number(arguments, 1))).revision
                .description
        case "hold":
            return try await group.put(key(arguments, 0), Array(word(arguments, 1).utf8), lifetime: .session).revision
                .description
        case "get":
            guard let entry = try await group.get(key(arguments, 0)) else { return "nothing" }
            // An answer is one line, so line ends in the value become spaces.
            return "value " + String(decoding: entry.value.map { $0 == 0x0a ? 0x20 : $0 }, as: UTF8.self)
        case "delete":
            return try await group.delete(key(arguments, 0)).revision.description
        case "puts":
            var last = Revision.zero
            for index in 0..<number(arguments, 1) {
                last = try await group.put(Key(word(arguments, 0) + String(index)), Array("\(index)".utf8)).revision
            }
            return last.description
        case "announce":
            let put = Transaction.Operation.put(try key(arguments, 0), Array(word(arguments, 1).utf8), .persistent)
            let post = Transaction.Operation.post(
                try NotificationName(word(arguments, 2)), state: UInt64(number(arguments, 3)))
            return try await group.commit(Transaction(operations: [put, post])).revision.description
        case "pair":
            let transaction = try NumberedPair.transaction(
                number(arguments, 1), byteCount: number(arguments, 2), under: word(arguments, 0))
            return try await group.commit(transaction).revision.description
        case "fill":
            let value = [UInt8](repeating: 7, count: number(arguments, 2))
            for index in 0..<number(arguments, 1) {
                try await group.put(Key(word(arguments, 0) + String(index)), value)
            }
            return ""
        case "fillUp":
            let value = [UInt8](repeating: 7, count: number(arguments, 0))
            for index in 0..<1_000_000 {
                do throws(SharedCoreError) {
                    // Use separate keys for each size, because replacing a larger value by a small one would free
                    // space.
                    try await group.put(Key("full/\(value.count)/\(index)"), value)
                } catch {
                    return "\(error.code) \(index)"
                }
            }
            return "never"
        case "takeOvers":
            let key = try key(arguments, 0)
            for _ in 0..<number(arguments, 1) {
                var takeOver = Transaction()
                takeOver.delete(key)
                takeOver.put(key, [1, 2, 3], lifetime: .session)
                _ = try await group.commit(takeOver)
                try await group.delete(key)
            }
            return ""
        case "clear":
            var transaction = Transaction()
            transaction.deleteAll(under: try KeyPrefix(word(arguments, 0)))
            return try await group.commit(transaction).revision.description
        case "increment":
            try await increment(key(arguments, 0), number(arguments, 1), in: group)
            return ""
        case "post":
            let name = try NotificationName(word(arguments, 0))
            return try await group.post(name, state: UInt64(number(arguments, 1))).description
        case "posts":
            let name = try NotificationName(word(arguments, 0))
            for index in 1...max(1, number(arguments, 1)) { try await group.post(name, state: UInt64(index)) }
            return ""
        case "alternate":
            let names = [try NotificationName(word(arguments, 0)), try NotificationName(word(arguments, 1))]
            for index in 0..<2 * number(arguments, 2) {
                try await group.post(names[index % 2], state: UInt64(index / 2 + 1))
            }
            return ""
        case "observe":
            try await observe(NotificationName(word(arguments, 0)), in: group)
            return ""
        case "forget":
            let count = number(arguments, 0)
            let ended = state.withLock { state in
                defer { state.observations.removeFirst(min(count, state.observations.count)) }
                return state.observations.prefix(count)
            }
            for observation in ended { observation.cancel() }
            return ""
        case "seen":
            return state.withLock { "\($0.observed.count) \($0.observed.state)" }
        case "watch":
            try await watch(KeyPrefix(arguments.first ?? ""), in: group)
            return ""
        case "watched":
            return try await watched(Revision(rawValue: UInt64(number(arguments, 0))))
        case "await":
            try await appearance(of: key(arguments, 0), in: group)
            return ""
        case "wakeUp":
            switch group.capabilities.wakeUp {
            case .direct: return "direct"
            case .fileEvents: return "fileEvents"
            case .sharedMemory: return "sharedMemory"
            case .polling: return "looking"
            }
        case "sync":
            try await group.sync()
            return ""
        case "settled":
            try await group.waitUntilDurable(through: Revision(rawValue: UInt64(number(arguments, 0))))
            return ""
        case "watchCycles":
            for _ in 0..<number(arguments, 0) { try await group.watch().cancel() }
            return ""
        case "produce", "consume", "readParcel", "listenParcels", "heardParcels":
            return try await mailbox(command, arguments, in: group)
        case "sessions":
            return try await group.sessions().map(\.id.description).joined(separator: " ")
        default:
            guard let answer = try await program.run(command, arguments, group) else {
                throw SharedCoreError(.invalidArgument, "The peer knows no such command.", at: command)
            }
            return answer
        }
    }

    // MARK: - Commands

    private func open(_ arguments: [String]) async throws(SharedCoreError) -> String {
        let group = try await program.open(
            arguments.joined(separator: " "), SessionDescription(role: .executor, name: "peer"))
        state.withLock { $0.group = group }
        return group.session.id.description
    }

    private func play(_ arguments: [String]) async throws(SharedCoreError) {
        let settings = try settings(word(arguments, 3))
        let description = SessionDescription(role: SessionRole(rawValue: word(arguments, 0)), name: word(arguments, 1))
        let group = try await program.open(arguments.dropFirst(4).joined(separator: " "), description)
        let participant = try TestParticipantSession(
            on: group, at: SharedServer(at: word(arguments, 2)), settings, isSimulated: false)
        state.withLock { $0.participant = participant }
    }

    private func gather(_ arguments: [String]) throws(SharedCoreError) {
        let address = arguments.dropFirst(4).joined(separator: " ")
        let first = number(arguments, 0)
        let burst = ExecutorBurst(
            numbers: first..<first + number(arguments, 1), server: SharedServer(at: word(arguments, 2)),
            settings: try settings(word(arguments, 3)), isSimulated: false,
            open: { [program] description throws(SharedCoreError) in try await program.open(address, description) })
        state.withLock { $0.burst = Task { await burst.run() } }
    }

    /// Parses the settings; `none` is the empty word.
    private func settings(_ word: String) throws(SharedCoreError) -> TestParticipantSettings {
        do throws(PeerRefusal) {
            return try TestParticipantSettings(word == "none" ? "" : word)
        } catch {
            throw SharedCoreError(.invalidArgument, error.answer, at: "settings")
        }
    }

    private func mailbox(
        _ command: String, _ arguments: [String], in group: any SharedGroup
    ) async throws(SharedCoreError) -> String {
        do {
            switch command {
            case "produce": try await PeerMailboxes.produce(number(arguments, 1), by: number(arguments, 0), in: group)
            case "consume": try await PeerMailboxes.consume(in: group)
            case "readParcel": return try await Wormhole(group).read(.latest).map { "\($0.value.number)" } ?? "nothing"
            case "listenParcels":
                let recorder = MailboxRecorder(try await Wormhole(group).listen(to: .latest))
                state.withLock { $0.heardParcels = recorder }
            default:
                return state.withLock(\.heardParcels)?.heard.map(\.summary).joined(separator: " ") ?? "nothing"
            }
            return ""
        } catch {
            throw SharedCoreError(.outcomeUnknown, "The mailbox failed: \(error)", at: command)
        }
    }

    private func increment(_ key: Key, _ count: Int, in group: any SharedGroup) async throws(SharedCoreError) {
        var done = 0
        while done < count {
            let entry = try await group.get(key)
            let value = entry.flatMap { Int(String(decoding: $0.value, as: UTF8.self)) } ?? 0
            do throws(SharedCoreError) {
                try await group.put(
                    key, Array("\(value + 1)".utf8), if: entry.map { .revision(key, $0.revision) } ?? .absent(key))
                done += 1
            } catch {
                guard error.code == .guardFailed else { throw error }
            }
        }
    }

    private func observe(_ name: NotificationName, in group: any SharedGroup) async throws(SharedCoreError) {
        let observation = try await group.observe(name)
        let task = Task {
            while let delivery = try? await observation.next() {
                state.withLock { $0.observed = ($0.observed.count + delivery.count, delivery.state) }
            }
        }
        state.withLock { state in
            state.tasks.append(task)
            state.observations.append(observation)
        }
    }

    private func watch(_ prefix: KeyPrefix, in group: any SharedGroup) async throws(SharedCoreError) {
        let watch = try await group.watch(prefix)
        let task = Task {
            while let event = try? await watch.next() {
                state.withLock { state in
                    if event.revision < state.watched.revision { state.watched.breaches += 1 }
                    state.watched.revision = event.revision
                    switch event {
                    case .snapshot: break
                    case .changes: state.watched.changeSets += 1
                    case .lagged: state.watched.lagged += 1
                    }
                }
            }
        }
        state.withLock { $0.tasks.append(task) }
    }

    private func watched(_ revision: Revision) async throws(SharedCoreError) -> String {
        while state.withLock({ $0.watched.revision < revision }) {
            do { try await Task.sleep(for: .milliseconds(2)) } catch { throw .cancelled("watched") }
        }
        return state.withLock {
            "\($0.watched.changeSets) \($0.watched.lagged) \($0.watched.breaches) \($0.watched.revision)"
        }
    }

    private func appearance(of key: Key, in group: any SharedGroup) async throws(SharedCoreError) {
        let watch = try await group.watch(KeyPrefix(key))
        while let event = try await watch.next() {
            switch event {
            case .snapshot(let snapshot), .lagged(let snapshot):
                if snapshot.entries.contains(where: { $0.key == key }) { return }
            case .changes(let set):
                if set.changes.contains(where: { $0.key == key && $0.new != nil }) { return }
            }
        }
    }

    /// Forks without an exec. Swift does not import fork(2), because a forked child is not safe. This child only waits
    /// until it is killed.
    private func child() throws(SharedCoreError) -> Int32 {
        typealias Fork = @convention(c) () -> Int32
        guard let address = dlsym(nil, "fork") else {
            throw SharedCoreError(.unsupported, "There is no fork.", at: "peer")
        }
        let child = unsafeBitCast(address, to: Fork.self)()
        if child == 0 { while true { pause() } }
        return child
    }

    // MARK: - Arguments

    private func opened() throws(SharedCoreError) -> any SharedGroup {
        guard let group = state.withLock(\.group) else { throw .closed("peer") }
        return group
    }

    private func word(_ arguments: [String], _ index: Int) -> String {
        index < arguments.count ? arguments[index] : ""
    }

    private func number(_ arguments: [String], _ index: Int) -> Int {
        Int(word(arguments, index)) ?? 0
    }

    private func key(_ arguments: [String], _ index: Int) throws(SharedCoreError) -> Key {
        try Key(word(arguments, index))
    }
}
