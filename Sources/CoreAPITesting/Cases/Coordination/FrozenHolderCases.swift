internal import Coordination
internal import CoreAPI

/// C6: holders that are frozen.
enum FrozenHolderCases {
    static let all = [frozenMainIsFenced, frozenExecutorIsFenced, frozenRequestIsRemoved]

    static let frozenMainIsFenced = ConformanceCase(
        "C6b", "a frozen Main is fenced after a challenge, never killed; when it can run again it asks anew and owns"
    ) { context in
        try await context.withTestCluster(superseded: 1) { testCluster in
            let main = try await testCluster.owningMain(apart: true)
            let epoch = try await testCluster.owner()?.epoch
            try await main.freeze()
            let executor = try await testCluster.executor("executor", "answer=500")
            try await executor.ask("call-1")
            try testCluster.receive("call-1")
            try expect(
                try await executor.answer(), is: TestCluster.answer("call-1", from: .core), "what it fetches itself")
            let entries = try await testCluster.entries()
            let challenged = try expectSome(entries.first { $0.kind == .challenged }, "the challenge")
            let tookOver = try expectSome(entries.first { $0.kind == .tookOver }, "the take-over")
            try expect(
                tookOver.previous, is: PreviousOwnership(epoch: epoch ?? .zero, end: .unanswered), "what was before")
            let silence = challenged.bound ?? .zero
            try expect(challenged.at <= tookOver.at, "the challenge is told first")
            try expect(silence >= .milliseconds(500), "Main had 500 ms to answer: \(silence)")
            try await eventually("the witness has seen Main's core") {
                try await testCluster.entries().contains { $0.kind == .supersededOverlap }
            }

            try await main.thaw()
            try await testCluster.reaches(.running, by: "main")
            try expect(try await testCluster.owner()?.epoch != epoch, "it owns with an epoch of its own")
            try expect(
                try await testCluster.entries().contains { $0.kind == .killed }, is: false, "whether one was killed")
        }
    }

    static let frozenExecutorIsFenced = ConformanceCase(
        "C6c", "a frozen Executor is fenced by the next one that waits; its own call is served when it goes on"
    ) { context in
        try await context.withTestCluster(superseded: 1) { testCluster in
            let frozen = try await testCluster.owningExecutor("frozen", waitingFor: "call-1", apart: true)
            try await frozen.freeze()
            let next = try await testCluster.executor("next", "answer=500")
            try await next.ask("call-2")
            try testCluster.receive("call-1", "call-2")
            try expect(try await next.answer(), is: TestCluster.answer("call-2", from: .core), "what the next one gets")
            try await eventually("the witness has seen the frozen core") {
                try await testCluster.entries().contains { $0.kind == .supersededOverlap }
            }
            try await frozen.thaw()
            try expect(try await frozen.answer(), is: TestCluster.answer("call-1", from: .inbox), "its own call")
            // The call of the frozen Executor gets the message from the inbox, possibly before its participant has seen
            // that it is fenced.
            try await eventually("it has seen that it is fenced") {
                try await testCluster.entries().contains { $0.kind == .fenced }
            }
            try expect(
                try await testCluster.entries().contains { $0.kind == .killed }, is: false, "whether one was killed")
        }
    }

    static let frozenRequestIsRemoved = ConformanceCase(
        "C6d", "the request of a Main that is frozen while it asks is removed, and the Main asks anew later"
    ) { context in
        try await context.withTestCluster { testCluster in
            let owner = try await testCluster.owningExecutor("owner", "hold-stop=stop", waitingFor: "call-1")
            let main = try await testCluster.main(apart: true)
            try await main.tell("start")
            try await testCluster.reaches(.stopping, by: "owner")
            try await main.freeze()
            try testCluster.server.open("stop")
            try await eventually("nobody owns") { try await testCluster.owner() == nil }
            let executor = try await testCluster.executor("executor", "answer=500")
            try await executor.ask("call-2")
            try testCluster.receive("call-1", "call-2")
            // Either core may fetch them.
            try TestCluster.check(try await executor.answer(), isTextOf: "call-2", "the one call")
            try TestCluster.check(try await owner.answer(), isTextOf: "call-1", "the other call")
            try await main.thaw()
            try expect(try await main.tell("started").hasPrefix("owns"), "Main owns when it can run")
        }
    }
}
