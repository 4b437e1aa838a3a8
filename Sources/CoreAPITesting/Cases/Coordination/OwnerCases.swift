internal import Coordination
internal import CoreAPI

/// C1, C2, C5: the owner, and the participants that may own.
enum OwnerCases {
    static let all = [
        statesAreReadable, oneAtATime, executorsAreRefused, executorsTakeTurns, groupsAreApart, othersChangeNothing,
        lateStops,
    ]

    static let statesAreReadable = ConformanceCase(
        "C1a", "each process reads the owner and its state: starting, running, stopping; the next epoch is higher"
    ) { context in
        try await context.withTestCluster { testCluster in
            try expect(try await testCluster.owner(), is: nil, "the owner at first")
            let executor = try await testCluster.executor("executor", "hold-start=begin,hold-stop=end")
            try await executor.ask("call-1")
            try await testCluster.reaches(.starting, by: "executor")
            try testCluster.server.open("begin")
            try await testCluster.reaches(.running, by: "executor")
            let first = try expectSome(try await testCluster.owner(), "the owner")
            try expect(first.session.description, is: try await executor.tell("session"), "the session that owns")
            let main = try await testCluster.main()
            try await main.tell("start")
            try await testCluster.reaches(.stopping, by: "executor")
            try testCluster.server.open("end")
            try await testCluster.reaches(.running, by: "main")
            let second = try expectSome(try await testCluster.owner(), "the next owner")
            try expect(second.epoch > first.epoch, "epoch \(second.epoch) comes after epoch \(first.epoch)")
            try await executor.tell("leave")
            try await main.tell("leave")
            try expect(try await testCluster.owner(), is: nil, "the owner in the end")
        }
    }

    static let oneAtATime = ConformanceCase(
        "C1b", "of many that seek ownership at once one has it at any revision, and epochs only rise"
    ) { context in
        try await context.withTestCluster { testCluster in
            let recorder = try await WatchRecorder(testCluster.observer, of: [".sharedcore/ownership"])
            func epochs() async throws -> [Revision] {
                try await recorder.reaches(
                    try await testCluster.observer.put(".sharedcore/ownership/end", [1]).revision)
                var epochs: [Revision] = []
                for change in recorder.mirror.changes where change.key == ".sharedcore/ownership/owner" {
                    guard let epoch = change.new?.creationRevision, epochs.last != epoch else { continue }
                    epochs.append(epoch)
                }
                return epochs
            }
            for round in 0..<3 {
                let before = try await epochs().count
                let participants = try await together(6) { number in
                    try await testCluster.executor("executor-\(round)-\(number)", "linger=1")
                }
                // No core has a message for this call, so the Executor runs its own core or waits for another's. The
                // timeout grows with each attempt, because on a busy machine it takes longer until a participant owns.
                var timeout = Duration.milliseconds(300)
                repeat {
                    let limit = timeout
                    _ = try await together(6) { number in
                        try await participants[number].ask("call-\(round)-\(number)", timeout: limit)
                    }
                    for participant in participants {
                        try expect(
                            try await participant.answer(), is: "failed timeout", "what “\(participant.name)” hears")
                    }
                    timeout *= 2
                } while try await epochs().count == before && timeout < .seconds(60)
                for participant in participants { try await participant.tell("leave") }
                try expect(try await epochs().count > before, "round \(round) had an owner")
            }
            let epochs = try await epochs()
            try expect(epochs, is: epochs.sorted(), "the epochs in the order of the commits")
            try expect(Set(epochs).count, is: epochs.count, "the number of different epochs")
            try await testCluster.observer.delete(".sharedcore/ownership/end")
        }
    }

    static let executorsAreRefused = ConformanceCase(
        "C2a", "scenario 1: while Main owns, an Executor's start is refused by name, and nothing else happens"
    ) { context in
        try await context.withTestCluster { testCluster in
            let main = try await testCluster.owningMain()
            try await testCluster.observer.put("application/data", text: "kept")
            let owner = try await testCluster.owner()
            let executor = try await testCluster.executor()
            for number in 1...3 {
                try await executor.tell("insist \(number) call-1 120000")
                try expect(try await executor.answer(number), is: "failed refused", "what one hears that insists")
            }
            try expect(try await executor.tell("coreStarts"), is: "0", "the cores that it has started")
            try expect(try await testCluster.owner(), is: owner, "the owner")
            try expect(try await testCluster.observer.text("application/data"), is: "kept", "the application's data")
            let keys = try await testCluster.observer.list().entries.map(\.key.text).filter {
                !$0.hasPrefix(".sharedcore/")
            }
            try expect(keys, is: ["application/data"], "the keys of the application")
            let refusal = try expectSome(try await testCluster.entries().last { $0.kind == .refused }, "the refusal")
            try expect(refusal.other, is: owner?.epoch, "the epoch that stands by the timeline")
            try expect(try await main.tell("epoch"), is: owner?.epoch.description ?? "", "Main's epoch")
        }
    }

