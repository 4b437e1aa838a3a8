internal import Coordination
internal import CoreAPI

/// C22: a message that is changed while it waits, while a participant has it in hand, and afterwards.
enum MessageChangeCases {
    static let all = [updates, withdrawals, mainAcknowledges]

    static let updates = ConformanceCase(
        "C22a", "after an update a call gets the new content, and a participant that has the message in hand loses it"
    ) { context in
        try await context.withTestCluster { testCluster in
            let main = try await testCluster.owningMain()
            try expect(try await main.tell("update call-1 new"), is: "absent", "an update of what is not there")
            try testCluster.receive("call-1")
            try await testCluster.stored("call-1")
            try expect(try await main.tell("update call-1 second"), is: "changed", "an update of what waits")
            let first = try await testCluster.executor("first")
            try await first.ask("call-1")
            try expect(try await first.answer(), is: "message inbox ann bob second", "what the first gets")
            let second = try await testCluster.executor("second")
            try await second.ask("call-1")
            try await testCluster.waits(1)
            try expect(try await main.tell("update call-1 third"), is: "changedInHand", "an update of what is in hand")
            try expect(try await second.answer(), is: "message inbox ann bob third", "what the one that waits gets")
            try expect(try await first.tell("acknowledge 1"), is: "false", "whether it was still the first one's")
            try await first.ask("call-1", as: 2)
            try await testCluster.waits(1)
            try await second.tell("giveBack 1")
            try expect(
                try await first.answer(2), is: "message inbox ann bob third", "what the first gets when it asks again")
            try expect(try await first.tell("acknowledge 2"), is: "true", "its acknowledgement of that")
            try expect(try await main.tell("update call-1 fourth"), is: "over", "an update of what was acknowledged")
            try await second.ask("call-1", as: 2)
            try expect(try await second.answer(2), is: "nothing inbox", "what is asked for afterwards")
        }
    }

    static let withdrawals = ConformanceCase(
        "C22b",
        "a withdrawal ends waits with nothing to show, also of a message in hand, and no duplicate is stored again"
    ) { context in
        try await context.withTestCluster { testCluster in
            let main = try await testCluster.owningMain()
            try expect(try await main.tell("withdraw call-1"), is: "absent", "a withdrawal of what is not there")
            try testCluster.receive("call-1")
            try await testCluster.stored("call-1")
            let first = try await testCluster.executor("first")
            try await first.ask("call-1")
            try expect(try await first.answer(), is: TestCluster.answer("call-1", from: .inbox), "what the first gets")
            let second = try await testCluster.executor("second")
            try await second.ask("call-1")
            try await testCluster.waits(1)
            try expect(try await main.tell("withdraw call-1"), is: "changedInHand", "a withdrawal of what is in hand")
            try expect(try await second.answer(), is: "nothing inbox", "what the one that waits gets")
            try expect(try await first.tell("acknowledge 1"), is: "false", "whether it was still the first one's")
            try expect(try await main.tell("withdraw call-1"), is: "over", "another withdrawal")
            try testCluster.receive("call-1")
            try await eventually("the server has nothing left") { try testCluster.server.waiting().isEmpty }
            try await first.ask("call-1", as: 2)
            try expect(try await first.answer(2), is: "nothing inbox", "what is asked for after a duplicate")
        }
    }

    static let mainAcknowledges = ConformanceCase(
        "C22c", "a message that Main has acknowledged is shown by no Executor afterwards, in hand or not"
    ) { context in
        try await context.withTestCluster { testCluster in
            let main = try await testCluster.owningMain()
            try expect(try await main.tell("shown call-1"), is: "false", "an acknowledgement of what is not there")
            try testCluster.receive("call-1", "call-2")
            try await testCluster.stored("call-2")
            try await testCluster.stored("call-1")
            let executor = try await testCluster.executor()
            try await executor.ask("call-1")
            try expect(try await executor.answer(), is: TestCluster.answer("call-1", from: .inbox), "what it gets")
            for callID in ["call-1", "call-2"] {
                try expect(try await main.tell("shown \(callID)"), is: "true", "whether “\(callID)” waited")
            }
            try expect(try await executor.tell("acknowledge 1"), is: "false", "whether it was still the Executor's")
            for (number, callID) in ["call-1", "call-2"].enumerated() {
                try await executor.ask(callID, as: number + 2)
                try expect(try await executor.answer(number + 2), is: "nothing inbox", "what “\(callID)” is afterwards")
            }
            try expect(try await main.tell("shown call-1"), is: "false", "another acknowledgement")
        }
    }
}
