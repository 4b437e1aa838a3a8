internal import Coordination
internal import CoreAPI

/// C9: a hundred pushes at once.
enum BurstCases {
    static let all = [oneStart, ownerIsKilled, ownerIsFrozen, mainIsFrozen]

    /// Returns the number of pushes.
    private static func size(_ context: CaseContext) -> Int {
        context.number(100, whereCommitsCost: 24, of: "pushes")
    }

    private static func receiveAll(_ size: Int, in troupe: Troupe) throws {
        for number in (0..<size).reversed() { try troupe.receive("call-\(number)") }
    }

    static let oneStart = ConformanceCase(
        "C9d", "scenario 24: 100 pushes at once start one core; each gets its own message, acknowledged once (C10)"
    ) { context in
        let size = size(context)
        try await context.withTroupe { troupe in
            let crowd = try await troupe.crowd(of: size)
            try await troupe.waits(size)
            try receiveAll(size, in: troupe)
            try expect(try await crowd.served(size), is: 1, "the cores that the pushes have started")
            try expect(try await troupe.coreStarts(), is: 1, "the number of core starts")
            try expect(try troupe.server.waiting().count, is: 0, "what the server has still")
        }
    }

    static let ownerIsKilled = ConformanceCase(
        "C9e",
        "scenario 24: the owner of a burst is killed: one more start, nothing is lost, its own message neither (C6)",
        promises: [.promptDeathNotice]
    ) { context in
        let size = size(context)
        try await context.withTroupe { troupe in
            let owner = try await troupe.owningExecutor("owner", "hold-acknowledge=never", apart: true)
            let crowd = try await troupe.crowd(of: size)
            try await troupe.waits(size + 1)
            // It stores its own message, and is killed before it has acknowledged it to the server.
            try troupe.receive("its-own")
            try await troupe.stored("its-own")
            try await owner.kill()
            try receiveAll(size, in: troupe)
            try expect(try await crowd.served(size), is: 1, "the cores that the pushes have started")
            let again = try await troupe.executor("again")
            try await again.ask("its-own")
            try expect(try await again.answer(), is: Troupe.answer("its-own", from: .inbox), "the killed one's message")
            try expect(try await again.tell("acknowledge 1"), is: "true", "its acknowledgement")
            try expect(try await troupe.coreStarts(), is: 2, "the number of core starts")
            try expect(try troupe.server.waiting().count, is: 0, "what the server has still")
        }
    }

    static let ownerIsFrozen = ConformanceCase(
        "C9f",
        "scenario 24: the owner of a burst is frozen: every other push is served meanwhile, its own afterwards (C6)"
    ) { context in
        let size = size(context)
        try await context.withTroupe(superseded: 0) { troupe in
            let owner = try await troupe.owningExecutor("owner", apart: true)
            let crowd = try await troupe.crowd(of: size, "answer=1000")
            try await troupe.waits(size + 1)
            try await owner.freeze()
            try receiveAll(size, in: troupe)
            try troupe.receive("its-own")
            _ = try await crowd.served(size)
            try await owner.thaw()
            try expect(try await owner.answer(), is: Troupe.answer("its-own", from: .inbox), "the frozen one's message")
        }
    }

    static let mainIsFrozen = ConformanceCase(
        "C9h", "scenario 24: Main is frozen while it owns: every push is served meanwhile (C6)"
    ) { context in
        let size = size(context)
        try await context.withTroupe(superseded: 0) { troupe in
            let main = try await troupe.owningMain(apart: true)
            try await main.freeze()
            let crowd = try await troupe.crowd(of: size, "answer=1000")
            try receiveAll(size, in: troupe)
            _ = try await crowd.served(size)
            try await main.thaw()
        }
    }
}
