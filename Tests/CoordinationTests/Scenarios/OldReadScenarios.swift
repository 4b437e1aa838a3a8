import CoreAPI
import InMemoryBackend
import Mailboxes
import SharedCoreTesting
import TestSupport
import Testing

@testable import Coordination

/// A participant with causal reads as old as the contract allows.
struct OldReadScenarios {
    private let clock = ManualClock()

    /// Makes an Executor with watches of messages that deliver nothing.
    private func executor(
        in world: World, afterCausal: @escaping @Sendable (KeyPrefix) async -> Void = { _ in }
    ) async throws -> ExecutorParticipant {
        let process = world.processes.start()
        let group = try await world.space.open(
            "group", as: SessionDescription(role: .executor, name: "late"), process: process.identity)
        return try ExecutorParticipant(
            of: LateStore(group, afterCausal: afterCausal), options: world.options,
            environment: CoordinationEnvironment(clock: clock, processes: world.processes, seed: 7)
        ) {
            ScriptedCore(server: world.server, gauge: world.gauge, process: process, script: .init())
        }
    }

    @Test("C7: a message that is there at the deadline is taken, although the last read does not show it yet")
    func deadline() async throws {
        let world = World(clock: clock)
        let observer = try await world.observer()
        let other = try Inbox(observer)
        let isStored = Box(false)
        let executor = try await executor(in: world) { [clock] prefix in
            guard prefix.path.hasPrefix(Inbox.path), !isStored.value else { return }
            isStored.update { $0 = true }
            _ = try? await other.store(.text("call-1"))
            clock.advance(by: .milliseconds(1_010))
        }
        let answer = try await withTimeout(TestTimeout.usual, "the wait ends") {
            try await executor.message(forCallID: .of("call-1"), timeout: .seconds(1))
        }
        #expect(isStored.value)
        #expect(answer.message != nil)
        await executor.close()
    }

    @Test("C13: the look that trusts no wake-up comes when it is due, also when something else has rung before")
    func dueLook() async throws {
        let world = World(clock: clock)
        let other = try Inbox(await world.observer())
        _ = try await other.store(.text("call-1"))
        guard case .taken(let taken) = try await other.take(.of("call-1")) else {
            Issue.record("it cannot be taken")
            return
        }
        let looks = Box(0)
        let process = world.processes.start()
        let group = try await world.space.open(
            "group", as: SessionDescription(role: .executor, name: "late"), process: process.identity)
        let store = LateStore(group) { prefix in
            if prefix.path.hasPrefix(Inbox.path) { looks.update { $0 += 1 } }
        }
        let participant = try Participant(
            store, core: { ScriptedCore.idle(in: world) }, options: world.options,
            environment: CoordinationEnvironment(clock: clock, processes: world.processes, seed: 7))
        let limit = clock.now().advanced(by: .seconds(60))
        let due = clock.now().advanced(by: .milliseconds(250))
        let id = try MessageID(.of("call-1"))
        let wait = Task {
            try await participant.message(for: id, before: limit, insisting: false, reporting: nil)
        }
        try await eventually("it waits") { [clock] in clock.nextWake == due }

        clock.advance(by: .milliseconds(100))
        let before = looks.value
        await participant.signalListeners()
        try await eventually("it looks early") { looks.value > before }
        try await other.giveBack(taken)
        clock.advance(to: due)

        let answer = try await withTimeout(TestTimeout.usual, "it looks when that is due") { try await wait.value }
        #expect(answer.message != nil)
        await participant.close()
    }

