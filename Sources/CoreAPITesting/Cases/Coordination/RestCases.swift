internal import Coordination
internal import CoreAPI

/// C26: a Main that rests.
enum RestCases {
    static let all = [
        callWakes, killedMainIsReleasedFor, frozenMainIsGivenUp, killedHolderIsFollowedByMain, ownershipIsTakenOver,
        frozenHolderHoldsUpNoCall, reasonsToBeAwake,
    ]

    /// Runs a scenario with a Main at rest, if sessions have no lease.
    private static func withSleeper(
        _ context: CaseContext, superseded: Int? = nil, wake: String = "", apart isApart: Bool = true,
        _ body: (_ testCluster: TestCluster, _ main: TestParticipant, _ holder: TestParticipant, _ epoch: Revision)
            async throws -> Void
    ) async throws {
        try await context.withTestCluster(superseded: superseded) { testCluster in
            if testCluster.observer.lease != nil {
                throw HarnessLimitation("a process that sleeps cannot renew its lease, so no Main rests")
            }
            let holder = try await testCluster.holder(wake, apart: isApart)
            let main = try await testCluster.owningMain("main", wake, apart: isApart)
            let epoch = try expectSome(try await testCluster.owner()?.epoch, "the epoch of Main")
            try await eventually("Main rests") { try await main.tell("rest") == "rests" }
            try expect(try await main.tell("asleep"), is: "true", "whether Main rests")
            let owner = try expectSome(try await testCluster.owner(), "the owner at rest")
            try expect(owner.epoch, is: epoch, "the epoch at rest")
            try expect(owner.session.description, is: try await holder.tell("session"), "the session that owns at rest")
            try expect(owner.name, is: "main", "the name of the owner at rest")
            try await body(testCluster, main, holder, epoch)
        }
    }

    /// Waits until the Main of a name owns for itself.
    private static func ownsForItself(_ main: TestParticipant, in testCluster: TestCluster) async throws {
        let session = try await main.tell("session")
        try await eventually("Main owns for itself") {
            let owner = try await testCluster.owner()
            return owner?.session.description == session && owner?.state == .running
        }
    }

    static let callWakes = ConformanceCase(
        "C26a", "a Main that rests stays the owner under its epoch; a call wakes it, and its quiet core serves it"
    ) { context in
        try await withSleeper(context) { testCluster, main, _, epoch in
            try testCluster.receive("call-1")
            let executor = try await testCluster.executor()
            try await executor.ask("call-1")
            try expect(try await executor.answer(), is: TestCluster.answer("call-1", from: .inbox), "the call")
            try await ownsForItself(main, in: testCluster)
            try expect(try await main.tell("epoch"), is: epoch.description, "the epoch after the rest")
            try expect(try await main.tell("woken"), is: "rest call", "what its core was told")
            try expect(try await testCluster.coreStarts(), is: 1, "the cores that have started")
            let kinds = try await testCluster.entries().map(\.kind).filter { [.rested, .woken, .resumed].contains($0) }
            try expect(kinds, is: [.rested, .woken, .resumed], "what the timeline tells")
            try expect(try await main.tell("rest"), is: "rests", "a second rest")
            try expect(try await main.tell("resume"), is: "resumed", "its end by Main itself")
            try expect(try await main.tell("epoch"), is: epoch.description, "the epoch after it")
        }
    }

    static let killedMainIsReleasedFor = ConformanceCase(
        "C26b", "the holder releases for a Main that is killed at rest, and the next Main owns (L1)",
        promises: [.promptDeathNotice]
    ) { context in
        try await withSleeper(context) { testCluster, main, _, _ in
            try await main.kill()
            try await eventually("the holder has released") { try await testCluster.owner() == nil }
            let released = try await testCluster.entries().last { $0.kind == .released }
            try expect(released?.reason, is: "Main ended while it rested", "why it was released")
            let executor = try await testCluster.executor()
            try await executor.ask("call-1")
            try testCluster.receive("call-1")
            try expect(try await executor.answer(), is: TestCluster.answer("call-1", from: .core), "the call")
        }
    }

