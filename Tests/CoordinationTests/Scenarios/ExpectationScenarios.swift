import CoreAPI
import CoreAPITesting
import InMemoryBackend
import SharedCoreTesting
import TestSupport
import Testing

@testable import Coordination

/// The expectation of a wait when a message for it is taken.
@Suite(.serialized)
struct ExpectationScenarios {
    private static let inbox: KeyPrefix = ".sharedcore/inbox/"

    @Test("C9: the commit that takes a message takes the expectation of its wait back")
    func taken() async throws {
        let world = World()
        let main = try await world.main()
        try await main.participant.start()
        let executor = try await world.executor()
        let wait = executor.wait(for: "call-1")
        try await eventually("it is known to wait") { try await world.waitingCount() == 1 }
        let observer = try await world.observer()
        let watch = try await observer.watch([Expectation.path, Self.inbox], from: .now)

        world.server.receive(try .text("call-1"))

        let answer = try await wait.value
        #expect(answer.message != nil)
        var others = 0
        while true {
            guard
                case .changes(let set)? = try await withTimeout(
                    TestTimeout.usual, "the wait ends", { try await watch.next() })
            else { continue }
            let isOver = set.changes.contains { Expectation.path.contains($0.key) && $0.kind == .deleted }
            let isTake =
                set.changes.contains { Self.inbox.contains($0.key) && $0.kind == .put }
                && set.origin == executor.group.session.id
            #expect(isOver == isTake)
            if isOver { break }
            others += 1
        }
        #expect(others > 0, "the message came before")
    }

    @Test("C9: a wait of the same process for the same message is expected on, until that is acknowledged")
    func secondWait() async throws {
        let world = World()
        let main = try await world.main()
        try await main.participant.start()
        let executor = try await world.executor()
        let waits = [executor.wait(for: "call-1"), executor.wait(for: "call-1")]
        try await eventually("both wait") {
            try await world.observer().list(Expectation.path).entries.first.map { $0.revision > $0.creationRevision }
                == true
        }
        let answers = AsyncStream<MessageResult>.makeStream()
        let waiting = waits.map { wait in Task { _ = answers.continuation.yield(try await wait.value) } }
        world.server.receive(try .text("call-1"))

        var iterator = answers.stream.makeAsyncIterator()
        let first = try #require(await iterator.next())
        let taken = try #require(first.taken)
        #expect(try await world.waitingCount() == 1)
        #expect(try await executor.participant.acknowledge(taken))
        let second = try #require(await iterator.next())
        #expect(second.content == .nothingToShow)
        try await eventually("nothing is expected") { try await world.waitingCount() == 0 }
        for task in waiting { try await task.value }
    }

    @Test("C9: a wait whose message another one takes first is expected again")
    func takenByAnother() async throws {
        let world = World()
        let main = try await world.main()
        try await main.participant.start()
        let inbox = try Inbox(await world.observer())
        let callID = try CallID.of("call-1")
        let other = Box<TakenMessage?>(nil)
        let process = world.processes.start()
        let group = try await world.space.open(
            "group", as: SessionDescription(role: .executor, name: "late"), process: process.identity)
        let store = InterposedStore(group) { transaction throws(SharedCoreError) in
            let takes = transaction.operations.contains { operation in
                guard case .put(let key, _, .session) = operation else { return false }
                return Self.inbox.contains(key)
            }
            if takes, other.value == nil, case .taken(let message) = try await inbox.take(callID) {
                other.update { $0 = message }
            }
            return transaction
        }
        let executor = try ExecutorParticipant(
            of: store, options: world.options,
            environment: CoordinationEnvironment(clock: world.clock, processes: world.processes, seed: 7)
        ) { ScriptedCore.idle(in: world) }
        let wait = Task { try await executor.message(forCallID: .of("call-1"), timeout: .seconds(3600)) }
        try await eventually("it is known to wait") { try await world.waitingCount() == 1 }

        world.server.receive(try .text("call-1"))

        try await eventually("another one has the message") { other.value != nil }
        #expect(try await world.waitingCount() == 1)
        try await inbox.giveBack(try #require(other.value))
        let answer = try await withTimeout(TestTimeout.usual, "it gets the message") { try await wait.value }
        #expect(answer.message != nil)
        try await eventually("nothing is expected") { try await world.waitingCount() == 0 }
        await executor.close()
    }
}
