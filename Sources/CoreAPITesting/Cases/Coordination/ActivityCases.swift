internal import Coordination
internal import CoreAPI

/// C17, C18: work in progress keeps a core, and a core is told why it stops.
enum ActivityCases {
    static let all = [activityIsAwaited, boundPasses, waitingMainIsPassed, mainInsists]

    static let activityIsAwaited = ConformanceCase(
        "C17a",
        "a Main waits for an activity that began before its request, challenges, and none begins later"
    ) { context in
        try await context.withTestCluster { testCluster in
            let executor = try await testCluster.owningExecutor()
            try expect(try await executor.tell("begin 60000 1"), is: "written", "the first activity")
            try expect(try await executor.tell("begin 60000 2"), is: "written", "the second activity")
            try expect(try await executor.tell("end 2"), is: "written", "the end of the second")
            let main = try await testCluster.main("main", "handover=5000")
            try await main.tell("start")
            try await eventually("Main has asked") { try await testCluster.entries().contains { $0.kind == .asked } }
            try expect(try await executor.tell("begin 1000 3"), is: "guardFailed", "an activity after the request")
            try await eventually("the owner has answered Main's challenge") {
                try await testCluster.observer.get(".sharedcore/ownership/answer") != nil
            }
            try expect(try await testCluster.owner()?.state, is: .running, "the state of the owner that was asked")
            try expect(try await executor.tell("end 1"), is: "written", "the end of the first")
            try expect(try await main.tell("started").hasPrefix("owns"), "Main owns")
            try expect(try await executor.tell("stopped"), is: "handover", "what the core was told")
            let kinds = try await testCluster.entries().map(\.kind)
            try expect(!kinds.contains(.killed) && !kinds.contains(.tookOver), "it was let finish: \(kinds)")
        }
    }

    static let boundPasses = ConformanceCase(
        "C17b", "an activity that is never ended holds up Main for its bound, and the core is told so (C18)"
    ) { context in
        try await context.withTestCluster { testCluster in
            let executor = try await testCluster.owningExecutor()
            try expect(try await executor.tell("begin 1000 1"), is: "written", "the activity")
            let activity = try expectSome(try await Activity.current(in: testCluster.observer).first, "the activity")
            _ = try await testCluster.owningMain()
            try expect(try await executor.tell("stopped"), is: "bound", "what the core was told")
            let stopping = try expectSome(
                try await testCluster.entries().first { $0.to == .stopping }, "the core's stop")
            try expect(stopping.at >= activity.latestEnd, "the core went on until the bound had passed")
            try expect(
                try await testCluster.observer.get(".sharedcore/ownership/activities") == nil,
                "nothing is left of the activity")
        }
    }

    static let waitingMainIsPassed = ConformanceCase(
        "C17c", "a Main that takes over and insists waits for no Main that waits for an activity (C14, C18)"
    ) { context in
        try await context.withTestCluster { testCluster in
            let executor = try await testCluster.owningExecutor()
            try expect(try await executor.tell("begin 3600000 1"), is: "written", "the activity")
            let first = try await testCluster.main("first", "handover=5000")
            try await first.tell("start")
            try await eventually("the first has asked") {
                try await testCluster.entries().contains { $0.kind == .asked }
            }
            let second = try await testCluster.main("second", "handover=5000")
            try await second.tell("takeOverInsisting")
            try await eventually("the core is told") { try await executor.tell("stopped") == "insisted" }
            try expect(try await second.tell("started").hasPrefix("owns"), "the second owns")
            try expect(try await first.tell("started"), is: "failed refused", "what the first hears")
            try expect(try await testCluster.owner()?.name, is: "second", "the owner in the end")
            let kinds = try await testCluster.entries().map(\.kind)
            try expect(!kinds.contains(.killed) && !kinds.contains(.tookOver), "it was only asked: \(kinds)")
        }
    }

    static let mainInsists = ConformanceCase(
        "C18a", "a Main that insists waits for no activity: the core is told so while it may still write"
    ) { context in
        try await context.withTestCluster { testCluster in
            let executor = try await testCluster.owningExecutor("executor", "hold-stop=stop")
            try expect(try await executor.tell("begin 3600000 1"), is: "written", "the activity")
            let main = try await testCluster.main()
            try await main.tell("startInsisting")
            try await testCluster.reaches(.stopping, by: "executor")
            try await eventually("the core is told") { try await executor.tell("stopped") == "insisted" }
            try expect(try await executor.tell("write last word"), is: "written", "what the core writes at its stop")
            try testCluster.server.open("stop")
            try expect(try await main.tell("started").hasPrefix("owns"), "Main owns")
        }
    }
}