    static let frozenMainIsGivenUp = ConformanceCase(
        "C26c", "a Main that is stopped at rest loses its core when it is needed and does not resume in `wake.bound`"
    ) { context in
        try await withSleeper(context, superseded: 1, wake: "wake=1000") { testCluster, main, _, epoch in
            try await main.freeze()
            try expect(try await testCluster.owner()?.epoch, is: epoch, "the epoch while no process needs Main")
            let executor = try await testCluster.executor("executor", "wake=1000")
            try await executor.ask("call-1")
            try testCluster.receive("call-1")
            try expect(try await executor.answer(), is: TestCluster.answer("call-1", from: .core), "the call")
            let entries = try await testCluster.entries()
            let woken = try expectSome(entries.first { $0.kind == .woken }, "the wake")
            let givenUp = try expectSome(entries.first { $0.kind == .coreGivenUp }, "the end of the rest")
            let time = woken.at.duration(to: givenUp.at)
            try expect(time >= .seconds(1), "Main had 1 s to resume: \(time)")
            try expect(entries.contains { $0.kind == .killed }, is: false, "whether one was killed")
            try await eventually("the witness has seen Main's quiet core") {
                try await testCluster.entries().contains { $0.kind == .supersededOverlap }
            }
            try await main.thaw()
            try await eventually("Main's core has stopped") { try await main.tell("stopped") == "superseded" }
        }
    }

    static let killedHolderIsFollowedByMain = ConformanceCase(
        "C26d", "a Main whose holder is killed owns anew: its quiet core stops before the next one starts (C1)",
        promises: [.promptDeathNotice]
    ) { context in
        try await withSleeper(context) { testCluster, main, holder, epoch in
            try await holder.kill()
            try await ownsForItself(main, in: testCluster)
            let anew = try expectSome(try await testCluster.owner()?.epoch, "the epoch after the holder's end")
            try expect(anew > epoch, "the epoch is another one")
            try expect(try await main.tell("stopped"), is: "superseded", "why the quiet core was stopped")
            try expect(try await main.tell("woken"), is: "rest", "what the quiet core was told before")
        }
    }

    static let ownershipIsTakenOver = ConformanceCase(
        "C26e", "a second Main wakes one that rests and is refused by it; one that takes over gets the core (C14)"
    ) { context in
        try await withSleeper(context) { testCluster, main, _, epoch in
            let second = try await testCluster.main("second")
            try expect(try await second.start(), is: "failed refused", "the start of a second Main")
            try expect(try await main.tell("epoch"), is: epoch.description, "the epoch of the first")
            try await eventually("Main rests again") { try await main.tell("rest") == "rests" }
            try await second.tell("takeOver")
            try expect(try await second.tell("started").hasPrefix("owns"), "the second Main takes over")
            try expect(try await main.tell("ended"), is: "superseded", "the end of the first")
            try expect(try await main.tell("stopped"), is: "handover", "why its core was stopped")
        }
    }

    static let frozenHolderHoldsUpNoCall = ConformanceCase(
        "C26f", "a holder that is stopped holds up no call: the process that waits wakes Main itself (C6)"
    ) { context in
        try await withSleeper(context) { testCluster, main, holder, epoch in
            try await holder.freeze()
            let executor = try await testCluster.executor("executor", "answer=500")
            try await executor.ask("call-1")
            try testCluster.receive("call-1")
            try expect(try await executor.answer(), is: TestCluster.answer("call-1", from: .inbox), "the call")
            try expect(try await main.tell("epoch"), is: epoch.description, "the epoch of Main")
            try await holder.thaw()
        }
    }

    static let reasonsToBeAwake = ConformanceCase(
        "C26g", "a Main does not rest without a holder, in an activity or while a call waits; its core goes on (C17)"
    ) { context in
        try await withSleeper(context, apart: false) { testCluster, main, holder, epoch in
            try await holder.tell("leave")
            try await ownsForItself(main, in: testCluster)
            // The core may still be resuming from the last rest, so try again.
            try await eventually("a rest without a holder is unavailable") {
                try await main.tell("rest") == "failed unavailable"
            }
            let next = try await testCluster.holder()
            try expect(try await main.tell("begin 60000 work"), is: "written", "the beginning of an activity")
            try await eventually("an open activity refuses the rest") {
                try await main.tell("rest") == "failed refused"
            }
            try expect(try await main.tell("end work"), is: "written", "the end of the activity")
            let executor = try await testCluster.executor()
            try await executor.ask("call-1")
            try await testCluster.waits(1)
            try await eventually("a call that waits refuses the rest") {
                try await main.tell("rest") == "failed refused"
            }
            try testCluster.receive("call-1")
            try expect(try await executor.answer(), is: TestCluster.answer("call-1", from: .inbox), "the call")
            try expect(try await main.tell("epoch"), is: epoch.description, "the epoch of Main")
            try expect(try await next.tell("holding"), is: "false", "whether the holder owns")
        }
    }
}
