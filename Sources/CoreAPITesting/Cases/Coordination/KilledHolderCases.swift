internal import Coordination
internal import CoreAPI

/// C6: holders that are killed.
enum KilledHolderCases {
    static let all = [killedOwnerIsFollowed, deathIsNotNoticed]

    static let killedOwnerIsFollowed = ConformanceCase(
        "C6a",
        "scenarios 11, 12: a killed owner, Main or Executor, is never taken for alive: each push after it is served",
        promises: [.promptDeathNotice]
    ) { context in
        for isMain in [true, false] {
            try await context.withTroupe { troupe in
                let owner =
                    isMain
                    ? try await troupe.owningMain("first", apart: true)
                    : try await troupe.owningExecutor("first", waitingFor: "its-own", apart: true)
                try await owner.kill()
                for number in 1...3 {
                    // No Executor waited when it was killed: this one only opens now.
                    let executor = try await troupe.executor("executor-\(number)")
                    try troupe.receive("call-\(number)")
                    try await executor.ask("call-\(number)")
                    let expected = Troupe.answer("call-\(number)", from: .core)
                    try expect(try await executor.answer(), is: expected, "what push \(number) gets")
                    try await executor.tell("finish")
                }
                let ends = try await troupe.entries().filter { $0.kind == .acquired }.map(\.previous?.end)
                try expect(ends, is: [nil, .sessionEnded, .released, .released], "how the ownerships before ended")
            }
        }
    }

    static let deathIsNotNoticed = ConformanceCase(
        "C6e",
        "also where no death is noticed: a killed owner does not answer, so the next push and the next Main own"
    ) { context in
        // A process that cannot be seen counts as one that is stopped.
        if let limitation = context.harness.stopLimitation { throw limitation }
        try await context.withTroupe { troupe in
            let main = try await troupe.owningMain("first", apart: true)
            try await main.kill()
            let executor = try await troupe.executor("executor", "answer=500", apart: true)
            try troupe.receive("call-1")
            try await executor.ask("call-1")
            try expect(try await executor.answer(), is: Troupe.answer("call-1", from: .core), "what the push gets")
            try await executor.ask("call-2", as: 2)
            try await troupe.reaches(.running, by: "executor")
            try await executor.kill()
            _ = try await troupe.owningMain("second", "handover=300,answer=500")
            let other = try await troupe.executor("other")
            try troupe.receive("call-2")
            try await other.ask("call-2")
            try expect(try await other.answer(), is: Troupe.answer("call-2", from: .inbox), "what Main has got")
        }
    }
}
