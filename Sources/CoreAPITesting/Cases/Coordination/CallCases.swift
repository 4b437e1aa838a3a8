internal import Coordination
internal import CoreAPI

/// C23: a call is a record. C24: a command reaches the holder of its call at most once.
enum CallCases {
    static let all = [
        callIsRead, twoAtOnce, holderIsKilled, executorIsServed, mediaChange, commandIsCarriedOut, commandIsNotTaken,
        holderEndsWithCommand, senderEnds, holderIsFrozen,
    ]

    static let callIsRead = ConformanceCase(
        "C23a", "every process reads a call as it changes, and when it has ended, until that is acknowledged"
    ) { context in
        try await context.withTestCluster { testCluster in
            let main = try await testCluster.owningMain(apart: true)
            let other = try await testCluster.executor("reader", apart: true)
            let calls = Calls(testCluster.observer)
            var changes = try await calls.changes().makeAsyncIterator()
            try expect(try await changes.next()?.count, is: 0, "the calls before there is one")
            try expect(try await main.tell("call ring ringing"), is: "written", "the beginning")
            let call = try expectSome(try await calls.list().first, "the call")
            try expect(call.holder?.name, is: "main", "its holder")
            try expect([call.from, call.to, call.account], is: ["sip:ann", "sip:bob", "work"], "its texts")
            try expect(call.media, is: [.audio, .video], "its media")
            try expect(
                try await Activity.current(in: testCluster.observer).map(\.id), is: ["ring"], "what keeps the core")
            for state in ["answered", "held", "remotelyHeld"] {
                try expect(try await main.tell("callIs ring \(state)"), is: "written", state)
                try expect(try await other.tell("calls"), is: "ring=\(state)", "what another process reads")
            }
            try expect(try await main.tell("call ring ringing"), is: "written", "the same one again")
            try expect(try await other.tell("calls"), is: "ring=remotelyHeld", "its state behind that")
            try expect(try await other.tell("acknowledgeCall ring"), is: "false", "to acknowledge an open one")
            try expect(try await main.tell("callIs ring missed"), is: "written", "the end")
            try expect(try await main.tell("callIs ring answered"), is: "guardFailed", "a change behind the end")
            try expect(try await Activity.current(in: testCluster.observer), is: [], "what keeps the core now")
            try expect(try await other.tell("calls"), is: "ring=missed", "what another process reads then")
            var heard: [String] = []
            while heard.last != "missed", let next = try await changes.next() { heard += next.map(\.state.word) }
            try expect(heard, is: ["ringing", "answered", "held", "remotelyHeld", "missed"], "what a watch told")
            try expect(try await other.tell("acknowledgeCall ring"), is: "true", "to acknowledge it")
            try expect(try await main.tell("calls"), is: "", "the calls in the end")
            try expect(try await changes.next()?.count, is: 0, "what the watch told in the end")
        }
    }

    static let twoAtOnce = ConformanceCase("C23b", "an owner has two calls at once, and each ends alone") { context in
        try await context.withTestCluster { testCluster in
            let executor = try await testCluster.owningExecutor()
            try expect(try await executor.tell("call one ringing"), is: "written", "the first")
            try expect(try await executor.tell("call two incoming"), is: "written", "the second")
            try expect(try await executor.tell("callIs one held"), is: "written", "the first is held")
            try expect(try await executor.tell("callIs two answered"), is: "written", "the second is answered")
            try expect(try await executor.tell("calls"), is: "one=held two=answered", "both")
            try expect(try await executor.tell("callIs one hungUp"), is: "written", "the end of the first")
            try expect(try await executor.tell("calls"), is: "two=answered one=hungUp", "the open one first")
            try expect(
                try await Activity.current(in: testCluster.observer).map(\.id), is: ["two"], "what keeps the core")
        }
    }

    static let holderIsKilled = ConformanceCase(
        "C23c", "the call of a killed owner is lost for each reader, and on record before the next core starts",
        promises: [.promptDeathNotice]
    ) { context in
        try await context.withTestCluster { testCluster in
            let executor = try await testCluster.owningExecutor(apart: true)
            try expect(try await executor.tell("call ring answered"), is: "written", "the call")
            try await executor.kill()
            let calls = Calls(testCluster.observer)
            try await eventually("the call is lost") { try await calls.list().map(\.state) == [.ended(.lost)] }
            try expect(try await testCluster.owner(), is: nil, "the owner then")
            let record = try CallKey.record(of: expectSome(CallID("ring"), "an id"))
            try expect(
                try await testCluster.observer.get(record)?.lifetime, is: .persistent, "its record, as the dead left it"
            )
            let main = try await testCluster.main("main", "hold-start=start")
            try await main.tell("start")
            try await eventually("a core starts") { try await testCluster.coreStarts() == 2 }
            let ended = try expectSome(try await testCluster.observer.get(record), "its record")
            try expect(CallRecord(ended.value)?.state, is: .ended(.lost), "what it says when the next core starts")
            try expect(ended.lifetime != .persistent, "it expires")
            try testCluster.server.open("start")
            try expect(try await main.tell("started").hasPrefix("owns"), "Main owns")
            try expect(try await main.tell("calls"), is: "ring=lost", "what the next owner reads")
        }
    }

