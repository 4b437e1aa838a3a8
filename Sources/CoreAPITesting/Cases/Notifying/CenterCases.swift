internal import CoreAPI
internal import Mailboxes

/// N4, N5, N6: the additions of the notification center to any notifier.
enum CenterCases {
    static let all = [
        checkTells, privateNames, suspensionsNest, suspendedSequence, handlersAreCancelled, handlersCancelEachOther,
        observersGoAway, manyObservers, cyclesLeaveNothing,
    ]

    static let checkTells = ConformanceCase(
        "N5b", "`check` tells whether a post came since the last check, and consumes none (scenario 31)"
    ) { context in
        try await context.withGroup { group in
            let center = SharedNotificationCenter(try await group.open())
            let poster = SharedNotificationCenter(try await group.open())
            try await poster.post("news", state: 5)
            let check = try await center.check(of: "news")
            try expect(try await check.check(), is: false, "the check before anything came")
            try await poster.post("news", state: 6)
            try await poster.post("news", state: 7)
            try expect(try await check.state().state, is: 7, "the state word that stands there")
            try expect(try await check.check(), is: true, "the check after two posts")
            try expect(try await check.check(), is: false, "the check after a check")

            let notifications = try await center.notifications(named: "news")
            try await poster.post("news", state: 8)
            try expect(try await notifications.check(), is: true, "the check of an observation")
            let delivery = try await withTimeout(TestTimeout.usual, "the post that was checked") {
                try await notifications.next()
            }
            try expect(delivery?.state, is: 8, "the state that is delivered after the check")
            try expect(try await notifications.check(), is: false, "the check after the delivery")
        }
    }

    static let privateNames = ConformanceCase(
        "N4d", "names that begin with `self.` wake this process alone, and leave the group as it is"
    ) { context in
        try await context.withGroup { group in
            let store = try await group.open()
            let center = SharedNotificationCenter(store)
            let another = SharedNotificationCenter(try await group.open())
            // A name that no other run of the case in this process has.
            let name = try NotificationName("self.\(UInt64.random(in: .min ... .max))")
            let before = try await store.list().revision
            let notifications = try await another.notifications(named: name)
            for state in 1...3 as ClosedRange<UInt64> { try await center.post(name, state: state) }
            var (count, last) = (0 as UInt64, 0 as UInt64)
            // The posts come in one or several deliveries, depending on when each is taken.
            while count < 3 {
                let delivery = try await withTimeout(TestTimeout.usual, "the posts of the other center") {
                    try await notifications.next()
                }
                count += try expectSome(delivery, "a delivery").count
                last = delivery?.state ?? 0
            }
            try expect(count, is: 3, "how many posts the deliveries stand for")
            try expect(last, is: 3, "the last state")
            try expect(try await another.state(of: name).count, is: 3, "the count that stands there")
            try expect(try await store.state(of: name), is: .never, "what the group knows of it")
            try expect(try await store.list().revision, is: before, "the group's revision")
        }
    }

    static let suspensionsNest = ConformanceCase(
        "N6b", "suspend and resume nest, and all posts in between make one call (scenario 31)"
    ) { context in
        try await context.withGroup { group in
            let store = try await group.open()
            let center = SharedNotificationCenter(store)
            let calls = Box<[NotificationDelivery]>([])
            let token = try await center.addObserver(forName: "news") { delivery in
                calls.update { $0.append(delivery) }
            }
            token.suspend()
            token.suspend()
            for state in 1...20 as ClosedRange<UInt64> { try await center.post("news", state: state) }
            try expect(token.resume(), "it was suspended twice")
            try await center.post("news", state: 21)
            // A delivery that is not suspended would have come by the time at which this post is delivered.
            let other = try await center.notifications(named: "news")
            try await center.post("news", state: 22)
            _ = try await withTimeout(TestTimeout.usual, "the post at another observer") { try await other.next() }
            try expect(calls.value, is: [], "the calls while it is suspended")
            try expect(token.resume(), "it was suspended once")
            try await eventually("the call after the last resume") { !calls.value.isEmpty }
            try expect(calls.value.map(\.count), is: [22], "how many posts each call stands for")
            try expect(calls.value.last?.state, is: 22, "the last state")
            try expect(!token.resume(), "it was not suspended any more")
            try await center.post("news", state: 23)
            try await eventually("the call of a post after it") { calls.value.count == 2 }
            token.cancel()
        }
    }

    static let suspendedSequence = ConformanceCase(
        "N6c", "a suspended sequence delivers no post, and ends when it is cancelled"
    ) { context in
        try await context.withGroup { group in
            let center = SharedNotificationCenter(try await group.open())
            let notifications = try await center.notifications(named: "news")
            notifications.suspend()
            try await center.post("news", state: 1)
            let waiting = Task { try await notifications.next() }
            try await center.post("news", state: 2)
            notifications.resume()
            let delivery = try await withTimeout(TestTimeout.usual, "what was held back") { try await waiting.value }
            try expect(delivery?.state, is: 2, "the last state")
            notifications.suspend()
            try await center.post("news", state: 3)
            let held = Task { try await notifications.next() }
            notifications.cancel()
            let nothing = try await withTimeout(TestTimeout.usual, "the end") { try await held.value }
            try expect(nothing, is: nil, "what a cancelled sequence gives")
        }
    }

