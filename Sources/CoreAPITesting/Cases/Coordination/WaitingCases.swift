internal import Coordination
internal import CoreAPI

/// C7, C13: waiting, its deadline and the events that wake it.
enum WaitingCases {
    static let all = [deadlineIsKept, deadlinesAreApart, lostWakeUps, storedInBetween]

    static let deadlineIsKept = ConformanceCase(
        "C7a",
        "a wait ends with a typed timeout, not before its deadline and within 100 ms of it; the owner is untouched"
    ) { context in
        try await context.withTestCluster { testCluster in
            _ = try await testCluster.owningMain()
            let owner = try await testCluster.owner()
            let executor = try await testCluster.executor()
            let clock = ContinuousClock()
            // Other work of the machine can only make it seem slower, so the quickest of several counts.
            var delays: [Duration] = []
            while delays.count < 20, !delays.contains(where: { $0 <= .milliseconds(100) }) {
                let number = delays.count + 1
                let begin = clock.now
                try await executor.ask("call-1", as: number, timeout: .milliseconds(300))
                try expect(try await executor.answer(number), is: "failed timeout", "what one hears at its deadline")
                let delay = begin.duration(to: clock.now) - .milliseconds(300)
                try expect(delay >= .zero, "the wait \(number) ends \(delay) after its deadline")
                delays.append(delay)
            }
            let quickest = delays.min() ?? .zero
            try expect(quickest <= .milliseconds(100), "the quickest of \(delays.count) was \(quickest) late")
            try await testCluster.waits(0)
            try expect(try await testCluster.owner(), is: owner, "the owner")
        }
    }

    static let deadlinesAreApart = ConformanceCase(
        "C7b", "scenario 19: a short deadline cuts no other wait, a long one holds no other up, the core goes on"
    ) { context in
        try await context.withTestCluster { testCluster in
            let executor = try await testCluster.executor("executor")
            try await executor.ask("call-1", timeout: .seconds(1))
            try await executor.ask("call-2", as: 2)
            try await testCluster.reaches(.running, by: "executor")
            let other = try await testCluster.executor("other", apart: true)
            try await other.ask("call-3")
            try expect(try await executor.answer(), is: "failed timeout", "what the short one hears")
            try expect(try await testCluster.owner()?.state, is: .running, "the core, when the short one is over")
            try testCluster.receive("call-2", "call-3")
            try expect(try await executor.answer(2), is: TestCluster.answer("call-2", from: .core), "the long one here")
            try expect(
                try await other.answer(), is: TestCluster.answer("call-3", from: .inbox), "the long one elsewhere")
            try await executor.tell("finish")
            try expect(try await testCluster.coreStarts(), is: 1, "the number of core starts")
        }
    }

    static let lostWakeUps = ConformanceCase(
        "C13a",
        "a lost wake-up costs 250 ms: by its poll an Executor gets its message, and sees that there is no owner"
    ) { context in
        try await context.withTestCluster { testCluster in
            let main = try await testCluster.owningMain()
            let deaf = try await testCluster.deafExecutor("deaf")
            let clock = ContinuousClock()
            // Other work of the machine can only make it seem slower, so the quickest of several counts.
            var delays: [Duration] = []
            while delays.count < 20, !delays.contains(where: { $0 <= .milliseconds(300) }) {
                let number = delays.count + 1
                try await deaf.ask("call-\(number)", as: number)
                try await testCluster.waits(1)
                try testCluster.receive("call-\(number)")
                try await testCluster.stored("call-\(number)")
                let begin = clock.now
                let expected = TestCluster.answer("call-\(number)", from: .inbox)
                try expect(try await deaf.answer(number), is: expected, "what Main has got")
                delays.append(begin.duration(to: clock.now))
            }
            let quickest = delays.min() ?? .zero
            try expect(quickest <= .milliseconds(300), "the quickest of \(delays.count) came \(quickest) late")
            try await deaf.ask("last", as: 9)
            try await testCluster.waits(1)
            try await main.tell("leave")
            try testCluster.receive("last")
            try expect(try await deaf.answer(9), is: TestCluster.answer("last", from: .core), "what it fetches itself")
        }
    }

    static let storedInBetween = ConformanceCase(
        "C13b", "scenario 14: a message that is stored between the read and the wait is noticed, at any moment"
    ) { context in
        try await context.withTestCluster { testCluster in
            _ = try await testCluster.owningMain()
            // No call polls by itself. Updates of the owner still make a call read, so a missed message comes late.
            let settings = "look=3600000"
            for moment in InterruptionPoint.allCases {
                let callID = "at-\(moment)"
                let executor = try await testCluster.interruptedExecutor(callID, settings, at: moment)
                try await executor.ask(callID)
                let expected = TestCluster.answer(callID, from: .inbox)
                try expect(try await executor.answer(), is: expected, "what comes when it is \(moment)")
            }
            let executor = try await testCluster.executor("executor", settings, apart: true)
            var random = context.random()
            for number in 1...25 {
                async let asked: Void = executor.ask("call-\(number)", as: number)
                // A random moment.
                try await Task.sleep(for: .microseconds(Int.random(in: 0..<4000, using: &random)))
                try testCluster.receive("call-\(number)")
                try await asked
                let expected = TestCluster.answer("call-\(number)", from: .inbox)
                try expect(try await executor.answer(number), is: expected, "what comes in round \(number)")
            }
        }
    }
}