    static let executorIsServed = ConformanceCase(
        "C23d", "an Executor that waits for the id of a call is served by it: open, ended, or acknowledged"
    ) { context in
        try await context.withTestCluster { testCluster in
            let main = try await testCluster.owningMain(apart: true)
            let executor = try await testCluster.executor()
            try await executor.ask("ring", as: 1)
            try await testCluster.waits(1)
            try expect(try await main.tell("call ring ringing"), is: "written", "the call")
            try expect(try await executor.answer(1), is: "call inbox ring ringing", "what the one that waits hears")
            try expect(try await main.tell("callIs ring missed"), is: "written", "its end")
            try await executor.ask("ring", as: 2)
            try expect(try await executor.answer(2), is: "call inbox ring missed", "what a later one hears")
            try expect(try await executor.tell("acknowledgeCall ring"), is: "true", "the acknowledgement")
            try await executor.ask("ring", as: 3)
            try expect(try await executor.answer(3).hasPrefix("nothing "), "what one hears behind that")
        }
    }

    static let mediaChange = ConformanceCase(
        "C23e", "the media of a call change while it is open, alone or with its state, for every process"
    ) { context in
        try await context.withTestCluster { testCluster in
            let main = try await testCluster.owningMain(apart: true)
            let calls = Calls(testCluster.observer)
            func media() async throws -> Call.Media? {
                let open = try await calls.list()
                return open.first?.media
            }
            try expect(try await main.tell("call ring answered"), is: "written", "the call")
            try expect(try await media(), is: [.audio, .video], "its media")
            try expect(try await main.tell("callHas ring none held"), is: "written", "a hold")
            let held = try expectSome(try await calls.list().first, "the held call")
            try expect(held.media, is: [], "the media of the held call")
            try expect(held.state, is: .held, "its state, of the same commit")
            try expect(try await main.tell("call ring answered"), is: "written", "the same one again")
            try expect(try await media(), is: [], "its media behind that")
            try expect(try await main.tell("callHas ring audio"), is: "written", "audio alone")
            let back = try expectSome(try await calls.list().first, "the call then")
            try expect(back.media, is: .audio, "its media then")
            try expect(back.state, is: .held, "its state, which stays")
            try expect(try await main.tell("callIs ring hungUp"), is: "written", "the end")
            try expect(try await main.tell("callHas ring none"), is: "guardFailed", "a change behind the end")
            try expect(try await media(), is: .audio, "the media of the ended call")
        }
    }

    static let commandIsCarriedOut = ConformanceCase(
        "C24a", "a command of any process reaches the holder once, which carries it out or refuses it"
    ) { context in
        try await context.withTestCluster { testCluster in
            let executor = try await testCluster.owningExecutor(apart: true)
            let other = try await testCluster.main("window", apart: true)
            try await other.tell("send 0 answer none 60000")
            try expect(try await other.tell("sent 0"), is: "failed notFound", "a command for no call")
            try expect(try await executor.tell("call one ringing"), is: "written", "a call")
            try expect(try await executor.tell("call two ringing"), is: "written", "another")
            // A command that is sent before the holder listens waits.
            try await other.tell("send 1 answer one 60000")
            try await eventually("the command waits") { try await commandCount(in: testCluster) == 1 }
            try await executor.tell("obey one accept")
            try await executor.tell("obey two refuse")
            try expect(try await other.tell("sent 1"), is: "done", "what its sender hears")
            try await other.tell("send 2 hold two 60000")
            try expect(try await other.tell("sent 2"), is: "failed refused", "what one hears that is refused")
            try await other.tell("send 3 hangUp one 60000")
            try expect(try await other.tell("sent 3"), is: "done", "a second for the first call")
            try expect(try await executor.tell("obeyed one"), is: "answer hangUp", "what the first call was told")
            try expect(try await executor.tell("obeyed two"), is: "hold", "what the second was told")
            try expect(try await commandCount(in: testCluster), is: 0, "what is left of commands")
        }
    }

