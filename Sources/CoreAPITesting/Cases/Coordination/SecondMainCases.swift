internal import Coordination
internal import CoreAPI

/// C14: a second Main.
enum SecondMainCases {
    static let all = [secondMainIsRefused, secondMainTakesOver, frozenMainIsReplaced]

    static let secondMainIsRefused = ConformanceCase(
        "C14a", "a second Main is refused by name while the first answers, and the first is untouched"
    ) { context in
        try await context.withTestCluster { testCluster in
            let first = try await testCluster.owningMain("first", apart: true)
            let owner = try await testCluster.owner()
            let second = try await testCluster.main("second")
            for round in 1...2 {
                try expect(try await second.start(), is: "failed refused", "what the second hears in round \(round)")
            }
            try expect(try await testCluster.owner(), is: owner, "the owner")
            try await first.tell("leave")
            try expect(try await second.start().hasPrefix("owns"), "the second owns when the first has gone")
        }
    }

    static let secondMainTakesOver = ConformanceCase(
        "C14b", "told to take over, a second Main asks the first, which stops its core and ends, but is not killed"
    ) { context in
        try await context.withTestCluster { testCluster in
            let first = try await testCluster.owningMain("first", apart: true)
            let second = try await testCluster.main("second")
            try await second.tell("takeOver")
            try expect(try await second.tell("started").hasPrefix("owns"), "the second owns")
            try expect(try await first.tell("ended"), is: "superseded", "how the first has ended")
            try expect(try await first.tell("epoch"), is: "none", "the epoch of the first")
            try expect(try await first.start(), is: "failed refused", "what the first hears that starts again")
            let kinds = try await testCluster.entries().map(\.kind)
            try expect(!kinds.contains(.killed) && !kinds.contains(.tookOver), "it was only asked: \(kinds)")
        }
    }

    static let frozenMainIsReplaced = ConformanceCase(
        "C14c", "an old Main that does not release is fenced at the deadline by the one that takes over, never killed"
    ) { context in
        try await context.withTestCluster(superseded: 1) { testCluster in
            let first = try await testCluster.owningMain("first", apart: true)
            try await first.freeze()
            let second = try await testCluster.main("second", "handover=500")
            try await second.tell("takeOver")
            try expect(try await second.tell("started").hasPrefix("owns"), "the second owns")
            let entries = try await testCluster.entries()
            let asked = try expectSome(entries.last { $0.kind == .asked }, "the request")
            let tookOver = try expectSome(entries.last { $0.kind == .tookOver }, "the take-over")
            try expect(tookOver.previous?.end, is: .replaced, "how the first one's ownership ended")
            try expect(asked.at.duration(to: tookOver.at) >= .milliseconds(500), "the deadline had passed")
            try await eventually("the witness has seen the first one's core") {
                try await testCluster.entries().contains { $0.kind == .supersededOverlap }
            }
            try await first.thaw()
            try expect(try await first.tell("ended"), is: "superseded", "how the first has ended")
            try expect(
                try await testCluster.entries().contains { $0.kind == .killed }, is: false, "whether one was killed")
            try expect(try await testCluster.owner()?.name, is: "second", "the owner in the end")
        }
    }
}