    static let handlersAreCancelled = ConformanceCase(
        "N6d", "cancel is idempotent, safe inside the handler, and no handler starts or runs once it has returned"
    ) { context in
        try await context.withGroup { group in
            let center = SharedNotificationCenter(try await group.open())
            for round in 0..<100 {
                let isOver = Box(false)
                let late = Box(0)
                let calls = Box(0)
                let token = try await center.addObserver(forName: "news") { _ in
                    if isOver.value { late.update { $0 += 1 } }
                    calls.update { $0 += 1 }
                    if isOver.value { late.update { $0 += 1 } }
                }
                let posting = Task { for _ in 0..<20 { try await center.post("news") } }
                if round % 2 == 0 { try await eventually("a first call") { calls.value > 0 } }
                token.cancel()
                isOver.update { $0 = true }
                token.cancel()
                try await posting.value
                try await center.post("news")
                try expect(late.value, is: 0, "the calls that started or ran after cancel in round \(round)")
            }
            let inside = Box<NotificationToken?>(nil)
            let calls = Box(0)
            let token = try await center.addObserver(forName: "own") { _ in
                calls.update { $0 += 1 }
                inside.value?.cancel()
                inside.value?.cancel()
            }
            inside.update { $0 = token }
            let other = try await center.notifications(named: "own")
            try await center.post("own")
            try await eventually("the call that cancels itself") { calls.value == 1 }
            try await center.post("own")
            _ = try await withTimeout(TestTimeout.usual, "the post at another observer") { try await other.next() }
            try expect(calls.value, is: 1, "the calls of a handler that has cancelled itself")
        }
    }

    static let handlersCancelEachOther = ConformanceCase(
        "N6e", "two handlers that cancel each other at once both return"
    ) { context in
        try await context.withGroup { group in
            let center = SharedNotificationCenter(try await group.open())
            for _ in 0..<50 {
                let tokens = Box<[NotificationToken]>([])
                let returned = Box(0)
                for _ in 0..<2 {
                    let token = try await center.addObserver(forName: "news") { _ in
                        for token in tokens.value { token.cancel() }
                        returned.update { $0 += 1 }
                    }
                    tokens.update { $0.append(token) }
                }
                try await center.post("news")
                try await eventually("a handler returns") { returned.value >= 1 }
                let all = tokens.value
                try await withTimeout(TestTimeout.usual, "the other one as well") {
                    for token in all { token.cancel() }
                }
                tokens.update { $0 = [] }
            }
        }
    }

    static let observersGoAway = ConformanceCase(
        "N6f", "an observer that was released or removed is called no more; the others are"
    ) { context in
        try await context.withGroup { group in
            let center = SharedNotificationCenter(try await group.open())
            let staying = CountingObserver()
            var leaving: CountingObserver? = CountingObserver()
            weak let trace = leaving
            for name in ["first", "second"] as [NotificationName] {
                try await center.addObserver(staying, forName: name) { observer, _ in observer.count.update { $0 += 1 }
                }
            }
            let leavingCount = try expectSome(leaving?.count, "the observer")
            if let leaving {
                try await center.addObserver(leaving, forName: "first") { observer, _ in
                    observer.count.update { $0 += 1 }
                }
            }
            try await center.post("first")
            try await eventually("both are called") { staying.count.value == 1 && leavingCount.value == 1 }
            leaving = nil
            try await eventually("nobody keeps the observer") { trace == nil }
            try await center.post("first")
            try await eventually("the one that stays is called") { staying.count.value == 2 }
            center.removeObserver(staying, forName: "first")
            try await center.post("first")
            try await center.post("second")
            try await eventually("the name that is left") { staying.count.value == 3 }
            center.removeObserver(staying)
            let other = try await center.notifications(named: "second")
            try await center.post("second")
            _ = try await withTimeout(TestTimeout.usual, "the post at another observer") { try await other.next() }
            try expect(staying.count.value, is: 3, "the calls of an observer that was removed")
            try expect(leavingCount.value, is: 1, "the calls of an observer that went away")
        }
    }

    static let manyObservers = ConformanceCase(
        "N4e", "one post calls each of 500 observers once (scenario 30)"
    ) { context in
        try await context.withGroup { group in
            let center = SharedNotificationCenter(try await group.open())
            let counts = Box([Int](repeating: 0, count: 500))
            var tokens: [NotificationToken] = []
            for number in 0..<500 {
                tokens.append(
                    try await center.addObserver(forName: "news") { delivery in
                        counts.update { $0[number] += Int(delivery.count) }
                    })
            }
            try await center.post("news")
            try await eventually("all are called") { counts.value.allSatisfy { $0 > 0 } }
            try expect(counts.value.allSatisfy { $0 == 1 }, "each is called once")
            for token in tokens { token.cancel() }
        }
    }

    static let cyclesLeaveNothing = ConformanceCase(
        "N6g", "observing and cancelling again and again leaves no descriptor and no task behind (scenario 30)",
        timeLimit: .seconds(600)
    ) { context in
        try await context.withGroup { group in
            let center = SharedNotificationCenter(try await group.open())
            let cycles = context.number(2_000, whereCommitsCost: 500, of: "cycles in each of 10 batches")
            func cycle(_ count: Int) async throws {
                for _ in 0..<count {
                    try await center.addObserver(forName: "news") { _ in }.cancel()
                    // The tasks of the centre end after this.
                    await Task.yield()
                }
            }
            try await cycle(cycles)
            let before = OwnResources.descriptorCount
            let growth = try await OwnResources.leastGrowth(batches: 10) { try await cycle(cycles) }
            // A registration that is not removed has a task, a slot and an entry in a table: 2 MB for a batch.
            try expect(growth < 1 << 20, "a batch leaves less than 1 MiB, not \(growth) bytes")
            // Other cases run in this process, and ten batches would leave ten times as many descriptors.
            let descriptors = OwnResources.descriptorCount - before
            try expect(descriptors < cycles, "\(10 * cycles) cycles leave no descriptors, not \(descriptors)")
        }
    }
}

/// An observer that counts its calls.
private final class CountingObserver: Sendable {
    let count = Box(0)
}
