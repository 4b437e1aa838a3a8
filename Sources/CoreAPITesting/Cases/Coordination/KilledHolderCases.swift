internal import Coordination
internal import CoreAPI

/// C6: holders that are killed.
enum KilledHolderCases {
    static let all = [killedOwnerIsFollowed]

    static let killedOwnerIsFollowed = ConformanceCase(
        "C6a", "scenarios 11, 12: a killed owner, Main or Executor, is never taken for alive: each push after it is served",
        promises: [.promptDeathNotice]
    ) { context in
        for isMain in [true, false] {
            try await context.withTroupe { troupe in
                let owner =
                    isMain
                    ? try await troupe.owningMain("first", apart: true)
                    : try await troupe.owningExecutor("first", waitingFor: "its-own", apart: true)
                try owner.kill()
                for number in 1...3 {
                    // Nobody waited when it was killed: this one only opens now.
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
}
