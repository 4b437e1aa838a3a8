import CoreAPI
import CoreAPITesting
import InMemoryBackend
import Mailboxes
import SharedCoreTesting
import TestSupport
import Testing

@testable import Coordination

@Suite("C7, S10: a message that could not be stored is told from one that never came")
struct StoreRefusalTests {
    private let full = SharedCoreError(.storageFull, "There is no space.", at: "test")

    @Test("Told are the first refusal, another kind of it, and that a write was taken; each once")
    func told() {
        let refusal = StoreRefusal()
        #expect(!refusal.note(.taken) && refusal.hasTaken && refusal.current == nil)
        #expect(refusal.note(.refused(full)) && refusal.current == full)
        #expect(!refusal.note(.refused(SharedCoreError(.storageFull, "Still none.", at: "test"))))
        let large = SharedCoreError(.limitExceeded, "The store is full.", at: "test")
        #expect(refusal.note(.refused(large)) && refusal.current == large)
        #expect(refusal.note(.taken) && refusal.current == nil)
        #expect(!refusal.note(.taken))
    }

    @Test("A timeline event that could not be written is written with the next commit, though nothing has changed")
    func toldAgain() {
        let refusal = StoreRefusal()
        _ = refusal.note(.refused(full))
        refusal.tellAgain()
        #expect(refusal.note(.refused(full)))
        #expect(!refusal.note(.refused(full)))
    }

    @Test("An answer to a guard, a closed handle, an ended session and a mistake of the caller are no refusals")
    func codes() {
        let codes: [SharedCoreError.Code] = [
            .invalidArgument, .limitExceeded, .guardFailed, .closed, .sessionEnded, .cancelled, .outcomeUnknown,
            .unsupported, .storageFull, .forbidden, .unavailable, .incompatible, .corrupt, .system,
        ]
        let refusals = codes.filter { StoreRefusal.isRefusal(SharedCoreError($0, "", at: "")) }
        #expect(
            refusals == [
                .limitExceeded, .outcomeUnknown, .unsupported, .storageFull, .forbidden, .unavailable, .incompatible,
                .corrupt, .system,
            ])
    }

    @Test("A core's store reports what was answered to writes of content, and nothing of others")
    func reports() async throws {
        let group = try await MemorySpace().open("group")
        let owner = try await group.put(OwnershipKey.owner, [], lifetime: .session).revision
        let answer = Box<SharedCoreError?>(nil)
        let store = InterposedStore(group) { transaction throws(SharedCoreError) in
            if let error = answer.value { throw error }
            return transaction
        }
        let heard = Box<[String]>([])
        let guarded = EpochGuardedStore(
            inner: store, epoch: owner, fenced: {},
            report: { write in
                heard.update { heard in
                    switch write {
                    case .begun, .over: break
                    case .taken: heard.append("taken")
                    case .refused(let error): heard.append("\(error.code)")
                    }
                }
            })
        try await guarded.put("content", [1])
        try await guarded.put("mine", [1], lifetime: .session)
        try await guarded.put(Key(Timeline.prefix.path + "1"), [1])
        try await guarded.put(CallKey.record(of: #require(CallID("ring"))), [1])
        try await guarded.delete("content")
        await #expect(throws: SharedCoreError.self) {
            try await guarded.commit(
                Transaction(guards: [.absent("mine")], operations: [.put("content", [], .persistent)]))
        }
        #expect(heard.value == ["taken"])
        for code in [SharedCoreError.Code.storageFull, .limitExceeded, .cancelled] {
            answer.update { $0 = SharedCoreError(code, "", at: "test") }
            await #expect(throws: SharedCoreError.self) { try await guarded.put("content", [1]) }
            await #expect(throws: SharedCoreError.self) { try await guarded.put("mine", [1], lifetime: .session) }
        }
        #expect(heard.value == ["taken", "storageFull", "limitExceeded"])
        await group.close()
    }

    @Test(
        "A timeout has the store's refusal as its cause, or that the store has not answered a write of the core",
        arguments: [false, true])
    func timeouts(refuses: Bool) async throws {
        let clock = ManualClock()
        let world = World(clock: clock)
        let process = world.processes.start()
        let group = try await world.space.open(
            "group",
            as: SessionDescription(role: .executor, name: "of a store that \(refuses ? "refuses" : "is silent")"),
            process: process.identity)
        let (writeCount, gate) = (Box(0), Promise<Void>())
        let store = InterposedStore(group) { [full] transaction throws(SharedCoreError) in
            let isMessage = transaction.operations.contains { operation in
                if case .put(let key, _, let lifetime) = operation {
                    lifetime != .session && key.text.hasPrefix(Inbox.path)
                } else {
                    false
                }
            }
            guard isMessage else { return transaction }
            writeCount.update { $0 += 1 }
            if refuses { throw full }
            await gate.pass()
            return transaction
        }
        let environment = CoordinationEnvironment(clock: clock, processes: world.processes, seed: 7)
        let executor = try ExecutorParticipant(of: store, options: .patient, environment: environment) {
            ScriptedCore(server: world.server, gauge: world.gauge, process: process, script: .init())
        }
        let wait = Task { try await executor.message(forCallID: .of("call-2"), timeout: .seconds(1)) }
        world.server.receive(try .text("call-1"))
        try await eventually("the core writes") { writeCount.value > 0 }
        let isOver = Box(false)
        async let over: Void = {
            _ = await wait.result
            isOver.update { $0 = true }
        }()
        try await eventually("the wait has ended") {
            clock.advance(by: .milliseconds(100))
            return isOver.value
        }
        await over
        let error = await #expect(throws: CoordinationError.self) { try await wait.value }
        #expect(error?.code == .timeout, "\(String(describing: error))")
        #expect(refuses ? error?.cause == full : error?.cause?.code == .unavailable, "\(String(describing: error))")
        gate.open()
        await executor.close()
        await group.close()
    }
}