    static let commandIsNotTaken = ConformanceCase(
        "C24b", "a command that its holder does not take in time, or whose call ends first, is not carried out"
    ) { context in
        try await context.withTestCluster { testCluster in
            let main = try await testCluster.owningMain()
            let other = try await testCluster.executor("window", apart: true)
            try expect(try await main.tell("call ring ringing"), is: "written", "the call")
            try await other.tell("send 1 answer ring 100")
            try expect(try await other.tell("sent 1"), is: "failed timeout", "what its sender hears")
            try await other.tell("send 2 hold ring 60000")
            try await eventually("the command waits") { try await commandCount(in: testCluster) == 1 }
            try expect(try await main.tell("callIs ring missed"), is: "written", "the end of the call")
            try expect(try await other.tell("sent 2"), is: "failed notFound", "what its sender hears then")
            try expect(try await main.tell("call ring ringing"), is: "written", "the call again")
            try await main.tell("obey ring accept")
            try await other.tell("send 3 decline ring 60000")
            try expect(try await other.tell("sent 3"), is: "done", "a command that is taken")
            try expect(try await main.tell("obeyed ring"), is: "decline", "all that was carried out")
        }
    }

    static let holderEndsWithCommand = ConformanceCase(
        "C24c", "a holder that is killed leaves a command that it took unknown, and no other carries it out",
        promises: [.promptDeathNotice]
    ) { context in
        try await context.withTestCluster { testCluster in
            let executor = try await testCluster.owningExecutor(apart: true)
            let other = try await testCluster.executor("window", apart: true)
            try expect(try await executor.tell("call ring ringing"), is: "written", "the call")
            try await executor.tell("obey ring nothing")
            try await other.tell("send 1 answer ring 600000")
            try await eventually("it is taken") { try await executor.tell("obeyed ring") == "answer" }
            try await executor.kill()
            // `sessions()` makes the group notice the death, even if no other participant waits for the core.
            try await eventually("the call is lost") {
                try await Calls(testCluster.observer).list().map(\.state) == [.ended(.lost)]
            }
            try expect(try await other.tell("sent 1"), is: "failed outcomeUnknown", "what its sender hears")
            let main = try await testCluster.owningMain()
            try expect(try await main.tell("call ring ringing"), is: "written", "the call again")
            try await main.tell("obey ring accept")
            try await other.tell("send 2 decline ring 60000")
            try expect(try await other.tell("sent 2"), is: "done", "the next command")
            try expect(try await main.tell("obeyed ring"), is: "decline", "what the next holder carried out")
        }
    }

    static let senderEnds = ConformanceCase(
        "C24d", "a command whose sender is killed before it was taken is not carried out",
        promises: [.promptDeathNotice]
    ) { context in
        try await context.withTestCluster { testCluster in
            let main = try await testCluster.owningMain()
            let sender = try await testCluster.executor("sender", apart: true)
            let other = try await testCluster.executor("window")
            try expect(try await main.tell("call ring ringing"), is: "written", "the call")
            try await sender.tell("send 1 hangUp ring 600000")
            try await eventually("the command waits") { try await commandCount(in: testCluster) == 1 }
            try await sender.kill()
            try await eventually("it is gone") {
                _ = try await testCluster.observer.sessions()
                return try await commandCount(in: testCluster) == 0
            }
            try await main.tell("obey ring accept")
            try await other.tell("send 1 answer ring 60000")
            try expect(try await other.tell("sent 1"), is: "done", "a command of another")
            try expect(try await main.tell("obeyed ring"), is: "answer", "all that was carried out")
        }
    }

    static let holderIsFrozen = ConformanceCase(
        "C24e", "a holder that is frozen takes no command, and carries out none later whose sender has given up"
    ) { context in
        try await context.withTestCluster { testCluster in
            let main = try await testCluster.owningMain(apart: true)
            let other = try await testCluster.executor("window", apart: true)
            try expect(try await main.tell("call ring ringing"), is: "written", "the call")
            try await main.tell("obey ring accept")
            try await main.freeze()
            try await other.tell("send 1 answer ring 100")
            try expect(try await other.tell("sent 1"), is: "failed timeout", "what its sender hears")
            try await main.thaw()
            try await other.tell("send 2 decline ring 60000")
            try expect(try await other.tell("sent 2"), is: "done", "a command to the one that was let go on")
            try expect(try await main.tell("obeyed ring"), is: "decline", "all that was carried out")
        }
    }

    /// Returns the number of entries about commands.
    private static func commandCount(in testCluster: TestCluster) async throws -> Int {
        try await testCluster.observer.list(".sharedcore/calls/command").entries.count
    }
}
