internal import CoreAPI

/// S3, S7: revisions only rise, and deleted is deleted.
enum RevisionCases {
    static let all = [revisionsRise, concurrentRevisionsDiffer]
    static let deletions = [createdAgainIsAnother, replacedInOneTransactionIsAnother, deletingTheAbsentIsNothing]

    static let revisionsRise = ConformanceCase(
        "S3a", "one strictly rising number over all keys, handles, deletes, clears and posts"
    ) { context in
        try await context.withGroup { group in
            let handles = try await group.open(count: 3)
            var last = Revision.zero
            func follows(_ revision: Revision, _ what: String) throws {
                try expect(revision > last, "\(what) at revision \(revision) comes after revision \(last)")
                last = revision
            }
            for round in 0..<20 {
                let store = handles[round % 3]
                let key = try Key("a/\(round)")
                let put = try await store.put(key, [UInt8(round)])
                try follows(put.revision, "a put")
                try await store.catchUp()
                try expect(try await store.get(key)?.revision, is: put.revision, "the revision of the entry")
                try follows(try await store.put("b", [UInt8(round)]).revision, "a put of another key")
                try follows(try await store.post("news"), "a post")
                try follows(try await store.delete("b").revision, "a deletion")
                if round.isMultiple(of: 5) {
                    let cleared = try await store.commit(Transaction(operations: [.deletePrefix("a")]))
                    try follows(cleared.revision, "a clear")
                }
            }
            try await handles[0].catchUp()
            try expect(try await handles[0].list().revision >= last, "a list stands at the last revision")
        }
    }

    static let concurrentRevisionsDiffer = ConformanceCase(
        "S3b", "concurrent commits get different revisions, in the order in which each task made them"
    ) { context in
        try await context.withGroup { group in
            let handles = try await group.open(count: 8)
            let revisions = try await together(8) { number in
                var revisions: [Revision] = []
                for _ in 0..<200 { revisions.append(try await handles[number].put("k", [UInt8(number)]).revision) }
                return revisions
            }
            for own in revisions { try expect(own == own.sorted(), "the revisions of one task rise") }
            try expect(Set(revisions.flatMap { $0 }).count, is: 1600, "the number of different revisions")
            try await handles[0].catchUp()
            let last = try await handles[0].get("k")?.revision
            try expect(last, is: revisions.flatMap { $0 }.max(), "what stands is the commit of the highest revision")
        }
    }

    static let createdAgainIsAnother = ConformanceCase(
        "S7a", "a key that is created again is another entry"
    ) { context in
        try await context.withGroup { group in
            let store = try await group.open()
            let first = try await store.put("k", [1]).revision
            let deletion = try await store.delete("k")
            try expect(deletion.changed, "a deletion of what is there has changed something")
            let second = try await store.put("k", [1])
            let entry = try await store.get("k")
            try expect(second.revision > deletion.revision && deletion.revision > first, "the revisions rise")
            try expect(entry?.creationRevision, is: second.revision, "the creation of the second entry")
            for condition in [Transaction.Guard.revision("k", first), .epoch("k", first)] {
                try await expect(.guardFailed, from: "a put if \(condition)") {
                    try await store.put("k", [2], if: condition)
                }
            }
            try expect(try await store.get("k"), is: entry, "the entry after the refusals")
            try await store.put("k", [2], if: .epoch("k", second.revision))
            try await store.put("k", [3], if: .epoch("k", second.revision))
            try expect(try await store.get("k")?.creationRevision, is: second.revision, "the creation after two writes")
            try expect(try await store.get("k")?.value, is: [3], "the last value")
        }
    }

    static let replacedInOneTransactionIsAnother = ConformanceCase(
        "S7b", "deleting and creating in one transaction makes another entry"
    ) { context in
        try await context.withGroup { group in
            let store = try await group.open()
            let first = try await store.put("k", [1]).revision
            let second = try await store.commit(Transaction(operations: [.delete("k"), .put("k", [2], .persistent)]))
            try expect(second.revision > first, "the second revision is higher")
            try expect(try await store.get("k")?.creationRevision, is: second.revision, "the creation of the entry")
            try await expect(.guardFailed, from: "a put if the epoch of the first entry stands") {
                try await store.put("k", [3], if: .epoch("k", first))
            }
        }
    }

    static let deletingTheAbsentIsNothing = ConformanceCase(
        "S7c", "deleting an absent key succeeds, changes nothing and wakes no watch"
    ) { context in
        try await context.withGroup { group in
            let store = try await group.open()
            let put = try await store.put("other", [1])
            let recorder = try await WatchRecorder(store)
            let unchanged = Commit(revision: put.revision, changed: false)
            try expect(try await store.delete("k"), is: unchanged, "the deletion of an absent key")
            let cleared = try await store.commit(Transaction(operations: [.deletePrefix("k"), .delete("k")]))
            try expect(cleared, is: unchanged, "the clear of a path without keys")
            try expect(try await store.list().revision, is: put.revision, "the revision of the store")
            let next = try await store.put("other", [2])
            try await recorder.reaches(next.revision)
            try expect(recorder.mirror.changedRevisions, is: [next.revision], "the revisions that a watch saw")
            try expect(recorder.mirror.laggedCount, is: 0, "the number of lagged events")
        }
    }
}
