internal import Coordination
internal import CoreAPI

/// C9: a hundred pushes at once.
enum BurstCases {
    static let all = [oneStart, ownerIsKilled, ownerIsFrozen, mainIsFrozen]

    /// Returns the number of pushes.
    private static func size(_ context: CaseContext) -> Int {
        context.number(100, whereCommitsCost: 24, of: "pushes")
    }

    private static func receiveAll(_ size: Int, in testCluster: TestCluster) throws {
        for number in (0..<size).reversed() { try testCluster.receive("call-\(number)") }
    }

    static let oneStart = ConformanceCase(
        "C9d", "scenario 24: 100 pushes at once start one core; each gets its own message, acknowledged once (C10)"
    ) { context in
        let size = size(context)
        try await context.withTestCluster { testCluster in
            let burst = try await testCluster.burst(of: size)
            try await testCluster.waits(size)
            try receiveAll(size, in: testCluster)
            try expect(try await burst.served(size), is: 1, "the cores that the pushes have started")
            try expect(try await testCluster.coreStarts(), is: 1, "the number of core starts")
            try expect(try testCluster.server.waiting().count, is: 0, "what the server has still")
        }
    }

    static let ownerIsKilled = ConformanceCase(
        "C9e",
        "scenario 24: the owner of a burst is killed: one more start, nothing is lost, its own message neither (C6)",
        promises: [.promptDeathNotice]
    ) { context in
        let size = size(context)
        try await context.withTestCluster { testCluster in
            let owner = try await testCluster.owningExecutor("owner", "hold-acknowledge=never", apart: true)
            let burst = try await testCluster.burst(of: size)
            try await testCluster.waits(size + 1)
            // The core stores the message of its own Executor. The process is killed before the core has acknowledged
            // the message to the server.
            try testCluster.receive("its-own")
            try await testCluster.stored("its-own")
            try await owner.kill()
            try receiveAll(size, in: testCluster)
            try expect(try await burst.served(size), is: 1, "the cores that the pushes have started")
            let again = try await testCluster.executor("again")
            try await again.ask("its-own")
            try expect(
                try await again.answer(), is: TestCluster.answer("its-own", from: .inbox), "the killed one's message")
            try expect(try await again.tell("acknowledge 1"), is: "true", "its acknowledgement")
            try expect(try await testCluster.coreStarts(), is: 2, "the number of core starts")
            try expect(try testCluster.server.waiting().count, is: 0, "what the server has still")
        }
    }

    static let ownerIsFrozen = ConformanceCase(
        "C9f",
        "scenario 24: the owner of a burst is frozen: every other push is served meanwhile, its own afterwards (C6)"
    ) { context in
        let size = size(context)
        try await context.withTestCluster(superseded: 0) { testCluster in
            let owner = try await testCluster.owningExecutor("owner", apart: true)
            let burst = try await testCluster.burst(of: size, "answer=1000")
            try await testCluster.waits(size + 1)
            try await owner.freeze()
            try receiveAll(size, in: testCluster)
            try testCluster.receive("its-own")
            _ = try await burst.served(size)
            try await owner.thaw()
            try expect(
                try await owner.answer(), is: TestCluster.answer("its-own", from: .inbox), "the frozen one's message")
        }
    }

    static let mainIsFrozen = ConformanceCase(
        "C9h", "scenario 24: Main is frozen while it owns: every push is served meanwhile (C6)"
    ) { context in
        let size = size(context)
        try await context.withTestCluster(superseded: 0) { testCluster in
            let main = try await testCluster.owningMain(apart: true)
            try await main.freeze()
            let burst = try await testCluster.burst(of: size, "answer=1000")
            try receiveAll(size, in: testCluster)
            _ = try await burst.served(size)
            try await main.thaw()
        }
    }
}
