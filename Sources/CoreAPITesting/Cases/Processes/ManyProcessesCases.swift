internal import CoreAPI
internal import Platform

/// S4, W1, N1, N3, N4, N9: several processes that work at the same time.
enum ManyProcessesCases {
    static let all = [
        readsSeeOtherProcesses, watchIsComplete, observersMayDie, postsAddUp, everyProcessIsWoken, stoppedObserver,
    ]

    static let readsSeeOtherProcesses = ConformanceCase(
        "S4f", "`get` and `list` reflect every commit that had returned in another process, without a watch",
        promises: [.multipleProcesses, .linearizableReads]
    ) { context in
        try await context.withGroup { group in
            let store = try await group.open()
            let peer = try await group.join()
            for round in 0..<100 {
                try await peer.tell("put key \(round)")
                try expect(try await store.text("key"), is: "\(round)", "the value of round \(round) here")
                try await store.put("other", text: "\(round)")
                let there = try await peer.tell("get other")
                try expect(there, is: "value \(round)", "the value of round \(round) in the other process")
                try await peer.tell("delete key")
                let listed = try await store.list().entries.map(\.key)
                try expect(listed, is: ["other"], "what is listed in round \(round)")
            }
        }
    }

    static let watchIsComplete = ConformanceCase(
        "W1j", "a watch sees every change of other processes under load, once and in order",
        promises: [.multipleProcesses], timeLimit: .seconds(600)
    ) { context in
        try await context.withGroup(GroupSettings(historyByteCount: 64 << 20)) { group in
            let store = try await group.open()
            let recorder = try await WatchRecorder(store)
            let peers = try await group.join(count: 3)
            let watcher = try await group.join()
            try await watcher.tell("watch")
            for (number, peer) in peers.enumerated() { try peer.send("puts w\(number)/ 1500") }
            try await eventually("the processes are at work") { recorder.mirror.changedRevisions.count >= 100 }
            let late = try await WatchRecorder(store, keepsChanges: false)
            for peer in peers { try await peer.done(timeout: TestTimeout.long) }
            let last = try await store.put("last", text: "x")

            try await recorder.reaches(last, timeout: TestTimeout.long)
            let mirror = recorder.mirror
            try expect(mirror.breaches, is: [], "breaches of the watch's order")
            try expect(mirror.laggedCount, is: 0, "how often the watch lagged")
            try expect(mirror.changedRevisions.count, is: 4501, "how many commits were delivered")
            for number in 0..<3 {
                let keys = mirror.changes.map(\.key.text).filter { $0.hasPrefix("w\(number)/") }
                try expect(keys == (0..<1500).map { "w\(number)/\($0)" }, "the puts of process \(number), in order")
            }
            let entries = try await store.list().entries
            try expect(mirror.entries.values.sorted { $0.key < $1.key } == entries, "the watch knows what stands there")
            try await late.reaches(last, timeout: TestTimeout.long)
            try expect(late.mirror.breaches, is: [], "breaches of the order of a watch that began in the middle")
            try expect(
                late.mirror.entries.values.sorted { $0.key < $1.key } == entries,
                "a watch that began in the middle knows what stands there")
            let watched = try await watcher.tell("watched \(last)", timeout: TestTimeout.long).split(separator: " ")
            try expect(watched.dropFirst(2).first, is: "0", "how often a watch in another process went back")
            try expect(watched.last, is: Substring(last.description), "what it has come to")
        }
    }

    static let observersMayDie = ConformanceCase(
        "N1c", "an observer that is killed harms no other process: posters go on, and others are woken",
        promises: [.multipleProcesses]
    ) { context in
        try await context.withGroup { group in
            let store = try await group.open()
            let recorder = ObservationRecorder(try await store.observe("news"))
            let observers = try await group.join(count: 3)
            for observer in observers {
                try await observer.tell("observe news")
                try await observer.tell("watch")
            }
            let poster = try await group.join()
            try poster.send("posts news 1000")
            for state in 1...500 as ClosedRange<UInt64> {
                if state == 100 { await observers[0].killNow() }
                if state == 200 { observers[1].signal(.kill) }
                _ = try await withTimeout(TestTimeout.usual, "post \(state) goes on") {
                    try await store.post("news", state: state)
                }
            }
            try await poster.done(timeout: TestTimeout.long)
            try await store.post("news", state: 77)
            try await recorder.reaches(1501)
            try expect(recorder.count, is: 1501, "how many posts were delivered here")
            try expect(recorder.deliveries.last?.state, is: 77, "the last state here")
            try await eventually("the observer that lives has seen them all") {
                try await observers[2].tell("seen") == "1501 77"
            }
        }
    }

