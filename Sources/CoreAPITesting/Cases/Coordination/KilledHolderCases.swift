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
            try await context.withTestCluster { testCluster in
                let owner =
                    isMain
                    ? try await testCluster.owningMain("first", apart: true)
                    : try await testCluster.owningExecutor("first", waitingFor: "its-own", apart: true)
                try await owner.kill()
                for number in 1...3 {
                    // No Executor waited when the holder was killed: this one opens the group only now.
                    let executor = try await testCluster.executor("executor-\(number)")
                    try testCluster.receive("call-\(number)")
                    try await executor.ask("call-\(number)")
                    let expected = TestCluster.answer("call-\(number)", from: .core)
                    try expect(try await executor.answer(), is: expected, "what push \(number) gets")
                    try await executor.tell("finish")
                }
                let ends = try await testCluster.entries().filter { $0.kind == .acquired }.map(\.previous?.end)
                try expect(ends, is: [nil, .sessionEnded, .released, .released], "how the ownerships before ended")
            }
        }
    }

    static let deathIsNotNoticed = ConformanceCase(
        "C6e",
        "also where no death is noticed: a killed owner does not answer, so the next push and the next Main own"
    ) { context in
        // A process counts as stopped if its state cannot be seen, so the case cannot run here.
        if let limitation = context.harness.stopLimitation { throw limitation }
        try await context.withTestCluster { testCluster in
            let main = try await testCluster.owningMain("first", apart: true)
            try await main.kill()
            let executor = try await testCluster.executor("executor", "answer=500", apart: true)
            try testCluster.receive("call-1")
            try await executor.ask("call-1")
            try expect(try await executor.answer(), is: TestCluster.answer("call-1", from: .core), "what the push gets")
            try await executor.ask("call-2", as: 2)
            try await testCluster.reaches(.running, by: "executor")
            try await executor.kill()
            _ = try await testCluster.owningMain("second", "handover=300,answer=500")
            let other = try await testCluster.executor("other")
            try testCluster.receive("call-2")
            try await other.ask("call-2")
            try expect(try await other.answer(), is: TestCluster.answer("call-2", from: .inbox), "what Main has got")
        }
    }
}
