internal import Coordination
internal import CoreAPI

/// C25: a call moves at most once for each offer.
enum BatonCases {
    static let all = [callMoves, takerIsKilled, timeIsOver, takerIsFrozen]

    static let callMoves = ConformanceCase(
        "C25a",
        "a call moves to a Main that takes it, where both are on one machine or its bytes are enough; else Main waits"
    ) { context in
        var isCarried = false
        try await context.withTestCluster { testCluster in
            let (executor, main) = try await busyPair(testCluster)
            isCarried = try await carriesBytes(testCluster)
            guard try await isOneMachine(testCluster) else {
                try await main.tell("start")
                try await eventually("Main has asked") {
                    try await testCluster.observer.get(OwnershipKey.handover) != nil
                }
                try expect(try await executor.tell("callIs ring hungUp"), is: "written", "the end of the call")
                return try expect(try await main.tell("started").hasPrefix("owns "), "Main owns then")
            }
            try await moves(from: executor, to: main, in: testCluster)
        }
        guard isCarried else { return }
        try await context.withTestCluster { testCluster in
            let (executor, main) = try await busyPair(testCluster, "bytes")
            try await moves(from: executor, to: main, in: testCluster)
        }
    }

    /// Returns an Executor with a call that can move, and a Main that has not started.
    private static func busyPair(
        _ testCluster: TestCluster, _ need: String = "", executor settings: String = "",
        main mainSettings: String = "takes"
    ) async throws -> (executor: TestParticipant, main: TestParticipant) {
        let executor = try await testCluster.owningExecutor("executor", settings, apart: true)
        let main = try await testCluster.main("main", mainSettings, apart: true)
        try expect(try await executor.tell("moving ring answered \(need)"), is: "written", "the call")
        return (executor, main)
    }

    private static func moves(from executor: TestParticipant, to main: TestParticipant, in testCluster: TestCluster)
        async throws
    {
        let began = try expectSome(try await Activity.current(in: testCluster.observer).first, "what keeps the core")
        try await main.tell("start")
        try expect(try await main.tell("started").hasPrefix("owns "), "Main owns")
        try expect(try await main.tell("batons"), is: "applied line", "what Main got")
        try await eventually("the core that gave it hears of it") {
            try await executor.tell("batons") == "heard applied"
        }
        try expect(try await executor.tell("stopped"), is: "handover", "why its core was stopped")
        try expect(try await executor.tell("calls"), is: "ring=answered", "the call")
        let call = try expectSome(try await Calls(testCluster.observer).list().first, "the call")
        try expect(call.holder?.name, is: "main", "its holder")
        let activity = try expectSome(try await Activity.current(in: testCluster.observer).first, "what keeps the core")
        try expect([activity.begun], is: [began.begun], "its beginning")
        try expect(try await testCluster.observer.get(OwnershipKey.baton) == nil, "nothing is left of the baton")
        try expect(try await main.tell("callIs ring hungUp"), is: "written", "its end")
        try expect(try await executor.tell("calls"), is: "ring=hungUp", "the call then")
        let entries = try await Timeline(testCluster.observer).history().records.map(\.entry.kind)
        try expect(
            entries.filter { [.batonOffered, .batonApplied, .batonFailed, .batonExpired].contains($0) },
            is: [.batonOffered, .batonApplied], "what the timeline tells")
    }

    static let takerIsKilled = ConformanceCase(
        "C25b", "a baton that was not applied goes to the next epoch: its old owner goes on when Main is killed",
        promises: [.promptDeathNotice]
    ) { context in
        try await context.withTestCluster { testCluster in
            let executor = try await testCluster.owningExecutor("executor", "takes", apart: true)
            let main = try await testCluster.main("main", "takes,hold-apply=apply", apart: true)
            try expect(try await executor.tell("moving ring answered"), is: "written", "the call")
            try await main.tell("start")
            guard try await isOneMachine(testCluster) else { return }
            try await eventually("it moves") { try await testCluster.observer.get(OwnershipKey.baton) != nil }
            try await eventually("Main owns") { try await testCluster.owner()?.name == "main" }
            try expect(try await Calls(testCluster.observer).list().map(\.state), is: [.answered], "the call meanwhile")
            try await main.kill()
            try await eventually("the Executor goes on") {
                try await executor.tell("batons").contains("applied line")
            }
            try await eventually("its former core hears of it") {
                try await executor.tell("batons").contains("heard applied")
            }
            let call = try expectSome(try await Calls(testCluster.observer).list().first, "the call")
            try expect(call.holder?.name, is: "executor", "its holder")
        }
    }

