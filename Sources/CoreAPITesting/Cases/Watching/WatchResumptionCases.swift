internal import CoreAPI

/// W2: a watch that begins after a revision.
enum WatchResumptionCases {
    static let all = [resumesAnywhere, compactedIsTold, futureIsAwaited]

    static let resumesAnywhere = ConformanceCase(
        "W2a", "a watch resumes after any revision that is kept, with exactly the changes since",
        promises: [.resumableWatches]
    ) { context in
        try await context.withGroup { group in
            let store = try await group.open()
            var random = context.random()
            let recorder = try await WatchRecorder(store)
            for _ in 0..<120 { _ = try await store.commit(RandomTransaction.next(using: &random)) }
            let last = try await store.put("end", [1]).revision
            try await recorder.reaches(last)
            try expect(recorder.mirror.breaches, is: [], "breaches of the watch's order")
            let all = recorder.mirror.changedRevisions
            let reader = try await group.open()
            for point in [.zero] + all {
                let watch = try await reader.watch(.all, from: .after(point))
                var revisions: [Revision] = []
                while revisions.last ?? point < last {
                    let event = try await withTimeout(TestTimeout.usual, "what came after \(point)") {
                        try await watch.next()
                    }
                    guard case .changes(let set) = event else { break }
                    revisions.append(set.revision)
                }
                try expect(revisions, is: all.filter { $0 > point }, "the revisions after \(point)")
            }
        }
    }

    static let compactedIsTold = ConformanceCase(
        "W2b", "a watch after a revision that is no longer kept begins with `lagged`, and converges",
        promises: [.resumableWatches]
    ) { context in
        try await context.withGroup(GroupSettings(historyByteCount: 4096)) { group in
            let store = try await group.open()
            let early = try await store.put("first", [1]).revision
            for round in 0..<400 { try await store.put("k", [UInt8(round % 256)]) }
            try await store.delete("first")
            let recorder = WatchRecorder(
                try await store.watch(.all, from: .after(early)),
                previousValues: store.capabilities.features.contains(.previousValues))
            let last = try await store.put("end", [1]).revision
            try await recorder.reaches(last)
            try expect(recorder.mirror.laggedCount, is: 1, "how often the watch lagged")
            try expect(recorder.mirror.entries.keys.sorted(), is: ["end", "k"], "the keys that it converges to")
            try expect(
                recorder.mirror.entries.values.sorted { $0.key < $1.key }, is: try await store.list().entries,
                "what it converges to")
            try expect(recorder.mirror.breaches, is: [], "breaches of the watch's order")
        }
    }

    static let futureIsAwaited = ConformanceCase(
        "W2c", "a watch after a future revision delivers nothing older", promises: [.resumableWatches]
    ) { context in
        try await context.withGroup { group in
            let store = try await group.open()
            let now = try await store.put("k", [0]).revision
            let watch = try await store.watch(.all, from: .after(Revision(rawValue: now.rawValue + 10)))
            let waiting = Task { try await watch.next() }
            var last = now
            while last.rawValue <= now.rawValue + 10 { last = try await store.put("k", [1]).revision }
            let event = try await withTimeout(TestTimeout.usual, "the first event of the future") {
                try await waiting.value
            }
            try expect(event?.revision, is: last, "the revision of the first event")
        }
    }
}
