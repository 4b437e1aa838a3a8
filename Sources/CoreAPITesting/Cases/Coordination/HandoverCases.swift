internal import Coordination
internal import CoreAPI

/// C3: how a Main gets ownership from an Executor.
enum HandoverCases {
    static let all = [
        executorHandsOver, frozenExecutorIsKilled, frozenExecutorIsFenced, sectionIsFinished, sectionIsBounded,
        sectionIsRefused, pushesGoOn, callIsLeft, hangingStop, slowStopIsAwaited,
    ]

    static let executorHandsOver = ConformanceCase(
        "C3a", "scenario 2: an Executor hands over to Main, never do both run, and it goes on as a plain Executor"
    ) { context in
        try await context.withTestCluster { testCluster in
            let executor = try await testCluster.owningExecutor("executor", waitingFor: "call-1", apart: true)
            let main = try await testCluster.owningMain()
            try await eventually("the Executor knows that it owns nothing") {
                try await executor.tell("epoch") == "none"
            }
            let kinds = try await testCluster.entries().map(\.kind)
            try expect(!kinds.contains(.killed) && !kinds.contains(.tookOver), "nobody was killed or fenced: \(kinds)")
            // The Executor's process continues: the core of Main serves the call that waits there, and a later one.
            try testCluster.receive("call-1", "call-2")
            try expect(
                try await executor.answer(), is: TestCluster.answer("call-1", from: .inbox), "what it waited for")
            try await executor.ask("call-2", as: 2)
            try expect(
                try await executor.answer(2), is: TestCluster.answer("call-2", from: .inbox), "what it asks for next")
            try await main.tell("leave")
            try await executor.ask("call-3", as: 3)
            try testCluster.receive("call-3")
            try expect(
                try await executor.answer(3), is: TestCluster.answer("call-3", from: .core), "what it fetches itself")
        }
    }

    static let frozenExecutorIsKilled = ConformanceCase(
        "C3b", "scenario 23: an Executor that is frozen at Main's deadline is killed, not before, and Main owns",
        promises: [.multipleProcesses, .promptDeathNotice]
    ) { context in
        try await context.withTestCluster { testCluster in
            guard testCluster.observer is any SessionProver else {
                throw HarnessLimitation("the backend does not prove which process has a session, so none is killed")
            }
            let executor = try await testCluster.owningExecutor(apart: true)
            try await executor.freeze()
            _ = try await testCluster.owningMain("main", "handover=500")
            try await executor.ended()
            let entries = try await testCluster.entries()
            let asked = try expectSome(entries.first { $0.kind == .asked }, "the request")
            let killed = try expectSome(entries.first { $0.kind == .killed }, "the kill")
            try expect(asked.at.duration(to: killed.at) >= .milliseconds(500), "the deadline had passed")
            let acquired = try expectSome(entries.last { $0.kind == .acquired }, "Main's acquisition")
            try expect(acquired.previous?.end, is: .sessionEnded, "how the Executor's ownership ended")
        }
    }

    static let frozenExecutorIsFenced = ConformanceCase(
        "C3c",
        "scenario 23: with `fence` a frozen Executor lives; its first write is refused, its core stops, its call is served (C4)"
    ) { context in
        try await context.withTestCluster(superseded: 1) { testCluster in
            let executor = try await testCluster.owningExecutor("executor", waitingFor: "call-1", apart: true)
            let epoch = try await testCluster.owner()?.epoch
            try await executor.freeze()
            _ = try await testCluster.owningMain("main", "handover=500,fence")
            let tookOver = try expectSome(
                try await testCluster.entries().last { $0.kind == .tookOver }, "the take-over on the timeline")
            try expect(tookOver.previous?.end, is: .deadlinePassed, "how the Executor's ownership ended")
            try expect(tookOver.reason.contains("may still run"), "the timeline says that its core may still run")
            try await eventually("the witness's sight is on the timeline") {
                try await testCluster.entries().contains { $0.kind == .supersededOverlap && $0.other == epoch }
            }

            try await executor.thaw()
            try expect(try await executor.tell("write application/late text"), is: "guardFailed", "its first write")
            try expect(try await testCluster.observer.get("application/late"), is: nil, "what it wrote")
            try await eventually("its core stops") {
                try await testCluster.entries().contains { $0.kind == .coreStopped && $0.epoch == epoch }
            }
            try testCluster.receive("call-1")
            try expect(try await executor.answer(), is: TestCluster.answer("call-1", from: .inbox), "its call")
            let kinds = try await testCluster.entries().map(\.kind)
            try expect(kinds.contains(.fenced) && !kinds.contains(.killed), "it was fenced and not killed: \(kinds)")
        }
    }