    static let postsAddUp = ConformanceCase(
        "N3d", "the posts of several processes add up in every process, and the last state is seen",
        promises: [.multipleProcesses], timeLimit: .seconds(600)
    ) { context in
        try await context.withGroup { group in
            let store = try await group.open()
            let recorder = ObservationRecorder(try await store.observe("news"))
            let observers = try await group.join(count: 2)
            for observer in observers { try await observer.tell("observe news") }
            let posters = try await group.join(count: 3)
            for poster in posters { try poster.send("posts news 1000") }
            for poster in posters { try await poster.done(timeout: TestTimeout.long) }
            let last = try await store.post("news", state: 77)
            try await recorder.reaches(3001)
            let revisions = recorder.deliveries.map(\.revision)
            try expect(recorder.count, is: 3001, "how many posts were delivered here")
            try expect(revisions == revisions.sorted(), "the deliveries come in the order of their revisions")
            try expect(recorder.deliveries.last?.revision, is: last, "the revision of the last delivery")
            try expect(recorder.deliveries.last?.state, is: 77, "the last state here")
            for observer in observers {
                try await eventually("the process \(observer.pid) has seen them all") {
                    try await observer.tell("seen") == "3001 77"
                }
            }
            try expect(try await store.state(of: "news").count, is: 3001, "the count of the posts")
        }
    }

    static let everyProcessIsWoken = ConformanceCase(
        "N4c", "every observer of a name is woken in every process, and no observer of another name",
        promises: [.multipleProcesses]
    ) { context in
        try await context.withGroup { group in
            let store = try await group.open()
            let names: [NotificationName] = ["news", "new", "news/x"]
            var observers: [Peer] = []
            for name in names {
                for observer in try await group.join(count: 2) {
                    try await observer.tell("observe \(name)")
                    observers.append(observer)
                }
            }
            let recorder = ObservationRecorder(try await store.observe("news"))
            for round in 1...20 as ClosedRange<UInt64> {
                for (number, name) in names.enumerated() {
                    // A post of another process, which observes a name itself, and one of this process.
                    let poster = observers[(number + Int(round)) % observers.count]
                    try await poster.tell("post \(name) \(round * 10)")
                    try await store.post(name, state: round * 100 + UInt64(number))
                }
                for (number, observer) in observers.enumerated() {
                    let expected = "\(round * 2) \(round * 100 + UInt64(number / 2))"
                    try await eventually("observer \(number) sees post \(round) of its name alone: \(expected)") {
                        try await observer.tell("seen") == expected
                    }
                }
                try await recorder.reaches(round * 2)
            }
            try expect(recorder.count, is: 40, "how many posts were delivered here")
            let origins = Set(recorder.deliveries.map(\.origin))
            try expect(origins.contains(store.session.id), "a delivery of an own post names this session")
        }
    }

    static let stoppedObserver = ConformanceCase(
        "N9b", "an observer that was stopped while others posted sees the last state when it goes on",
        promises: [.multipleProcesses], timeLimit: .seconds(600)
    ) { context in
        try await context.withGroup { group in
            let store = try await group.open()
            let peer = try await group.join()
            try await peer.tell("observe news")
            peer.signal(.stop)
            try await peer.stopped()
            // More than a queue of the system can contain, unless commits are so slow that it would take too long.
            let count: UInt64 = context.number(30_000, whereCommitsCost: 3000, of: "posts")
            for state in 1...count { try await store.post("news", state: state) }
            peer.signal(.continue)
            try await eventually("it has seen them all") { try await peer.tell("seen") == "\(count) \(count)" }
            try await store.post("news", state: 1)
            try await eventually("it sees the next one") { try await peer.tell("seen") == "\(count + 1) 1" }
        }
    }
}