    static let executorsTakeTurns = ConformanceCase(
        "C2b", "while an Executor owns, another one waits, and never owns if its message comes meanwhile"
    ) { context in
        try await context.withTestCluster { testCluster in
            let first = try await testCluster.owningExecutor("first", waitingFor: "call-1")
            let second = try await testCluster.executor("second")
            try await second.ask("call-2")
            let third = try await testCluster.executor("third")
            try await third.tell("insist 1 call-3 120000")
            try await testCluster.waits(2)
            try testCluster.receive("call-2")
            try expect(
                try await second.answer(), is: TestCluster.answer("call-2", from: .inbox), "what the second gets")
            try expect(try await second.tell("coreStarts"), is: "0", "the cores of the second")
            try expect(try await testCluster.owner()?.name, is: "first", "the owner while the first one waits")
            try testCluster.receive("call-1")
            try expect(try await first.answer(), is: TestCluster.answer("call-1", from: .core), "what the first gets")
            try await first.tell("finish")
            try await testCluster.reaches(.running, by: "third")
            try testCluster.receive("call-3")
            try expect(try await third.answer(), is: TestCluster.answer("call-3", from: .core), "what the third gets")
        }
    }

    static let groupsAreApart = ConformanceCase(
        "C2c", "scenario 21: two groups with the same names have owners and messages of their own (S14)"
    ) { context in
        try await context.withTestCluster { one in
            try await context.withTestCluster { other in
                let main = try await one.owningMain()
                let executor = try await other.owningExecutor("main", waitingFor: "call-1")
                try one.receive("call-1")
                try await one.stored("call-1")
                try expect(try await other.owner()?.role, is: .executor, "the owner of the other group")
                try other.receive("call-1", .text(from: "ann", to: "bob", text: "of the other group"))
                try expect(
                    try await executor.answer(), is: "message core ann bob of the other group",
                    "what the one in the other group gets")
                try expect(try await main.tell("coreStarts"), is: "1", "the cores of Main")
            }
        }
    }

    static let othersChangeNothing = ConformanceCase(
        "C5a", "scenario 9: a process that only reads, is refused, is killed or ends changes nothing of the owner"
    ) { context in
        try await context.withTestCluster { testCluster in
            _ = try await testCluster.owningMain()
            let owner = try await testCluster.owner()
            try testCluster.receive("call-1")
            let reader = try await testCluster.executor("reader")
            try await reader.ask("call-1")
            try expect(
                try await reader.answer(), is: TestCluster.answer("call-1", from: .inbox), "what the reader gets")
            try await reader.tell("close")
            let insisting = try await testCluster.executor("insisting", apart: true)
            try await insisting.tell("insist 1 call-2 120000")
            try expect(try await insisting.answer(), is: "failed refused", "what one hears that insists")
            let waiting = try await testCluster.executor("waiting", apart: true)
            try await waiting.ask("call-3")
            try await testCluster.waits(1)
            try await insisting.kill()
            try await waiting.kill()

            let later = try await testCluster.executor("later")
            try await later.ask("call-4")
            try testCluster.receive("call-4")
            try expect(try await later.answer(), is: TestCluster.answer("call-4", from: .inbox), "what comes later")
            let now = try expectSome(try await testCluster.owner(), "the owner")
            try expect(now.epoch, is: owner?.epoch ?? .zero, "the epoch of the owner")
            try expect(try await testCluster.coreStarts(), is: 1, "the number of core starts")
        }
    }

    static let lateStops = ConformanceCase(
        "C5b", "scenario 13: an Executor that has finished and stops late leaves Main's ownership as it stands"
    ) { context in
        try await context.withTestCluster { testCluster in
            let executor = try await testCluster.owningExecutor("executor", waitingFor: "call-1", apart: true)
            let main = try await testCluster.main()
            try testCluster.receive("call-1")
            try await main.tell("start")
            try await testCluster.reaches(.running, by: "main")
            let owner = try await testCluster.owner()
            try TestCluster.check(try await executor.answer(), isTextOf: "call-1", "the Executor's message")
            try await executor.tell("finish")
            try await executor.tell("leave")
            try await executor.tell("close")
            try expect(try await testCluster.owner(), is: owner, "the owner when the Executor has gone")
            for number in 2...4 {
                let next = try await testCluster.executor("next-\(number)")
                try testCluster.receive("call-\(number)")
                try await next.ask("call-\(number)")
                try expect(
                    try await next.answer(), is: TestCluster.answer("call-\(number)", from: .inbox), "what Main has got"
                )
            }
        }
    }
}
