internal import CoreAPI

/// N2, N3, N4, N6: which posts wake which observers, and how often.
enum DeliveryCases {
    static let all = [
        observersAreArmed, countsAddUp, untakenPostsAreMerged, drainedObserversWait, everybodyIsWoken, namesAreNoKeys,
        cancelIsFinal,
    ]

    static let observersAreArmed = ConformanceCase(
        "N2a", "`observe` returns armed, also when no consumer waits yet"
    ) { context in
        try await context.withGroup { group in
            let store = try await group.open()
            let poster = try await group.open()
            try await poster.post("news", state: 99)
            for round in 1...200 as ClosedRange<UInt64> {
                let observation = try await store.observe("news")
                let revision = try await poster.post("news", state: round)
                let delivery = try await withTimeout(TestTimeout.usual, "the post after `observe`") {
                    try await observation.next()
                }
                let expected = NotificationDelivery(
                    name: "news", state: round, count: 1, revision: revision, origin: poster.session.id)
                try expect(delivery, is: expected, "the first delivery of observation \(round)")
            }
        }
    }

    static let countsAddUp = ConformanceCase(
        "N3a", "the deliveries of 4 posters add up, and the last one carries the last state"
    ) { context in
        try await context.withGroup { group in
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
                let revisions = deliveries.map(\.revision)
                try expect(recorder.count, is: 2001, "how many posts the deliveries stand for")
                try expect((1...2001).contains(deliveries.count), "there are 1 to 2001 deliveries")
                try expect(deliveries.allSatisfy { $0.count >= 1 }, "each delivery stands for a post")
                try expect(deliveries.allSatisfy { $0.name == "news" }, "each delivery is of the observed name")
                try expect(revisions == revisions.sorted(), "the deliveries come in the order of their revisions")
                try expect(Set(revisions).count, is: deliveries.count, "the number of different revisions")
                let expected = NotificationDelivery(
                    name: "news", state: 77, count: deliveries.last?.count ?? 0, revision: last,
                    origin: posters[0].session.id)
                try expect(deliveries.last, is: expected, "the last delivery")
            }
        }
    }

    static let untakenPostsAreMerged = ConformanceCase(
        "N3b", "posts that no consumer has taken are one delivery that counts all"
    ) { context in
        try await context.withGroup { group in
            let store = try await group.open()
            let observation = try await store.observe("news")
            for state in 1...1000 as ClosedRange<UInt64> { try await store.post("news", state: state) }
            try await store.sync()
            let delivery = try await withTimeout(TestTimeout.usual, "one delivery") { try await observation.next() }
            try expect(delivery?.count, is: 1000, "how many posts the delivery stands for")
            try expect(delivery?.state, is: 1000, "the state that it carries")
            let next = Task { try await observation.next() }
            let revision = try await store.post("news")
            let second = try await withTimeout(TestTimeout.usual, "one more delivery") { try await next.value }
            try expect(second?.count, is: 1, "how many posts the second delivery stands for")
            try expect(second?.state, is: 1000, "the state after a post without a word")
            try expect(second?.revision, is: revision, "the revision of the second delivery")
        }
    }

    static let drainedObserversWait = ConformanceCase(
        "N3c", "a wait with nothing to deliver does not return"
    ) { context in
        try await context.withGroup { group in
            let store = try await group.open()
            let observation = try await store.observe("news")
            for round in 0..<50 {
                try await store.post("news")
                let delivery = try await withTimeout(TestTimeout.usual, "the delivery") { try await observation.next() }
                try expect(delivery?.count, is: 1, "how many posts delivery \(round) stands for")
                let waiting = Task { try await observation.next() }
                try await store.post("other")
                try await store.put("news", [1])
                try await store.sync()
                waiting.cancel()
                let nothing = try await withTimeout(TestTimeout.usual, "the wait ends") { try await waiting.value }
                try expect(nothing, is: nil, "what a wait without a post gives")
            }
        }
    }

    static let everybodyIsWoken = ConformanceCase(
        "N4a", "every observer of a name is woken, also in the posting process, and no observer of another name"
    ) { context in
        try await context.withGroup { group in
            let handles = try await group.open(count: 5)
            let names = try ["news", "new", "other", "news/", "news/x", "News", "neẃs", "ne\u{301}ws"].map {
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
            }
            // Any unexpected delivery would have come by then.
            for handle in handles { try await handle.sync() }
            for (name, recorder) in recorders {
                let number = names.firstIndex(of: name) ?? 0
                try expect(recorder.count, is: UInt64(number + 1), "how many posts of “\(name)” were delivered")
                let isRight = recorder.deliveries.allSatisfy { delivery in
                    delivery.name == name && delivery.state == UInt64(number)
                        && delivery.origin == handles[number % 5].session.id
                }
                try expect(isRight, "the deliveries of “\(name)” carry its name, its state and its poster")
            }
        }
    }

    static let namesAreNoKeys = ConformanceCase(
        "N4b", "a name and a key of the same text are separate"
    ) { context in
        try await context.withGroup { group in
            let store = try await group.open()
            let recorder = try await WatchRecorder(store)
            let observer = ObservationRecorder(try await store.observe("same"))
            try await store.post("same", state: 1)
            try expect(try await store.get("same"), is: nil, "the key of a name that was posted")
            try await store.put("same", [1])
            let deleted = try await store.delete("same")
            try await recorder.reaches(deleted.revision)
            try await observer.reaches(1)
            try await store.sync()
            try expect(try await store.state(of: "same").count, is: 1, "the count of the posts")
            try expect(recorder.mirror.changes.map(\.kind), is: [.put, .deleted], "the changes of the key")
            try expect(observer.count, is: 1, "how many posts were delivered")
        }
    }

    static let cancelIsFinal = ConformanceCase(
        "N6a", "cancel is idempotent and safe while a delivery is handled; nothing is delivered after it"
    ) { context in
        try await context.withGroup { group in
            let store = try await group.open()
            for round in 0..<50 {
                let observation = try await store.observe("news")
                let other = ObservationRecorder(try await store.observe("news"))
                let poster = Task { for _ in 0..<20 { try await store.post("news") } }
                let handled = try await withTimeout(TestTimeout.usual, "the loop over the observation ends") {
                    var handled = 0
                    for try await _ in observation {
                        handled += 1
                        observation.cancel()
                        observation.cancel()
                    }
                    return handled
                }
                try expect(handled, is: 1, "how many deliveries were handled in round \(round)")
                try await poster.value
                try await store.sync()
                let late = try await withTimeout(TestTimeout.usual, "a wait after the end") {
                    try await observation.next()
                }
                try expect(late, is: nil, "what a wait after the end gives")
                try await other.reaches(20)
                try await other.stop()
                try expect(other.count, is: 20, "how many posts another observation was delivered")
            }
        }
    }
}
