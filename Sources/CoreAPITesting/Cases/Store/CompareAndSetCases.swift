internal import CoreAPI

/// S6: one wins.
enum CompareAndSetCases {
    static let all = [oneCreatorWins, incrementsAreExact, incrementsOfProcessesAreExact, nothingOfProcessesIsLost]

    static let oneCreatorWins = ConformanceCase(
        "S6a", "of 32 creators exactly one succeeds, and the others learn which one it was"
    ) { context in
        try await context.withGroup { group in
            let handles = try await group.open(count: 32)
            for round in 0..<10 {
                let key = try Key("leader/\(round)")
                let failures = try await together(32) { number -> GuardFailure? in
                    let outcome = try await attempt {
                        try await handles[number].put(key, [UInt8(number)], lifetime: .session, if: .absent(key))
                    }
                    guard case .failure(let error) = outcome else { return nil }
                    try expect(error.code, is: .guardFailed, "why creator \(number) was refused")
                    return try expectSome(error.guardFailure, "the failure of creator \(number)")
                }
                let winners = failures.indices.filter { failures[$0] == nil }
                try expect(winners.count, is: 1, "the number of winners of round \(round)")
                try await handles[0].catchUp()
                let leader = try await handles[0].get(key)
                try expect(leader?.value, is: winners.map { UInt8($0) }, "the value is the winner's")
                for failure in failures.compactMap({ $0 }) {
                    try expect(failure.found, is: leader, "what a loser found")
                    try expect(failure.condition, is: .absent(key), "the guard that failed")
                }
            }
        }
    }

    static let incrementsAreExact = ConformanceCase(
        "S6b", "16 participants that increment 60 times each make 960"
    ) { context in
        try await context.withGroup { group in
            let handles = try await group.open(count: 16)
            try await handles[0].put("counter", Number.bytes(0))
            for handle in handles { try await handle.catchUp() }
            _ = try await together(16) { index in
                let store = handles[index]
                var done = 0
                while done < 60 {
                    let entry = try expectSome(try await store.get("counter"), "the counter")
                    let next = Number.bytes(Number.value(entry.value) + 1)
                    let outcome = try await attempt {
                        try await store.put("counter", next, if: .revision("counter", entry.revision))
                    }
                    switch outcome {
                    case .success: done += 1
                    case .failure(let error):
                        try expect(error.code, is: .guardFailed, "why an increment was refused")
                        try await store.catchUp()
                    }
                }
            }
            try await handles[0].catchUp()
            let counter = try expectSome(try await handles[0].get("counter"), "the counter")
            try expect(Number.value(counter.value), is: 960, "the counter after 960 increments")
        }
    }

    static let incrementsOfProcessesAreExact = ConformanceCase(
        "S6c", "8 processes that increment 250 times each make 2,000", promises: [.multipleProcesses]
    ) { context in
        try await context.withGroup { group in
            let store = try await group.open()
            let peers = try await group.join(count: 8)
            for peer in peers { try peer.send("increment counter 250") }
            for peer in peers { try await peer.done(timeout: TestTimeout.long) }
            try await store.catchUp()
            let counter = try expectSome(try await store.get("counter"), "the counter")
            try expect(String(decoding: counter.value, as: UTF8.self), is: "2000", "the counter for this process")
            let newcomer = try await group.join()
            try expect(try await newcomer.tell("get counter"), is: "value 2000", "the counter for a new process")
        }
    }

    static let nothingOfProcessesIsLost = ConformanceCase(
        "S6d", "20 processes put 1,000 keys each, and none is lost (S3, S9)", promises: [.multipleProcesses],
        timeLimit: .seconds(600)
    ) { context in
        try await context.withGroup { group in
            let store = try await group.open()
            let recorder = try await WatchRecorder(store, keepsChanges: false)
            let peers = try await group.join(count: 20)
            for (index, peer) in peers.enumerated() { try peer.send("puts p\(index)/ 1000") }
            for peer in peers { try await peer.done(timeout: TestTimeout.long) }
            try await store.catchUp()
            let entries = try await store.list().entries
            try expect(entries.count, is: 20_000, "the number of keys")
            try expect(Set(entries.map(\.revision)).count, is: 20_000, "the number of different revisions")
            try expect(Set(entries.map(\.origin)).count, is: 20, "the number of sessions that wrote")
            for entry in entries {
                let number = entry.key.text.split(separator: "/").last.map(String.init)
                try expect(String(decoding: entry.value, as: UTF8.self), is: number ?? "", "the value of \(entry.key)")
            }
            try await recorder.reaches(entries.map(\.revision).max() ?? .zero)
            let standing = Dictionary(uniqueKeysWithValues: entries.map { ($0.key, $0) })
            try expect(recorder.mirror.entries == standing, "a watch knows the entries that a list gives")
            try expect(recorder.mirror.breaches, is: [], "breaches of the watch's order")
        }
    }
}
