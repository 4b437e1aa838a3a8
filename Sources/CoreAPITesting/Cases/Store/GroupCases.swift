internal import CoreAPI

/// S10, S14, E1: groups do not affect each other, and opening a group fails if a requirement is not met.
enum GroupCases {
    static let durability = [requiredDurability]
    static let apart = [groupsAreApart, groupsOfProcessesAreApart]
    static let promises = [requiredPromises]

    static let requiredDurability = ConformanceCase(
        "S10g", "a required durability is given at open, or the opening is `unsupported`"
    ) { context in
        try await context.withGroup { group in
            let given = try await group.open().capabilities.durability
            for durability in Durability.allCases {
                let refusal = try await code { try await group.open(requiring: Requirements(durability: durability)) }
                try expect(
                    refusal, is: given < durability ? .unsupported : nil,
                    "opening with the requirement of \(durability), where \(given) is given")
            }
        }
    }

    static let groupsAreApart = ConformanceCase(
        "S14a", "equal keys and names in two groups of one process are separate"
    ) { context in
        try await context.withGroup { first in
            try await context.withGroup { second in
                let stores = [try await first.open(), try await second.open()]
                let recorders = [try await WatchRecorder(stores[0]), try await WatchRecorder(stores[1])]
                let observers = [
                    ObservationRecorder(try await stores[0].observe("news")),
                    ObservationRecorder(try await stores[1].observe("news")),
                ]
                for round in 0..<50 {
                    _ = try await together(2) { number in
                        try await stores[number].put("k", [UInt8(number), UInt8(round)])
                        try await stores[number].post("news", state: UInt64(number))
                    }
                }
                for number in 0..<2 {
                    let store = stores[number]
                    let entry = try await store.get("k")
                    try expect(entry?.value, is: [UInt8(number), 49], "the value in group \(number)")
                    let news = try await store.state(of: "news")
                    try expect(news.state, is: UInt64(number), "the state in group \(number)")
                    try expect(news.count, is: 50, "the number of posts in group \(number)")
                    let sessions = try await store.sessions().map(\.id)
                    try expect(sessions, is: [store.session.id], "the sessions of group \(number)")
                    try await store.sync()
                    try await observers[number].reaches(50)
                    try expect(observers[number].count, is: 50, "the posts delivered in group \(number)")
                    try expect(
                        observers[number].deliveries.allSatisfy { $0.state == UInt64(number) },
                        "what is delivered in group \(number) is its own")
                    try await recorders[number].reaches(entry?.revision ?? .zero)
                    let mirror = recorders[number].mirror
                    try expect(
                        mirror.changes.allSatisfy { $0.new?.value.first == UInt8(number) },
                        "what a watch sees in group \(number) is its own")
                    try expect(mirror.changes.count, is: 50, "the number of changes in group \(number)")
                    try expect(mirror.breaches, is: [], "breaches of the watch's order in group \(number)")
                }
                try await stores[0].put("z", [1], if: .exists("k"))
                await stores[0].close()
                try expect(try await stores[1].get("z"), is: nil, "a key of the first group in the second")
                try expect(try await stores[1].get("k")?.value, is: [1, 49], "the second group without the first")
            }
        }
    }

    static let groupsOfProcessesAreApart = ConformanceCase(
        "S14b", "equal keys and names in two groups of two processes are separate", promises: [.multipleProcesses]
    ) { context in
        try await context.withGroup { own in
            try await context.withGroup { other in
                let store = try await own.open()
                let recorder = try await WatchRecorder(store)
                let observer = ObservationRecorder(try await store.observe("news"))
                let peer = try await other.join()
                try await peer.tell("put k other")
                try await peer.tell("posts news 3")
                try await store.catchUp()
                try expect(try await store.get("k"), is: nil, "a key of the other process's group")
                try expect(try await store.sessions().map(\.id), is: [store.session.id], "the sessions of this group")
                try expect(try await store.state(of: "news"), is: .never, "the state of the other group's name")
                try await recorder.reaches(try await store.put("own", [1]).revision)
                try expect(recorder.mirror.changes.map(\.key), is: ["own"], "the keys that a watch saw")
                try await store.sync()
                try expect(observer.deliveries, is: [], "what was delivered")
                try expect(try await peer.tell("get k"), is: "value other", "the key in the other process's group")
                try expect(try await peer.tell("get own"), is: "nothing", "this group's key in the other group")
            }
        }
    }

    static let requiredPromises = ConformanceCase(
        "E1a", "a required promise is given at open, or the opening is `unsupported` and leaves no session"
    ) { context in
        let promises: [Capability] = [
            .multipleProcesses, .promptDeathNotice, .stoppedWritersTolerated, .linearizableReads, .resumableWatches,
            .previousValues, .deduplicatedRequests, .endingsOnFullDisk, .batonBytes,
            Capability(rawValue: "a promise that nobody gives"),
        ]
        try await context.withGroup { group in
            let store = try await group.open()
            let declared = store.capabilities.features
            var count = 1
            func tries(_ required: Set<Capability>) async throws {
                let refusal = try await code { try await group.open(requiring: Requirements(features: required)) }
                let isGiven = required.isSubset(of: declared)
                try expect(refusal, is: isGiven ? nil : .unsupported, "opening with the requirement of \(required)")
                if isGiven { count += 1 }
                try await store.catchUp()
                try expect(try await store.sessions().count, is: count, "the number of sessions after it")
            }
            for promise in promises { try await tries([promise]) }
            try await tries(declared)
            try await tries(declared.union(promises))
        }
    }
}
