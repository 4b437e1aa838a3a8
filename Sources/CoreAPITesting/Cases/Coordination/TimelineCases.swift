internal import Coordination
internal import CoreAPI

/// C15: the timeline. Every case of the rules C ends by checking that the timeline breaks no rule and that the witness
/// saw none broken.
enum TimelineCases {
    static let all = [everythingIsTold, itIsBounded]

    static let everythingIsTold = ConformanceCase(
        "C15a", "the timeline has every transition: session, role, epoch, the states before and after, time and reason"
    ) { context in
        try await context.withTestCluster { testCluster in
            let executor = try await testCluster.owningExecutor("executor")
            let main = try await testCluster.owningMain()
            try await main.tell("leave")
            try await executor.tell("leave")
            let entries = try await testCluster.entries()
            let first = entries.first { $0.kind == .acquired }?.epoch
            let second = entries.first { $0.kind == .acquired && $0.role == .main }?.epoch
            let told = entries.filter { $0.epoch == first }.map { "\($0.kind) \(Self.change($0))" }
            let life = [
                "acquired nothing-starting", "coreStarted", "stateChanged starting-running",
                "stateChanged running-stopping", "coreStopped", "released stopping-nothing",
            ]
            try expect(
                told, is: life.map { $0.contains(" ") ? $0 : $0 + " nothing-nothing" }, "the Executor's ownership")
            let asked = try expectSome(entries.first { $0.kind == .asked }, "Main's request")
            try expect(asked.other, is: first, "the epoch that Main asked")
            try expect(asked.bound != nil, "the request says how long it waits")
            let later = entries.filter { $0.epoch == second }
            try expect(later.allSatisfy { $0.role == .main && $0.name == "main" }, "Main's ownership is told of Main")
            let previous = PreviousOwnership(epoch: first ?? .zero, end: .released)
            try expect(later.first?.previous, is: previous, "what Main's acquisition says of the one before")
            for entry in entries where entry.kind != .coreStarted {
                try expect(!entry.reason.isEmpty, "there is a reason for: \(entry.describe())")
            }
            try expect(entries.map(\.at), is: entries.map(\.at).sorted(), "the times")
        }
    }

    private static func change(_ entry: TimelineEntry) -> String {
        "\(entry.from?.description ?? "nothing")-\(entry.to?.description ?? "nothing")"
    }

    static let itIsBounded = ConformanceCase(
        "C15b", "the timeline drops its oldest entries and keeps a checkpoint, from which the rules are proved"
    ) { context in
        try await context.withTestCluster { testCluster in
            for round in 1...10 {
                let executor = try await testCluster.executor("executor-\(round)", "entries=16,linger=1")
                try testCluster.receive("call-\(round)")
                try await executor.ask("call-\(round)")
                let expected = TestCluster.answer("call-\(round)", from: .core)
                try expect(try await executor.answer(), is: expected, "what it gets in round \(round)")
                try await executor.tell("leave")
            }
            try await eventually("the oldest entries are dropped") {
                try await Timeline(testCluster.observer).history().records.count <= 24
            }
            let history = try await Timeline(testCluster.observer).history()
            let checkpoint = try expectSome(history.checkpoint, "the checkpoint")
            try expect(checkpoint.droppedCount > 0, "the checkpoint counts what was dropped")
            let report = TimelineChecker.check(history)
            try expect(report.unprovedThrough, is: checkpoint.through, "what is unproved")
            try expect(report.violations, is: [], "the rules that the rest breaks")
        }
    }
}
