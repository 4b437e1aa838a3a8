internal import CoreAPI
internal import CoreAPITesting
internal import TestSupport
internal import Testing

@Suite("N: notifications", .timeLimit(.minutes(10)))
struct NotifierTests {
    @Test(
        "N1: a post needs no observer; its state word goes with it, and stays when none is given",
        arguments: Backend.all)
    func postsNeedNobody(backend: Backend) async throws {
        try await backend.withGroup { group in
            let store = try await group.open()
            let reader = try await group.open()
            #expect(try await store.state(of: "news") == .never)
            let words: [UInt64] = [1, 0, .max, 1 << 63, 42]
            for (number, word) in words.enumerated() {
                let revision = try await store.post("news", state: word)
                let expected = NotificationState(
                    state: word, count: UInt64(number + 1), revision: revision, origin: store.session.id)
                #expect(try await store.state(of: "news") == expected)
                #expect(try await reader.state(of: "news") == expected)
            }
            let revision = try await reader.post("news")
            #expect(
                try await store.state(of: "news")
                    == NotificationState(state: 42, count: 6, revision: revision, origin: reader.session.id))
            #expect(try await store.state(of: "other") == .never)
        }
    }

    @Test("N2: `observe` returns armed, also when nobody waits yet", arguments: Backend.all)
    func observersAreArmed(backend: Backend) async throws {
        try await backend.withGroup { group in
            let store = try await group.open()
            let poster = try await group.open()
            try await poster.post("news", state: 99)
            for round in 1...200 as ClosedRange<UInt64> {
                let observation = try await store.observe("news")
                let revision = try await poster.post("news", state: round)
                let delivery = try await within(Patience.usual, "the post after `observe`") {
                    try await observation.next()
                }
                #expect(
                    delivery
                        == NotificationDelivery(
                            name: "news", state: round, count: 1, revision: revision, origin: poster.session.id))
            }
        }
    }

    @Test("N3: the deliveries of 4 posters add up, and the last one carries the last state", arguments: Backend.all)
    func countsAddUp(backend: Backend) async throws {
        try await backend.withGroup { group in
            let posters = try await group.open(count: 4)
            var recorders: [ObservationRecorder] = []
            for handle in try await group.open(count: 3) {
                recorders.append(ObservationRecorder(try await handle.observe("news")))
            }
            _ = try await together(4) { number in
                for round in 0..<500 { try await posters[number].post("news", state: UInt64(number * 1000 + round)) }
            }
            let last = try await posters[0].post("news", state: 77)
            for recorder in recorders {
                try await recorder.reaches(2001)
                let deliveries = recorder.deliveries
                #expect(recorder.count == 2001)
                #expect((1...2001).contains(deliveries.count))
                #expect(deliveries.allSatisfy { $0.count >= 1 && $0.name == "news" })
                #expect(deliveries.map(\.revision) == deliveries.map(\.revision).sorted())
                #expect(Set(deliveries.map(\.revision)).count == deliveries.count)
                #expect(deliveries.last?.state == 77)
                #expect(deliveries.last?.revision == last)
                #expect(deliveries.last?.origin == posters[0].session.id)
            }
        }
    }

    @Test("N3: posts that nobody took are one delivery that stands for all", arguments: Backend.all)
    func untakenPostsAreMerged(backend: Backend) async throws {
        try await backend.withGroup { group in
            let store = try await group.open()
            let observation = try await store.observe("news")
            for state in 1...1000 as ClosedRange<UInt64> { try await store.post("news", state: state) }
            let delivery = try await observation.next()
            #expect(delivery?.count == 1000)
            #expect(delivery?.state == 1000)
            let next = Task { try await observation.next() }
            let revision = try await store.post("news")
            let second = try await within(Patience.usual, "one more delivery") { try await next.value }
            #expect(second?.count == 1)
            #expect(second?.state == 1000)
            #expect(second?.revision == revision)
        }
    }

    @Test("N3: when everything was taken, a wait really waits", arguments: Backend.all)
    func drainedObserversWait(backend: Backend) async throws {
        try await backend.withGroup { group in
            let store = try await group.open()
            let observation = try await store.observe("news")
            for _ in 0..<50 {
                try await store.post("news")
                #expect(try await observation.next()?.count == 1)
                let waiting = Task { try await observation.next() }
                try await store.post("other")
                try await store.put("news", [1])
                try await store.sync()
                waiting.cancel()
                #expect(try await within(Patience.usual, "the wait ends") { try await waiting.value } == nil)
            }
        }
    }

    @Test(
        "N4: every observer of a name is woken, one's own too, and no observer of another name", arguments: Backend.all)
    func everybodyIsWoken(backend: Backend) async throws {
        try await backend.withGroup { group in
            let handles = try await group.open(count: 5)
            let names = try ["news", "new", "news/", "news/x", "News", "neẃs", "ne\u{301}ws"].map {
                try NotificationName($0)
            }
            var recorders: [(name: NotificationName, recorder: ObservationRecorder)] = []
            for handle in handles {
                for name in names { recorders.append((name, ObservationRecorder(try await handle.observe(name)))) }
            }
            for (number, name) in names.enumerated() {
                for _ in 0...number { try await handles[number % 5].post(name, state: UInt64(number)) }
            }
            for (name, recorder) in recorders {
                let number = names.firstIndex(of: name) ?? 0
                try await recorder.reaches(UInt64(number + 1))
                #expect(recorder.deliveries.allSatisfy { $0.name == name && $0.state == UInt64(number) })
                #expect(recorder.deliveries.allSatisfy { $0.origin == handles[number % 5].session.id })
            }
            // Everything was delivered long ago by the time that every observer has what it waits for.
            for handle in handles { try await handle.sync() }
            for (name, recorder) in recorders {
                #expect(recorder.count == UInt64((names.firstIndex(of: name) ?? 0) + 1))
            }
        }
    }

    @Test("N4: names and keys of the same text do not touch each other", arguments: Backend.all)
    func namesAreNoKeys(backend: Backend) async throws {
        try await backend.withGroup { group in
            let store = try await group.open()
            let recorder = try await WatchRecorder(store)
            let observer = ObservationRecorder(try await store.observe("same"))
            try await store.post("same", state: 1)
            let put = try await store.put("same", [1])
            try await recorder.reaches(put.revision)
            try await observer.reaches(1)
            try await store.delete("same")
            #expect(try await store.state(of: "same").count == 1)
            #expect(recorder.mirror.changes.filter { $0.kind == .put }.count == 1)
            #expect(observer.count == 1)
        }
    }

    @Test("N5: a late observer reads state and count, and looks only once", arguments: Backend.all)
    func lateObserversRead(backend: Backend) async throws {
        try await backend.withGroup { group in
            let poster = try await group.open()
            for state in 1...10 as ClosedRange<UInt64> { try await poster.post("news", state: state) }
            let late = try await group.open()
            let observation = try await late.observe("news")
            let state = try await late.state(of: "news")
            #expect(state.state == 10)
            #expect(state.count == 10)
            try await poster.post("news", state: 11)
            let delivery = try await within(Patience.usual, "the next post") { try await observation.next() }
            #expect(delivery?.count == 1)
            #expect(try await late.state(of: "news").count == state.count + 1)
        }
    }

    @Test("N7: what was committed before the post, by anybody, is readable after the wake", arguments: Backend.all)
    func writtenBeforeIsReadableAfter(backend: Backend) async throws {
        try await backend.withGroup { group in
            let writers = try await group.open(count: 3)
            let readers = try await group.open(count: 3)
            var observations: [Observation] = []
            for reader in readers { observations.append(try await reader.observe("written")) }
            let watching = observations
            _ = try await together(6) { number in
                if number < 3 {
                    for round in 0..<150 as Range<UInt64> {
                        let value = withUnsafeBytes(of: round) { Array($0) }
                        try await writers[number].put(Key("data/\(number)"), value)
                        try await writers[number].post("written", state: UInt64(number) << 32 | round)
                    }
                } else {
                    var count: UInt64 = 0
                    while count < 450, let delivery = try await watching[number - 3].next() {
                        count += delivery.count
                        let writer = delivery.state >> 32
                        let consistency: ReadConsistency = count.isMultiple(of: 2) ? .causal : .linearizable
                        let entry = try await readers[number - 3].get(Key("data/\(writer)"), consistency: consistency)
                        let round = entry?.value.reversed().reduce(0) { $0 << 8 | UInt64($1) }
                        #expect(round ?? 0 >= delivery.state & 0xffff_ffff)
                        #expect(
                            entry?.revision ?? .zero < delivery.revision || round ?? 0 > delivery.state & 0xffff_ffff)
                    }
                    #expect(count == 450)
                }
            }
        }
    }

    @Test("N8: 524,288 posts with nobody reading: no error, no growth", arguments: Backend.all)
    func postsDoNotPileUp(backend: Backend) async throws {
        try await backend.withGroup { group in
            let store = try await group.open()
            let observation = try await group.open().observe("news")
            var posted: UInt64 = 0
            let growth = try await OwnResources.leastGrowth(batches: 16) {
                for _ in 0..<32_768 {
                    posted += 1
                    // A post that has its place at once gives no other task a turn.
                    if posted.isMultiple(of: 64) { await Task.yield() }
                    try await store.post("news", state: posted)
                }
            }
            // A queue of a batch would take 2 MB or more.
            #expect(growth < 1 << 20)
            let delivery = try await observation.next()
            #expect(delivery?.count == 524_288)
            #expect(delivery?.state == 524_288)
            #expect(try await store.state(of: "news").count == 524_288)
        }
    }
}
