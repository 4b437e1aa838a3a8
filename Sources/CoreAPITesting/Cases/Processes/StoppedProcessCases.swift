internal import CoreAPI
internal import Platform

/// S15, L1: processes that are stopped and continued.
enum StoppedProcessCases {
    static let all = [othersGoOn, othersWaitBriefly, stoppedAtRandom, stoppedIsNotDead]

    static let othersGoOn = ConformanceCase(
        "S15b",
        "stopped inside a commit, a process holds up no other, no part of it is read, and it completes later",
        promises: [.multipleProcesses, .stoppedWritersTolerated]
    ) { context in
        let places = context.harness.failPoints
        try await context.atEach(places.beforePublication + places.afterPublication) { place, group in
            let standing = places.afterPublication.contains(place) ? "new" : "old"
            let store = try await group.open()
            try await store.put("key", text: "old")
            let recorder = try await WatchRecorder(store)
            let peer = try await group.join()
            try await peer.tell("arm \(place):stop")
            try peer.send("announce key new news 7")
            try await peer.stopped()

            try await withTimeout(TestTimeout.usual, "the others go on") {
                try await store.catchUp()
                try expect(try await store.text("key"), is: standing, "the value at first")
                for round in 0..<20 { try await store.put("other", text: "\(round)") }
                try expect(try await store.text("key"), is: standing, "the value after commits of others")
                let count = try await store.state(of: "news").count
                try expect(count, is: standing == "new" ? 1 : 0, "the count of the posts")
                try await group.expectNewcomer(finds: standing, under: "key")
            }

            peer.signal(.continue)
            try await peer.done()
            try await store.catchUp()
            try expect(try await store.text("key"), is: "new", "the value after it went on")
            try expect(try await store.text("other"), is: "19", "what others wrote meanwhile")
            try expect(try await peer.tell("get other"), is: "value 19", "what it reads of the others")
            try await peer.tell("announce key again news 8")
            try await recorder.reaches(try await store.put("end", text: ""))
            let values = recorder.mirror.changes.filter { $0.key == "key" }.map { $0.new?.value }
            try expect(values, is: ["new", "again"].map { Array($0.utf8) }, "its writes, each once")
            try expect(try await store.state(of: "news").count, is: 2, "its posts, each once")
            try expect(recorder.mirror.laggedCount, is: 0, "how often the watch lagged")
            try expect(recorder.mirror.breaches, is: [], "breaches of the watch's order")
        }
    }

    static let othersWaitBriefly = ConformanceCase(
        "S15c", "a process that is stopped inside a commit delays the next commit by 250 ms at most",
        promises: [.multipleProcesses, .stoppedWritersTolerated], timeLimit: .seconds(600)
    ) { context in
        let places = context.harness.failPoints
        let clock = ContinuousClock()
        try await context.atEach(places.beforePublication + places.afterPublication) { place, group in
            let store = try await group.open()
            // Some fail points are passed only if there is a listener to wake.
            let watch = try await store.watch("key", from: .now)
            defer { watch.cancel() }
            var ordinary: [Duration] = []
            for round in 0..<9 {
                ordinary.append(try await clock.measure { _ = try await store.put("key", text: "\(round)") })
            }
            let median = ordinary.sorted()[4]
            // Other work of the machine can only make it seem slower, so the quickest of several counts.
            var delays: [Duration] = []
            while delays.count < 20, !delays.contains(where: { $0 <= .milliseconds(250) }) {
                let peer = try await group.join()
                try await peer.tell("arm \(place):stop")
                try peer.send("put key stopped")
                try await peer.stopped()
                let time = try await withTimeout(TestTimeout.usual, "a commit past it") {
                    try await clock.measure { _ = try await store.put("key", text: "next") }
                }
                delays.append(time - median)
                await peer.killNow()
            }
            let quickest = delays.min() ?? .zero
            try expect(
                quickest <= .milliseconds(250), "the quickest of \(delays.count) commits past it was \(quickest) late")
        }
    }

    static let stoppedAtRandom = ConformanceCase(
        "S15d", "a busy writer stopped at random moments holds up no other process and loses nothing",
        promises: [.multipleProcesses, .stoppedWritersTolerated], timeLimit: .seconds(600)
    ) { context in
        try await context.withGroup(GroupSettings(historyByteCount: 64 << 20)) { group in
            let store = try await group.open()
            let recorder = try await WatchRecorder(store)
            let peer = try await group.join()
            var random = context.random()
            let count = 2000
            let byteCount = 300
            try peer.send((0..<count).map { "pair busy \($0) \(byteCount)" })
            var before = -1
            for round in 0..<20 {
                try await peer.done()
                // A random moment.
                try await Task.sleep(for: .microseconds(Int.random(in: 0..<3000, using: &random)))
                peer.signal(.stop)
                try await peer.stopped()
                let number = try await withTimeout(TestTimeout.usual, "the others go on in round \(round)") {
                    try await store.put("key", text: "\(round)")
                    try await group.expectNewcomer(finds: "\(round)", under: "key")
                    return try await NumberedPair.read(under: "busy", byteCount: byteCount, in: store) ?? -1
                }
                try expect(number >= before, "what the stopped one has written never goes back")
                before = number
                peer.signal(.continue)
            }
            for _ in 20..<count { try await peer.done() }
            try await store.catchUp()
            let last = try await NumberedPair.read(under: "busy", byteCount: byteCount, in: store)
            try expect(last, is: count - 1, "the last number in the end")
            try expect(try await store.state(of: "busy").count, is: UInt64(count), "its posts, each once")
            try await recorder.reaches(try await store.put("end", text: ""), timeout: TestTimeout.long)
            try expect(recorder.mirror.breaches, is: [], "breaches of the watch's order")
            try expect(recorder.mirror.laggedCount, is: 0, "how often the watch lagged")
            let values = recorder.mirror.changes.filter { $0.key == "busy/a" }.map { $0.new?.value }
            let expected = (0..<count).map { NumberedPair.value($0, byteCount: byteCount) }
            try expect(values == expected, "the watch saw each of its commits once, in order")
        }
    }

    static let stoppedIsNotDead = ConformanceCase(
        "L1e", "a stopped process is not dead: its session goes on, and what lives with it stays",
        promises: [.multipleProcesses, .promptDeathNotice]
    ) { context in
        try await context.withGroup { group in
            let store = try await group.open()
            let peer = try await group.join()
            try await peer.tell("hold owner peer")
            peer.signal(.stop)
            try await peer.stopped()
            for round in 0..<20 { try await store.put("other", text: "\(round)") }
            try expect(try await store.sessions().count, is: 2, "the number of participants")
            try expect(try await store.text("owner"), is: "peer", "what lives with the stopped one")
            let newcomer = try await group.open()
            try expect(try await newcomer.sessions().count, is: 3, "the number of participants for a newcomer")
            try expect(try await newcomer.text("owner"), is: "peer", "what lives with the stopped one, for a newcomer")
            peer.signal(.continue)
            try expect(try await peer.tell("get owner"), is: "value peer", "what it finds when it goes on")
        }
    }
}
