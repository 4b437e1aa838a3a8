internal import Coordination
internal import CoreAPI

/// C8: the source of a message.
enum MessageSourceCases {
    static let all = [ownCore, mainHasIt, mainGetsIt, mainGoesAway, mainIsKilled, mainFreezes, storeFirst]

    static let ownCore = ConformanceCase(
        "C8a", "scenario 3: without an owner, the Executor's core fetches sender, recipient and text, and stops"
    ) { context in
        try await context.withTestCluster { testCluster in
            try testCluster.receive(
                "call-1", .text(from: "sip:a@example.org", to: "sip:b@example.org", text: "hello you"))
            let executor = try await testCluster.executor(apart: true)
            try await executor.ask("call-1")
            try expect(
                try await executor.answer(), is: "message core sip:a@example.org sip:b@example.org hello you",
                "what it gets")
            try await executor.tell("finish")
            try expect(try await testCluster.owner(), is: nil, "the owner when it has finished")
            try expect(try await executor.tell("coreStarts"), is: "1", "the cores that it has started")
            let kinds = try await testCluster.entries().map(\.kind)
            try expect(kinds.contains(.coreStopped), "its core has stopped: \(kinds)")
        }
    }

    static let mainHasIt = ConformanceCase(
        "C8b", "scenario 4: an Executor gets a message that Main has stored at once, without a core"
    ) { context in
        try await context.withTestCluster { testCluster in
            _ = try await testCluster.owningMain(apart: true)
            try testCluster.receive("call-1")
            try await testCluster.stored("call-1")
            let executor = try await testCluster.executor()
            // The deadline of the call has passed, so it can fail only if the store was slow. Ask again then.
            var answer = ""
            for number in 1...20 where answer != TestCluster.answer("call-1", from: .inbox) {
                try await executor.ask("call-1", as: number, timeout: .zero)
                answer = try await executor.answer(number)
            }
            try expect(answer, is: TestCluster.answer("call-1", from: .inbox), "what it gets")
            try expect(try await testCluster.coreStarts(), is: 1, "the number of core starts")
        }
    }

    static let mainGetsIt = ConformanceCase(
        "C8c", "scenario 5: a message that Main stores after the wait began wakes the Executor at once"
    ) { context in
        try await context.withTestCluster { testCluster in
            _ = try await testCluster.owningMain(apart: true)
            // The Executor does not poll by itself. Its backend may, after some time: its own tests show that a wake-up
            // alone delivers the updates.
            let executor = try await testCluster.executor("executor", "look=3600000")
            for number in 1...5 {
                try await executor.ask("call-\(number)", as: number)
                try await testCluster.waits(1)
                try testCluster.receive("call-\(number)")
                let expected = TestCluster.answer("call-\(number)", from: .inbox)
                try expect(try await executor.answer(number), is: expected, "what it gets in round \(number)")
            }
            try expect(try await executor.tell("coreStarts"), is: "0", "the cores of the Executor")
        }
    }

    static let mainGoesAway = ConformanceCase(
        "C8d", "scenario 15: Main stops while an Executor waits: the Executor owns and fetches"
    ) { context in
        try await context.withTestCluster { testCluster in
            let main = try await testCluster.owningMain()
            let executor = try await testCluster.executor()
            try await executor.ask("call-1")
            try await testCluster.waits(1)
            try await main.tell("leave")
            try testCluster.receive("call-1")
            try expect(
                try await executor.answer(), is: TestCluster.answer("call-1", from: .core), "what it fetches itself")
            try expect(try await main.tell("ended"), is: "stopped", "how Main has ended")
        }
    }

    static let mainIsKilled = ConformanceCase(
        "C8e", "scenario 15: Main is killed while an Executor waits: the Executor owns and fetches",
        promises: [.promptDeathNotice]
    ) { context in
        try await context.withTestCluster { testCluster in
            let main = try await testCluster.owningMain(apart: true)
            let executor = try await testCluster.executor()
            try await executor.ask("call-1")
            try await testCluster.waits(1)
            try await main.kill()
            try testCluster.receive("call-1")
            try expect(
                try await executor.answer(), is: TestCluster.answer("call-1", from: .core), "what it fetches itself")
            let acquired = try expectSome(
                try await testCluster.entries().last { $0.kind == .acquired }, "its acquisition")
            try expect(acquired.previous?.end, is: .sessionEnded, "how Main's ownership ended")
        }
    }

    static let mainFreezes = ConformanceCase(
        "C8f", "scenario 15: Main freezes while an Executor waits: the Executor owns and fetches (C6)"
    ) { context in
        try await context.withTestCluster(superseded: 0) { testCluster in
            let main = try await testCluster.owningMain(apart: true)
            let executor = try await testCluster.executor("executor", "answer=500")
            try await executor.ask("call-1")
            try await testCluster.waits(1)
            try await main.freeze()
            try testCluster.receive("call-1")
            try expect(
                try await executor.answer(), is: TestCluster.answer("call-1", from: .core), "what it fetches itself")
            try await main.thaw()
        }
    }

    static let storeFirst = ConformanceCase(
        "C8g",
        "a core that is killed between the commit and its acknowledgement leaves the message with the server (C10)",
        promises: [.promptDeathNotice]
    ) { context in
        try await context.withTestCluster { testCluster in
            let main = try await testCluster.owningMain("main", "hold-acknowledge=never", apart: true)
            try testCluster.receive("call-1")
            try await testCluster.stored("call-1")
            try expect(try testCluster.server.waiting().count, is: 1, "what the server has after the commit")
            try await main.kill()
            // Open the gate at which the killed process's core waited. If the death is only simulated, the core must
            // still not acknowledge the message.
            try testCluster.server.open("never")

            let executor = try await testCluster.executor()
            try await executor.ask("call-1")
            try expect(
                try await executor.answer(), is: TestCluster.answer("call-1", from: .inbox), "what was committed")
            try expect(try await executor.tell("acknowledge 1"), is: "true", "its acknowledgement")
            try expect(try testCluster.server.waiting().count, is: 1, "what the server has still")
            // The next core receives the same message again and finds that it is a duplicate.
            try await executor.ask("call-2", as: 2)
            try await eventually("the duplicate is acknowledged to the server") {
                try testCluster.server.waiting().isEmpty
            }
            try testCluster.receive("call-2")
            try expect(try await executor.answer(2), is: TestCluster.answer("call-2", from: .core), "what comes next")
            try await executor.ask("call-1", as: 3)
            try expect(try await executor.answer(3), is: "nothing inbox", "the duplicate, which was shown")
        }
    }
}
