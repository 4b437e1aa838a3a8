internal import Coordination
internal import CoreAPI

/// C4: a core that was superseded.
enum SupersededCases {
    static let all = [writesNothing, learnsByItself]

    static let writesNothing = ConformanceCase(
        "C4a", "nothing that a superseded core writes takes effect: no value, no section, no message"
    ) { context in
        try await context.withTestCluster(superseded: 1) { testCluster in
            let executor = try await testCluster.owningExecutor("executor", "hold-stop=stop,hold-acknowledge=never")
            try expect(try await executor.tell("write application/data before"), is: "written", "a write as the owner")
            _ = try await testCluster.owningMain("main", "handover=200,bound=200,fence")
            // The superseded core still runs, because it hangs in its `stop`.
            for round in 1...3 {
                try expect(
                    try await executor.tell("write application/data late"), is: "guardFailed", "write \(round)")
            }
            try expect(try await executor.tell("enter 1000"), is: "guardFailed", "a critical section")
            try expect(try await testCluster.observer.text("application/data"), is: "before", "what stands")
            try await eventually("the witness has seen both cores") {
                try await testCluster.entries().contains { $0.kind == .supersededOverlap }
            }
            try testCluster.server.open("stop")
        }
    }

    static let learnsByItself = ConformanceCase(
        "C4b",
        "a superseded Executor learns of it within 250 ms of being able to run, without writing, and stops its core"
    ) { context in
        // Other work on the machine can only lengthen a measured time, so the shortest of several counts.
        var delays: [Duration] = []
        while delays.count < 20, !delays.contains(where: { $0 <= .milliseconds(250) }) {
            try await context.withTestCluster(superseded: 0) { testCluster in
                let executor = try await testCluster.owningExecutor(apart: true)
                let epoch = try await testCluster.owner()?.epoch
                try await executor.freeze()
                _ = try await testCluster.owningMain("main", "handover=100,fence")
                let clock = ContinuousClock()
                let begin = clock.now
                try await executor.thaw()
                try await eventually("it has learned that it is fenced") {
                    try await testCluster.entries().contains { $0.kind == .fenced && $0.epoch == epoch }
                }
                delays.append(begin.duration(to: clock.now))
                try await eventually("its core stops") {
                    try await testCluster.entries().contains { $0.kind == .coreStopped && $0.epoch == epoch }
                }
            }
        }
        let quickest = delays.min() ?? .zero
        try expect(quickest <= .milliseconds(250), "the quickest of \(delays.count) learned of it after \(quickest)")
    }
}
