internal import CoreAPI

/// S12: a retry of a numbered request gives the first result.
enum RequestCases {
    static let all = [
        retriesAreAppliedOnce, firstResultHolds, unchangedIsRemembered, numbersBelongToASession, oldNumbersAreRefused,
        concurrentRetriesAreAppliedOnce,
    ]

    private static func put(_ number: UInt64?, if conditions: [Transaction.Guard] = []) -> Transaction {
        Transaction(
            guards: conditions, operations: [.put("k", [1], .persistent), .post("done", state: nil)],
            requestNumber: number)
    }

    static let retriesAreAppliedOnce = ConformanceCase(
        "S12a", "a request is applied once, and every retry gets the first commit", promises: [.deduplicatedRequests]
    ) { context in
        try await context.withGroup { group in
            let store = try await group.open()
            let first = try await store.commit(put(1))
            for retry in 1...3 { try expect(try await store.commit(put(1)), is: first, "the result of retry \(retry)") }
            try expect(try await store.state(of: "done").count, is: 1, "the number of applications")
            try expect(try await store.commit(put(2)).revision > first.revision, "the next number is another request")
            try expect(try await store.commit(put(1)), is: first, "the result of a late retry")
            let free = [try await store.commit(put(nil)), try await store.commit(put(nil))]
            try expect(free.allSatisfy(\.changed) && free[0] != free[1], "requests without a number are all applied")
            try expect(try await store.state(of: "done").count, is: 4, "the number of applications at the end")
            try expect(try await store.get("k")?.revision, is: free[1].revision, "the revision of the entry")
        }
    }

    static let firstResultHolds = ConformanceCase(
        "S12b", "the first result holds even when the guard would now decide otherwise",
        promises: [.deduplicatedRequests]
    ) { context in
        try await context.withGroup { group in
            let store = try await group.open()
            let won = try await store.commit(put(1, if: [.absent("k")]))
            let again = try await store.commit(put(1, if: [.absent("k")]))
            try expect(again, is: won, "the retry of a request that was applied")

            let refused = try await attempt { try await store.commit(put(2, if: [.absent("k")])) }
            guard case .failure(let refusal) = refused else { return try expect(false, "a failing guard refuses") }
            try expect(refusal.code, is: .guardFailed, "the code of the refusal")
            try expect(refusal.guardFailure?.found?.revision, is: won.revision, "what the guard found")
            try await store.delete("k")
            let retried = try await attempt { try await store.commit(put(2, if: [.absent("k")])) }
            guard case .failure(let repeated) = retried else {
                return try expect(false, "the retry of a refused request is refused, though its guard would hold now")
            }
            try expect(repeated.code, is: .guardFailed, "the code of the retry's refusal")
            try expect(repeated.guardFailure, is: refusal.guardFailure, "the failure that the retry tells")
            try expect(try await store.get("k"), is: nil, "what a retry would have put")
            try expect(try await store.state(of: "done").count, is: 1, "the number of applications")
        }
    }

    static let unchangedIsRemembered = ConformanceCase(
        "S12c", "a request that changed nothing is remembered as well", promises: [.deduplicatedRequests]
    ) { context in
        try await context.withGroup { group in
            let store = try await group.open()
            let deletion = Transaction(operations: [.delete("k")], requestNumber: 1)
            let first = try await store.commit(deletion)
            try expect(!first.changed, "the deletion of an absent key changes nothing")
            let put = try await store.put("k", [1])
            try expect(try await store.commit(deletion), is: first, "the result of the retry")
            try expect(try await store.get("k")?.revision, is: put.revision, "what the retry would have deleted")
        }
    }

    static let numbersBelongToASession = ConformanceCase(
        "S12d", "request numbers belong to a session", promises: [.deduplicatedRequests]
    ) { context in
        try await context.withGroup { group in
            let handles = try await group.open(count: 3)
            let commits = try await together(3) { try await handles[$0].commit(put(7)) }
            try expect(Set(commits.map(\.revision)).count, is: 3, "the number of different revisions")
            for (number, handle) in handles.enumerated() {
                try expect(try await handle.commit(put(7)), is: commits[number], "the retry of handle \(number)")
            }
            try await handles[0].catchUp()
            try expect(try await handles[0].state(of: "done").count, is: 3, "the number of applications")
        }
    }

    static let oldNumbersAreRefused = ConformanceCase(
        "S12e", "the last 64 results are kept; an older number is refused, never applied",
        promises: [.deduplicatedRequests]
    ) { context in
        try await context.withGroup { group in
            let store = try await group.open()
            var commits: [UInt64: Commit] = [:]
            for number in 1...100 as ClosedRange<UInt64> { commits[number] = try await store.commit(put(number)) }
            for number in 37...100 as ClosedRange<UInt64> {
                try expect(try await store.commit(put(number)), is: commits[number], "the retry of number \(number)")
            }
            for number in [1, 36] as [UInt64] {
                try await expect(.invalidArgument, from: "the retry of number \(number)") {
                    try await store.commit(put(number))
                }
            }
            // This number is lower than the last one, and was never used.
            _ = try await store.commit(put(200))
            try await expect(.invalidArgument, from: "number 150 after number 200") { try await store.commit(put(150)) }
            try expect(try await store.state(of: "done").count, is: 101, "the number of applications")
        }
    }

    static let concurrentRetriesAreAppliedOnce = ConformanceCase(
        "S12f", "retries that run at once are applied once", promises: [.deduplicatedRequests]
    ) { context in
        try await context.withGroup { group in
            let store = try await group.open()
            for number in 1...20 as ClosedRange<UInt64> {
                let commits = try await together(8) { _ in try await store.commit(put(number)) }
                try expect(Set(commits).count, is: 1, "the number of different results of request \(number)")
            }
            try expect(try await store.state(of: "done").count, is: 20, "the number of applications")
        }
    }
}