    @Test("C13: one look serves the ownership and the message, and shows a message that nothing has rung for")
    func oneLook() async throws {
        let world = World(clock: clock)
        let observer = try await world.observer()
        let owner = OwnerRecord(
            role: .executor, state: .running, name: "owner", process: observer.session.process, since: clock.now())
        try await observer.put(OwnershipKey.owner, owner.bytes, lifetime: .session)
        let looks = Box<[String: Int]>([:])
        let group = try await world.space.open("group", as: SessionDescription(role: .executor, name: "late"))
        let store = LateStore(group, afterLinearizable: { prefix in looks.update { $0[prefix.path, default: 0] += 1 } })
        let participant = try Participant(
            store, core: { ScriptedCore.idle(in: world) }, options: world.options,
            environment: CoordinationEnvironment(clock: clock, processes: world.processes, seed: 7))
        let limit = clock.now().advanced(by: .seconds(60))
        let wait = Task {
            try await participant.message(
                for: MessageID(.of("call-1")), before: limit, insisting: false, reporting: nil)
        }
        try await eventually("it waits") { await !participant.demandPolicy.needs.isEmpty }
        let first = looks.value
        for count in 1...8 {
            try await eventually("it waits for the next look") { [clock] in
                clock.nextWake.map { $0 > clock.now() } == true
            }
            clock.advance(by: .milliseconds(250))
            try await eventually("it looks") {
                looks.value[OwnershipKey.path.path, default: 0] >= first[OwnershipKey.path.path, default: 0] + count
            }
        }
        // The one of the ownership serves the others.
        let count = { (looks: [String: Int]) in
            looks.filter { $0.key != OwnershipKey.path.path }.values.reduce(0, +)
        }
        #expect(count(first) > 0 && count(looks.value) <= count(first) + 1, "\(first), \(looks.value)")

        _ = try await Inbox(observer).store(.text("call-1"))
        clock.advance(by: .milliseconds(250))
        let answer = try await withTimeout(TestTimeout.usual, "the look shows it") { try await wait.value }
        #expect(answer.message != nil)
        await participant.close()
    }
}

/// A store that answers causal reads with the content that this handle has been shown last: by a linearizable read, a
/// commit, an event or the sessions. Its watches of the inbox deliver nothing.
private final class LateStore: ForwardingStore {
    let inner: any SharedStore
    private let shown = Box(Snapshot(revision: .zero, entries: []))
    private let afterCausal: @Sendable (KeyPrefix) async -> Void

    private let afterLinearizable: @Sendable (KeyPrefix) -> Void

    init(
        _ group: MemoryGroup, afterCausal: @escaping @Sendable (KeyPrefix) async -> Void = { _ in },
        afterLinearizable: @escaping @Sendable (KeyPrefix) -> Void = { _ in }
    ) {
        inner = group
        self.afterLinearizable = afterLinearizable
        self.afterCausal = afterCausal
    }

    private func show() async throws(SharedCoreError) {
        let all = try await inner.list(.all)
        shown.update { $0 = all }
    }

    func get(_ key: Key, consistency: ReadConsistency) async throws(SharedCoreError) -> Entry? {
        if consistency == .linearizable {
            try await show()
            afterLinearizable(KeyPrefix(key))
        }
        return shown.value.entries.first { $0.key == key }
    }

    func list(_ prefix: KeyPrefix, consistency: ReadConsistency) async throws(SharedCoreError) -> Snapshot {
        if consistency == .linearizable { try await show() }
        let all = shown.value
        if consistency == .causal { await afterCausal(prefix) } else { afterLinearizable(prefix) }
        return Snapshot(revision: all.revision, entries: all.entries.filter { prefix.contains($0.key) })
    }

    func commit(_ transaction: Transaction) async throws(SharedCoreError) -> Commit {
        let commit = try await inner.commit(transaction)
        try await show()
        return commit
    }

    func watch(_ prefixes: [KeyPrefix], from start: WatchStart) async throws(SharedCoreError) -> Watch {
        let watch = try await inner.watch(prefixes, from: start)
        let isDeaf = prefixes.contains { $0.path.hasPrefix(Inbox.path) }
        return Watch(
            next: { () async throws(SharedCoreError) in
                while let event = try await watch.next() {
                    if isDeaf { continue }
                    try await self.show()
                    return event
                }
                return nil
            }, cancel: { watch.cancel() })
    }

    func sessions() async throws(SharedCoreError) -> [Session] {
        let sessions = try await inner.sessions()
        try await show()
        return sessions
    }
}