    static let sectionIsFinished = ConformanceCase(
        "C3d", "a critical section that was entered before the request is finished first"
    ) { context in
        try await context.withTestCluster { testCluster in
            let executor = try await testCluster.executor("executor", "section=60000")
            try await executor.ask("call-1")
            try await testCluster.entersSection()
            // With this hand-over timeout alone, the deadline would pass at once.
            let main = try await testCluster.main("main", "handover=1")
            try await main.tell("start")
            try await eventually("Main has asked") { try await testCluster.entries().contains { $0.kind == .asked } }
            try expect(try await testCluster.owner()?.state, is: .starting, "the state of the owner that was asked")
            try testCluster.server.open("section")
            try expect(try await main.tell("started").hasPrefix("owns"), "Main owns")
            let kinds = try await testCluster.entries().map(\.kind)
            try expect(!kinds.contains(.killed) && !kinds.contains(.tookOver), "it was let finish: \(kinds)")
        }
    }

    static let sectionIsBounded = ConformanceCase(
        "C3e", "a critical section holds up Main by its bound, and never beyond the hard maximum"
    ) { context in
        try await context.withTestCluster(superseded: 0) { testCluster in
            let executor = try await testCluster.executor("executor", "section=60000")
            try await executor.ask("call-1")
            try await testCluster.entersSection()
            _ = try await testCluster.owningMain("main", "handover=200,maximum=700,fence")
            let entries = try await testCluster.entries()
            let asked = try expectSome(entries.first { $0.kind == .asked }, "the request")
            let tookOver = try expectSome(entries.first { $0.kind == .tookOver }, "the take-over")
            let wait = asked.at.duration(to: tookOver.at)
            try expect(wait >= .milliseconds(700), "Main waited for the section: \(wait)")
            try expect(wait < .seconds(60), "Main waited no longer than the hard maximum: \(wait)")
            try testCluster.server.open("section")
        }
    }

    static let sectionIsRefused = ConformanceCase(
        "C3f", "no critical section is entered once a request is pending, nor a second one in the first"
    ) { context in
        try await context.withTestCluster { testCluster in
            let executor = try await testCluster.owningExecutor("executor", "hold-stop=stop")
            try expect(try await executor.tell("enter 1000"), is: "written", "the first section")
            try expect(try await executor.tell("enter 1000"), is: "guardFailed", "a section within the first")
            let main = try await testCluster.main()
            try await main.tell("start")
            try await testCluster.reaches(.stopping, by: "executor")
            try expect(try await executor.tell("enter 1000"), is: "guardFailed", "a section after the request")
            try testCluster.server.open("stop")
            try expect(try await main.tell("started").hasPrefix("owns"), "Main owns")
        }
    }

