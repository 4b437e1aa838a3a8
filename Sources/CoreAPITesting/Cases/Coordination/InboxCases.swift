internal import Coordination
internal import CoreAPI

/// C10, C11, C12: the content of the inbox.
enum InboxCases {
    static let all = [takenOnce, consumerIsKilled, duplicates, machineStartsAgain, nothingToShow, invitations]

    static let takenOnce = ConformanceCase(
        "C10a", "a message is taken by one and acknowledged once; given back, another gets it; afterwards none does"
    ) { context in
        try await context.withTestCluster { testCluster in
            _ = try await testCluster.owningMain()
            try testCluster.receive("call-1")
            let first = try await testCluster.executor("first")
            try await first.ask("call-1")
            try expect(try await first.answer(), is: TestCluster.answer("call-1", from: .inbox), "what the first takes")
            let second = try await testCluster.executor("second", apart: true)
            // A message that is taken but not acknowledged is still waited for.
            try await second.ask("call-1")
            try await testCluster.waits(1)
            try await first.tell("giveBack 1")
            try expect(
                try await second.answer(), is: TestCluster.answer("call-1", from: .inbox), "what the second gets")
            try expect(try await first.tell("acknowledge 1"), is: "false", "whether it was still the first one's")
            try expect(try await second.tell("acknowledge 1"), is: "true", "the second one's acknowledgement")
            try await first.ask("call-1", as: 2)
            try expect(try await first.answer(2), is: "nothing inbox", "what is asked for afterwards")
        }
    }

    static let consumerIsKilled = ConformanceCase(
        "C10b", "a consumer that is killed before its acknowledgement gives the message back",
        promises: [.promptDeathNotice]
    ) { context in
        try await context.withTestCluster { testCluster in
            _ = try await testCluster.owningMain()
            try testCluster.receive("call-1")
            let first = try await testCluster.executor("first", apart: true)
            try await first.ask("call-1")
            try expect(try await first.answer(), is: TestCluster.answer("call-1", from: .inbox), "what the first takes")
            let second = try await testCluster.executor("second")
            try await second.ask("call-1")
            try await testCluster.waits(1)
            try await first.kill()
            try expect(
                try await second.answer(), is: TestCluster.answer("call-1", from: .inbox), "what the second gets")
            try expect(try await second.tell("acknowledge 1"), is: "true", "its acknowledgement")
        }
    }

    static let duplicates = ConformanceCase(
        "C10c", "a duplicate from the network is stored once, before and after the acknowledgement"
    ) { context in
        try await context.withTestCluster { testCluster in
            _ = try await testCluster.owningMain()
            for _ in 1...3 { try testCluster.receive("call-1") }
            try await eventually("the server has nothing left") { try testCluster.server.waiting().isEmpty }
            let executor = try await testCluster.executor()
            try await executor.ask("call-1")
            try expect(try await executor.answer(), is: TestCluster.answer("call-1", from: .inbox), "what it gets")
            try expect(try await executor.tell("acknowledge 1"), is: "true", "its acknowledgement")
            try testCluster.receive("call-1")
            try await eventually("the server has nothing left") { try testCluster.server.waiting().isEmpty }
            let other = try await testCluster.executor("other")
            try await other.ask("call-1")
            try expect(try await other.answer(), is: "nothing inbox", "what is asked for after the acknowledgement")
            try expect(try testCluster.server.acknowledgedCount(), is: 4, "what was acknowledged to the server")
        }
    }

    static let machineStartsAgain = ConformanceCase(
        "C10d",
        "scenario 20: after a start of the machine no owner of before is believed, no record is lost, and they expire",
        durability: .process
    ) { context in
        let clock = ManualClock()
        try await context.withGroup(GroupSettings(clock: clock)) { group in
            let server = try SharedServer.make()
            defer { server.remove() }
            let before = try await TestCluster(in: group, at: server, by: context.harness, clock: clock)
            _ = try await before.owningMain()
            try before.receive("call-1", "call-2")
            try await before.stored("call-2")
            let reader = try await before.executor()
            try await reader.ask("call-1")
            try expect(
                try await reader.answer(), is: TestCluster.answer("call-1", from: .inbox), "what the reader gets")
            try expect(try await reader.tell("acknowledge 1"), is: "true", "its acknowledgement")
            clock.advance(by: .seconds(200))
            await group.closeAll()

            clock.reboot()
            let after = try await TestCluster(in: group, at: server, by: context.harness, clock: clock)
            try expect(try await after.owner(), is: nil, "the owner after the start")
            let executor = try await after.executor()
            try await executor.ask("call-1")
            try expect(try await executor.answer(), is: "nothing inbox", "what was acknowledged before the start")
            try await executor.ask("call-2", as: 2)
            try expect(
                try await executor.answer(2), is: TestCluster.answer("call-2", from: .inbox), "what was stored before")
            try expect(try await executor.tell("coreStarts"), is: "0", "the cores that this took")
            clock.advance(by: .seconds(301))
            let prefix = try Inbox(after.observer).prefix(of: expectSome(CallID("call-1"), "a call-id"))
            try await eventually("what is remembered of an acknowledged id expires") {
                try await after.observer.list(prefix).entries.isEmpty
            }
            try await after.judge(superseded: nil)
        }
    }

    static let nothingToShow = ConformanceCase(
        "C11a", "scenario 17: a kind of message without anything to show ends its wait at once, from Main and without"
    ) { context in
        for mainOwns in [true, false] {
            try await context.withTestCluster { testCluster in
                if mainOwns { _ = try await testCluster.owningMain() }
                let executor = try await testCluster.executor()
                try await executor.ask("call-1")
                try await testCluster.waits(1)
                try testCluster.receive("call-1", .nothingToShow)
                let source: MessageResult.Source = mainOwns ? .inbox : .core
                try expect(try await executor.answer(), is: "nothing \(source)", "what ends the wait")
            }
        }
    }

    static let invitations = ConformanceCase(
        "C12a",
        "scenario 7: an invitation is got by its conference address, from Main and without, beside a message for another"
    ) { context in
        let room = "sip:room-1@conference.example.org"
        for mainOwns in [true, false] {
            try await context.withTestCluster { testCluster in
                if mainOwns { _ = try await testCluster.owningMain() }
                let forRoom = try await testCluster.executor("room")
                try await forRoom.ask(room)
                let forText = try await testCluster.executor("text", apart: true)
                try await forText.ask("call-1")
                try await testCluster.waits(2)
                try testCluster.receive(
                    room, .invitation(from: "sip:ann@x", subject: "lunch", localAddress: "sip:bob@example.org"))
                try testCluster.receive("call-1")
                let invitation = try await forRoom.answer()
                let isRight = ["inbox", "core"].contains {
                    invitation == "invitation \($0) sip:ann@x lunch sip:bob@example.org"
                }
                try expect(isRight, "the one gets the room: \(invitation)")
                try TestCluster.check(try await forText.answer(), isTextOf: "call-1", "the other gets the text")
                try await forRoom.tell("finish")
                try expect(try await testCluster.coreStarts(), is: 1, "the number of core starts")
            }
        }
    }
}
