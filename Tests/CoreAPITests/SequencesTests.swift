internal import CoreAPI
internal import CoreAPITesting
internal import TestSupport
internal import Testing

@Suite("Watches and observations are sequences that free what they hold")
struct SequencesTests {
    @Test("W4: releasing the last reference cancels a watch; cancelling twice does no harm")
    func watchIsCancelledWhenLetGo() async throws {
        let cancels = Box(0)
        var watch: Watch? = Watch(next: { nil }, cancel: { cancels.update { $0 += 1 } })
        watch?.cancel()
        watch?.cancel()
        #expect(cancels.value == 2)
        watch = nil
        #expect(cancels.value == 3)
    }

    @Test("N6: releasing the last reference cancels an observation")
    func observationIsCancelledWhenLetGo() async throws {
        let cancels = Box(0)
        var observation: Observation? = Observation(next: { nil }, cancel: { cancels.update { $0 += 1 } })
        withExtendedLifetime(observation) { #expect(cancels.value == 0) }
        observation = nil
        #expect(cancels.value == 1)
    }

    @Test("W4: a loop over a watch keeps it alive, takes every event and ends with it")
    func loopsTakeEveryEvent() async throws {
        let rest = Box<[UInt64]>([1, 2, 3])
        func watch() -> Watch {
            Watch(
                next: {
                    rest.update { rest in
                        rest.isEmpty
                            ? nil : .snapshot(Snapshot(revision: Revision(rawValue: rest.removeFirst()), entries: []))
                    }
                }, cancel: { rest.update { $0 = [] } })
        }
        var revisions: [UInt64] = []
        for try await event in watch() { revisions.append(event.revision.rawValue) }
        #expect(revisions == [1, 2, 3])
    }

    @Test("W4: a watch that fails throws its typed error out of the loop")
    func loopsThrowTypedErrors() async throws {
        let watch = Watch(
            next: { () throws(SharedCoreError) in throw SharedCoreError(.sessionEnded, "It is over.", at: "here") },
            cancel: {})
        do throws(SharedCoreError) {
            for try await _ in watch { Issue.record("an event of a watch that has none") }
            Issue.record("the loop ended without the error")
        } catch {
            #expect(error.code == .sessionEnded)
        }
    }
}
