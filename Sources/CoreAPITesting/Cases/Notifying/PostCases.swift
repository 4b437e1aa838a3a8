internal import CoreAPI

/// N1, N5, N7, N8: posts, and the state that they leave.
enum PostCases {
    static let all = [
        postsNeedNobody, stateGoesWithThePost, lateObserversRead, writtenBeforeIsReadableAfter, postsDoNotPileUp,
    ]

    static let postsNeedNobody = ConformanceCase(
        "N1a", "a post needs no observer; its state word goes with it, and stays when none is given"
    ) { context in
        try await context.withGroup { group in
            let store = try await group.open()
            let reader = try await group.open()
            try expect(try await store.state(of: "news"), is: .never, "a name that was never posted")
            let words: [UInt64] = [1, 0, .max, 1 << 63, 42]
            for (number, word) in words.enumerated() {
                let revision = try await store.post("news", state: word)
                let expected = NotificationState(
                    state: word, count: UInt64(number + 1), revision: revision, origin: store.session.id)
                try expect(try await store.state(of: "news"), is: expected, "the state for its poster")
                try await reader.catchUp()
                try expect(try await reader.state(of: "news"), is: expected, "the state for another handle")
            }
            let revision = try await reader.post("news")
            let expected = NotificationState(state: 42, count: 6, revision: revision, origin: reader.session.id)
            try await store.catchUp()
            try expect(try await store.state(of: "news"), is: expected, "the state after a post without a word")
            try expect(try await store.state(of: "other"), is: .never, "another name")
        }
    }

    static let stateGoesWithThePost = ConformanceCase(
        "N1b", "under concurrent posts the state word, its origin and the count belong together"
    ) { context in
        try await context.withGroup { group in
            let posters = try await group.open(count: 4)
            let reader = try await group.open()
            let working = Box(4)
            let posted = Box<[Revision: (word: UInt64, origin: SessionID)]>([:])
            let read = Box<[NotificationState]>([])
            _ = try await together(5) { number in
                guard number < 4 else {
                    while working.value > 0 {
                        let state = try await reader.state(of: "news")
                        read.update { states in if states.last != state { states.append(state) } }
                        await Task.yield()
                    }
                    return
                }
                defer { working.update { $0 -= 1 } }
                for round in 0..<250 as Range<UInt64> {
                    let word = UInt64(number) << 32 | round
                    let revision = try await posters[number].post("news", state: word)
                    posted.update { $0[revision] = (word, posters[number].session.id) }
                }
            }
            let order = posted.value.keys.sorted()
            try expect(order.count, is: 1000, "each post has a revision of its own")
            try await posters[0].catchUp()
            let states = read.value + [try await posters[0].state(of: "news")]
            try expect(states.last?.count, is: 1000, "the count in the end")
            for state in states where state != .never {
                let post = try expectSome(posted.value[state.revision], "the post of revision \(state.revision)")
                try expect(state.state, is: post.word, "the word of revision \(state.revision)")
                try expect(state.origin, is: post.origin, "the origin of revision \(state.revision)")
                let place = order.firstIndex(of: state.revision).map { UInt64($0 + 1) }
                try expect(state.count, is: place, "the count at revision \(state.revision)")
            }
        }
    }

    static let lateObserversRead = ConformanceCase(
        "N5a", "a late observer reads state and count without an event"
    ) { context in
        try await context.withGroup { group in
            let poster = try await group.open()
            for state in 1...10 as ClosedRange<UInt64> { try await poster.post("news", state: state) }
            let late = try await group.open()
            let observation = try await late.observe("news")
            try await late.catchUp()
            let state = try await late.state(of: "news")
            try expect(state.state, is: 10, "the state for a late observer")
            try expect(state.count, is: 10, "the count for a late observer")
            let revision = try await poster.post("news", state: 11)
            let delivery = try await withTimeout(TestTimeout.usual, "the next post") { try await observation.next() }
            try expect(delivery?.count, is: 1, "how many posts the first delivery stands for")
            try expect(delivery?.revision, is: revision, "the revision of the first delivery")
            try expect(try await late.state(of: "news").count, is: 11, "the count after one more post")
        }
    }

    static let writtenBeforeIsReadableAfter = ConformanceCase(
        "N7a", "commits before the post, by any session, are readable after the wake"
    ) { context in
        try await context.withGroup { group in
            let writers = try await group.open(count: 3)
            let readers = try await group.open(count: 3)
            var observations: [Observation] = []
            for reader in readers { observations.append(try await reader.observe("written")) }
            let watching = observations
            _ = try await together(6) { number in
                if number < 3 {
                    for round in 0..<150 as Range<UInt64> {
                        let value = withUnsafeBytes(of: round.littleEndian) { Array($0) }
                        try await writers[number].put(Key("data/\(number)"), value)
                        try await writers[number].post("written", state: UInt64(number) << 32 | round)
                    }
                    return
                }
                let reader = readers[number - 3]
                var count: UInt64 = 0
                while count < 450, let delivery = try await watching[number - 3].next() {
                    count += delivery.count
                    let writer = delivery.state >> 32
                    let announced = delivery.state & 0xffff_ffff
                    let consistency: ReadConsistency = count.isMultiple(of: 2) ? .causal : .linearizable
                    let entry = try expectSome(
                        try await reader.get(Key("data/\(writer)"), consistency: consistency),
                        "what writer \(writer) wrote before its post \(announced), read as \(consistency)")
                    let round = entry.value.reversed().reduce(0) { $0 << 8 | UInt64($1) }
                    try expect(
                        round >= announced,
                        "a reader woken by post \(announced) of writer \(writer) reads that or later, not \(round)")
                    try expect(
                        entry.revision < delivery.revision || round > announced,
                        "what was written before post \(announced) has a lower revision than the post")
                }
                try expect(count, is: 450, "how many posts the deliveries stand for")
            }
        }
    }

    static let postsDoNotPileUp = ConformanceCase(
        "N8a", "524,288 posts without a reader: no error, no growth", timeLimit: .seconds(1200)
    ) { context in
        try await context.withGroup { group in
            let store = try await group.open()
            let observer = try await group.open()
            let observation = try await observer.observe("news")
            let postsInCommit: UInt64 = context.number(1, whereCommitsCost: 64, of: "posts in each commit")
            var posted: UInt64 = 0
            let growth = try await OwnResources.leastGrowth(batches: 16) {
                for _ in 0..<32_768 / postsInCommit {
                    if postsInCommit == 1 {
                        posted += 1
                        try await store.post("news", state: posted)
                    } else {
                        let states = posted + 1...posted + postsInCommit
                        _ = try await store.commit(Transaction(operations: states.map { .post("news", state: $0) }))
                        posted += postsInCommit
                    }
                    // Yield now and then, because a post that is recorded at once does not suspend this task.
                    if posted.isMultiple(of: 64) { await Task.yield() }
                }
            }
            // A queue of a batch would take 2 MB or more.
            try expect(growth < 1 << 20, "a batch of posts costs less than 1 MiB, not \(growth) bytes")
            try await observer.sync()
            let delivery = try await withTimeout(TestTimeout.usual, "the delivery") { try await observation.next() }
            try expect(delivery?.count, is: 524_288, "how many posts the delivery stands for")
            try expect(delivery?.state, is: 524_288, "the state that it carries")
            try expect(try await store.state(of: "news").count, is: 524_288, "the count of the posts")
        }
    }
}