    static let pushesGoOn = ConformanceCase(
        "C3g", "scenario 18: three pushes that wait when Main starts are all served by it"
    ) { context in
        try await context.withTestCluster { testCluster in
            var executors: [TestParticipant] = []
            for number in 1...3 {
                let executor = try await testCluster.executor("executor-\(number)", apart: number == 1)
                try await executor.ask("call-\(number)")
                executors.append(executor)
            }
            try await testCluster.waits(3)
            _ = try await testCluster.owningMain()
            try testCluster.receive("call-3", "call-1", "call-2")
            for (number, executor) in executors.enumerated() {
                let expected = TestCluster.answer("call-\(number + 1)", from: .inbox)
                try expect(try await executor.answer(), is: expected, "what push \(number + 1) gets")
            }
        }
    }

    static let callIsLeft = ConformanceCase(
        "C3h", "scenario 10: a call that an Executor cannot serve stays with the server, and Main gets that same call"
    ) { context in
        try await context.withTestCluster { testCluster in
            try testCluster.receive("call-1")
            let executor = try await testCluster.owningExecutor("executor", "hold-fetch=never", waitingFor: "call-1")
            try expect(try testCluster.server.waiting().count, is: 1, "what the server has while the Executor runs")
            _ = try await testCluster.owningMain()
            try expect(
                try await executor.answer(), is: TestCluster.answer("call-1", from: .inbox), "what Main has fetched")
            try await eventually("Main acknowledges it to the server") { try testCluster.server.waiting().isEmpty }
            try expect(try testCluster.server.acknowledgedCount(), is: 1, "the calls that were acknowledged")
        }
    }

    static let hangingStop = ConformanceCase(
        "C3i", "scenario 8: a core whose stop hangs is given up after its bound; ownership is free, nothing deadlocks"
    ) { context in
        try await context.withTestCluster(superseded: 1) { testCluster in
            let executor = try await testCluster.owningExecutor("executor", "hold-stop=never,bound=300")
            try testCluster.receive("its-own")
            try expect(try await executor.answer(), is: TestCluster.answer("its-own", from: .core), "what it fetched")
            try await eventually("its ownership is released") { try await testCluster.owner() == nil }
            let kinds = try await testCluster.entries().map(\.kind)
            try expect(kinds.contains(.coreGivenUp), "the timeline tells that its core was given up: \(kinds)")
            let next = try await testCluster.executor("next")
            try await next.ask("call-2")
            try testCluster.receive("call-2")
            try expect(try await next.answer(), is: TestCluster.answer("call-2", from: .core), "what the next one gets")
            try await eventually("the witness has seen the core that was given up") {
                try await testCluster.entries().contains { $0.kind == .supersededOverlap }
            }
            try testCluster.server.open("never")
        }
    }

    static let slowStopIsAwaited = ConformanceCase(
        "C3j",
        "an Executor whose core takes its time to stop is neither killed nor fenced at the deadline while it answers"
    ) { context in
        try await context.withTestCluster { testCluster in
            let executor = try await testCluster.owningExecutor("executor", "hold-stop=stop", apart: true)
            let main = try await testCluster.main("main", "handover=200,answer=500")
            let beginning = ContinuousClock.now
            try await main.tell("start")
            try await eventually("the Executor has answered a challenge") {
                try await testCluster.observer.get(".sharedcore/ownership/answer") != nil
            }
            try await eventually("the deadline is long over") { ContinuousClock.now - beginning > .milliseconds(1000) }
            try expect(try await testCluster.owner()?.state, is: .stopping, "the state of the owner")
            try testCluster.server.open("stop")
            try expect(try await main.tell("started").hasPrefix("owns"), "Main owns")
            let kinds = try await testCluster.entries().map(\.kind)
            try expect(!kinds.contains(.killed) && !kinds.contains(.tookOver), "it was waited for: \(kinds)")
            // Main may learn of the release before the Executor has the answer to it.
            try await eventually("the Executor knows that it owns nothing") {
                try await executor.tell("epoch") == "none"
            }
        }
    }
}

extension TestCluster {
    /// Waits until a core is in its critical section.
    fileprivate func entersSection() async throws {
        try await eventually("a core is in its critical section") {
            try await observer.get(".sharedcore/ownership/critical") != nil
        }
    }
}
