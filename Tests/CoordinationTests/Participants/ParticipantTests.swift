import CoreAPI
import CoreAPITesting
import InMemoryBackend
import TestSupport
import Testing

@testable import Coordination

/// The internals of a participant.
struct ParticipantTests {
    @Test("several that begin at once, and fail at once, begin anew as one")
    func beginsOnce() async throws {
        let group = try await MemorySpace().open("group", as: SessionDescription(role: .main))
        let gate = Promise<Void>()
        let watches = Box(0)
        let store = UnwatchableStore(inner: group) { () async throws(SharedCoreError) in
            let number = watches.update { watches in
                watches += 1
                return watches
            }
            if number > 1 { return }
            await gate.pass()
            throw SharedCoreError(.unavailable, "Not yet.", at: "test")
        }
        let participant = try Participant(
            store, core: { ScriptedCore.idle(in: World()) }, options: .patient, environment: CoordinationEnvironment())
        let begun = Box(0)
        let callers = (0..<8).map { _ in Task { await participant.beginUntilItWorks(noting: begun) } }
        try await eventually("all of them wait") { gate.waiterCount == 1 && begun.value == 8 }

        gate.open()
        for caller in callers { await caller.value }

        #expect(watches.value == 2)
        await participant.close()
    }
}

extension Participant {
    /// Begins, again at once after each failure.
    fileprivate func beginUntilItWorks(noting begun: Box<Int>) async {
        begun.update { $0 += 1 }
        while true {
            do throws(SharedCoreError) {
                return try await begin()
            } catch {
                continue
            }
        }
    }
}

/// A store that runs a closure before each watch.
private struct UnwatchableStore: ForwardingStore {
    let inner: any SharedStore
    let beforeWatch: @Sendable () async throws(SharedCoreError) -> Void

    func watch(_ prefixes: [KeyPrefix], from start: WatchStart) async throws(SharedCoreError) -> Watch {
        try await beforeWatch()
        return try await inner.watch(prefixes, from: start)
    }
}