    static let timeIsOver = ConformanceCase(
        "C25c", "a baton is either applied or ended by its old owner, never both"
    ) { context in
        let main = "takes,hold-apply=apply"
        var isCarried = false
        try await context.withTestCluster { testCluster in
            let (executor, main) = try await busyPair(testCluster, executor: "takes,baton=1000", main: main)
            isCarried = try await carriesBytes(testCluster)
            try await main.tell("start")
            guard try await isOneMachine(testCluster) else { return }
            try await expires(from: executor, to: main, in: testCluster)
        }
        guard isCarried else { return }
        try await context.withTestCluster { testCluster in
            let (executor, main) = try await busyPair(testCluster, "bytes", executor: "takes,baton=3000", main: main)
            try await main.tell("start")
            try await expires(from: executor, to: main, in: testCluster)
        }
    }

    private static func expires(from executor: TestParticipant, to main: TestParticipant, in testCluster: TestCluster)
        async throws
    {
        try await eventually("its time is over") { try await executor.tell("batons") == "heard expired" }
        try testCluster.server.open("apply")
        try await eventually("Main has tried") { try await main.tell("batons").hasPrefix("failed guardFailed") }
        try await eventually("the call is lost") {
            try await Calls(testCluster.observer).list().map(\.state) == [.ended(.lost)]
        }
    }

    static let takerIsFrozen = ConformanceCase(
        "C25d", "a baton whose taker is frozen goes to the next epoch, and Main gets the call by a second offer"
    ) { context in
        try await context.withTestCluster(superseded: 0) { testCluster in
            let executor = try await testCluster.owningExecutor("executor", "takes,answer=500", apart: true)
            let main = try await testCluster.main("main", "takes,hold-apply=apply", apart: true)
            try expect(try await executor.tell("moving ring answered"), is: "written", "the call")
            try await main.tell("start")
            guard try await isOneMachine(testCluster) else { return }
            try await eventually("it moves") { try await testCluster.observer.get(OwnershipKey.baton) != nil }
            try await eventually("Main owns") { try await testCluster.owner()?.name == "main" }
            try await main.freeze()
            try await eventually("the Executor goes on") {
                try await executor.tell("batons").contains("applied line")
            }
            try await eventually("its former core hears of it") {
                try await executor.tell("batons").contains("heard applied")
            }
            let call = try expectSome(try await Calls(testCluster.observer).list().first, "the call")
            try expect(call.holder?.name, is: "executor", "its holder")

            // The core of Main fails while it applies the bytes that it has fetched. Main then asks again, and the call
            // moves with a second baton.
            try testCluster.server.open("apply")
            try await main.thaw()
            try expect(try await main.tell("started").hasPrefix("owns "), "Main owns when it can run")
            try await eventually("Main goes on") { try await main.tell("batons").hasSuffix("applied line") }
            try await eventually("the Executor hears of it") {
                try await executor.tell("batons").split(separator: ", ").filter { $0 == "heard applied" }.count == 2
            }
            try expect(
                try await Calls(testCluster.observer).list().map { $0.holder?.name }, is: ["main"], "its holder then")
            let kinds = try await Timeline(testCluster.observer).history().records.map(\.entry.kind)
            try expect(
                kinds.filter { [.batonOffered, .batonApplied, .batonFailed, .batonExpired].contains($0) },
                is: [.batonOffered, .batonApplied, .batonOffered, .batonApplied], "what the timeline tells")
        }
    }

    /// Returns true if the two participants share no machine, and the group carries the bytes of a baton between them.
    private static func carriesBytes(_ testCluster: TestCluster) async throws -> Bool {
        try await !isOneMachine(testCluster) && testCluster.observer.capabilities.features.contains(.batonBytes)
    }

    /// Returns true if the two participants know that they are on one machine, so that a call with descriptors can
    /// move.
    private static func isOneMachine(_ testCluster: TestCluster) async throws -> Bool {
        let sessions = try await testCluster.observer.sessions().filter { [.main, .executor].contains($0.role) }
        let machines = Set(sessions.map(\.process.bootID))
        return machines.count == 1 && machines != [BootID(high: 0, low: 0)]
    }
}
