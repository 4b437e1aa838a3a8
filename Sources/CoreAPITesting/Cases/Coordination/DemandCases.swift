internal import Coordination
internal import CoreAPI

/// C9: how long an Executor's core runs, and for which Executors.
enum DemandCases {
    static let all = [oneRunFetchesBoth, runsForOthers, budgetEnds, knownAlready]

    static let oneRunFetchesBoth = ConformanceCase(
        "C9a", "scenario 6: the second of two Executors needs no start when the first one's run has fetched its message"
    ) { context in
        try await context.withTestCluster { testCluster in
            try testCluster.receive("call-1", "call-2")
            let first = try await testCluster.executor("first", apart: true)
            try await first.ask("call-1")
            try expect(try await first.answer(), is: TestCluster.answer("call-1", from: .core), "what the first gets")
            try await first.tell("finish")
            let second = try await testCluster.executor("second")
            try await second.ask("call-2")
            try expect(
                try await second.answer(), is: TestCluster.answer("call-2", from: .inbox), "what the second gets")
            try expect(try await testCluster.coreStarts(), is: 1, "the number of core starts")
        }
    }

    static let runsForOthers = ConformanceCase(
        "C9b", "the core runs while a call waits, in any process, and stops when the last one is served"
    ) { context in
        try await context.withTestCluster { testCluster in
            let first = try await testCluster.owningExecutor("first", waitingFor: "call-1")
            let second = try await testCluster.executor("second", apart: true)
            try await second.ask("call-2")
            try await testCluster.waits(2)
            try testCluster.receive("call-1")
            try expect(try await first.answer(), is: TestCluster.answer("call-1", from: .core), "what the first gets")
            // Wait until long after the time at which the core would have stopped if no other Executor waited.
            let third = try await testCluster.executor("third")
            try await third.ask("call-3", timeout: .milliseconds(400))
            try expect(try await third.answer(), is: "failed timeout", "what the third hears")
            try expect(try await testCluster.owner()?.name, is: "first", "the owner while the second waits")
            try testCluster.receive("call-2")
            try expect(
                try await second.answer(), is: TestCluster.answer("call-2", from: .inbox), "what the second gets")
            try await first.tell("finish")
            try expect(try await testCluster.owner(), is: nil, "the owner when all are served")
            try expect(try await testCluster.coreStarts(), is: 1, "the number of core starts")
        }
    }

    static let budgetEnds = ConformanceCase(
        "C9c", "at the end of its budget an Executor hands on to the next one that waits: one more start"
    ) { context in
        try await context.withTestCluster { testCluster in
            let first = try await testCluster.owningExecutor("first", "budget=3000", waitingFor: "call-1")
            let second = try await testCluster.executor("second")
            try await second.ask("call-2")
            try await testCluster.reaches(.running, by: "second")
            try testCluster.receive("call-1", "call-2")
            try expect(try await first.answer(), is: TestCluster.answer("call-1", from: .inbox), "what the first gets")
            try expect(try await second.answer(), is: TestCluster.answer("call-2", from: .core), "what the second gets")
            try expect(try await testCluster.coreStarts(), is: 2, "the number of core starts")
        }
    }

    static let knownAlready = ConformanceCase(
        "C9g", "scenario 16: an id that is in the inbox, or was acknowledged, is never waited for"
    ) { context in
        try await context.withTestCluster { testCluster in
            let main = try await testCluster.owningMain()
            try testCluster.receive("call-1", "call-2")
            try await testCluster.stored("call-2")
            try await main.tell("leave")
            // An expectation that is put and removed again counts too.
            let recorder = try await WatchRecorder(testCluster.observer, of: [".sharedcore/expectations", "looked"])
            let executor = try await testCluster.executor()
            try await executor.ask("call-1")
            try expect(try await executor.answer(), is: TestCluster.answer("call-1", from: .inbox), "what was there")
            try expect(try await executor.tell("acknowledge 1"), is: "true", "its acknowledgement")
            let other = try await testCluster.executor("other")
            try await other.ask("call-1")
            try expect(try await other.answer(), is: "nothing inbox", "what was acknowledged")
            try await recorder.reaches(try await testCluster.observer.put("looked", []).revision)
            try expect(recorder.mirror.changes.map(\.key), is: ["looked"], "what was put, as expectations would be")
            try expect(try await testCluster.coreStarts(), is: 1, "the number of core starts")
        }
    }
}
