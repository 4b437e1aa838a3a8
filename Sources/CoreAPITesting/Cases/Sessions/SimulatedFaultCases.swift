internal import CoreAPI

/// L1, L3, S15: deaths and stops of participants as a harness simulates them in one process, so that the modules above
/// can be tested without processes. They follow the rules of real deaths and stops.
enum SimulatedFaultCases {
    static let all = [stoppedParticipants, killedParticipants, killedWhileStopped]

    static let stoppedParticipants = ConformanceCase(
        "S15a", "a stopped participant holds up no other, and sees the last state when it continues (N9)",
        promises: [.stoppedWritersTolerated]
    ) { context in
        try await context.withGroup { group in
            let stopped = try await group.open()
            let other = try await group.open()
            let recorder = try await WatchRecorder(stopped)
            let observer = ObservationRecorder(try await stopped.observe("news"))
            try await group.stop(stopped)
            let call = Task { try await stopped.put("mine", [1]) }

            let last = try await withTimeout(TestTimeout.usual, "the others go on") {
                var last = Revision.zero
                for round in 0..<200 as Range<UInt64> {
                    last = try await other.put("k", [UInt8(round)]).revision
                    try await other.post("news", state: round)
                }
                return last
            }
            try await other.catchUp()
            try expect(observer.count, is: 0, "how many posts the stopped one was delivered")
            try expect(recorder.mirror.changes.isEmpty, "the stopped one is delivered no change")
            try expect(try await other.get("mine"), is: nil, "what the stopped one was to write")
            try expect(try await other.sessions().count, is: 2, "the number of participants: it is stopped, not dead")

            try await group.continue(stopped)
            let own = try await withTimeout(TestTimeout.usual, "the stopped call ends") { try await call.value }
            try expect(own.revision > last, "the call takes effect after what the others did meanwhile")
            try await observer.reaches(200)
            try expect(observer.count, is: 200, "how many posts it was delivered")
            try expect(observer.deliveries.last?.state, is: 199, "the last state that it was delivered")
            try await recorder.reaches(own.revision)
            try expect(recorder.mirror.changedRevisions.count, is: 201, "how many commits it was delivered")
            try expect(recorder.mirror.breaches, is: [], "breaches of the watch's order")
        }
    }

    static let killedParticipants = ConformanceCase(
        "L1d", "a killed participant's session ends for all; nothing more of it takes effect (S12, W4)",
        promises: [.promptDeathNotice]
    ) { context in
        try await context.withGroup { group in
            let victim = try await group.open()
            let witness = try await group.open()
            let recorder = try await WatchRecorder(witness)
            try await victim.put("mine/a", [1], lifetime: .session)
            try await victim.put("mine/b", [1], lifetime: .session)
            try await victim.put("kept", [1])
            let numbered = Transaction(operations: [.post("count", state: nil)], requestNumber: 1)
            _ = try await victim.commit(numbered)
            let watch = try await victim.watch(.all, from: .now)
            let observation = try await victim.observe("news")
            let waiting = Task { try await code { try await watch.next() } }
            let idle = Task { try await code { try await observation.next() } }

            try await group.kill(victim)
            let calls: [(String, @Sendable () async throws -> Void)] = [
                ("get", { _ = try await victim.get("kept") }), ("list", { _ = try await victim.list() }),
                ("put", { _ = try await victim.put("kept", [2]) }),
                ("a numbered request", { _ = try await victim.commit(numbered) }),
                ("watch", { _ = try await victim.watch() }), ("observe", { _ = try await victim.observe("news") }),
                ("post", { _ = try await victim.post("news") }), ("sync", { try await victim.sync() }),
                ("sessions", { _ = try await victim.sessions() }),
                ("state", { _ = try await victim.state(of: "news") }),
            ]
            for (name, call) in calls { try await expect(.sessionEnded, from: "\(name) of the dead", call) }
            let watchEnd = try await withTimeout(TestTimeout.usual, "the watch ends") { try await waiting.value }
            try expect(watchEnd, is: .sessionEnded, "how the watch of the dead ends")
            let observationEnd = try await withTimeout(TestTimeout.usual, "the observation ends") {
                try await idle.value
            }
            try expect(observationEnd, is: .sessionEnded, "how the observation of the dead ends")

            try await witness.catchUp()
            try expect(try await witness.sessions().map(\.id), is: [witness.session.id], "who is left")
            try expect(try await witness.list().entries.map(\.key), is: ["kept"], "the keys that are left")
            try expect(try await witness.get("kept")?.value, is: [1], "what the dead wrote before")
            try expect(try await witness.state(of: "count").count, is: 1, "how often the numbered request was applied")
            try await recorder.reaches(try await witness.put("end", [1]).revision)
            let kinds = recorder.mirror.changes.filter { $0.key != "end" }.map(\.kind)
            try expect(kinds, is: [.put, .put, .put, .sessionEnded, .sessionEnded], "the changes that were delivered")
            try expect(recorder.mirror.changedRevisions.count, is: 5, "what it held goes in one revision")
            try expect(recorder.mirror.breaches, is: [], "breaches of the watch's order")
        }
    }

    static let killedWhileStopped = ConformanceCase(
        "L3a", "a participant that is killed while it is stopped does nothing any more", promises: [.promptDeathNotice]
    ) { context in
        try await context.withGroup { group in
            let victim = try await group.open()
            let witness = try await group.open()
            try await group.stop(victim)
            let call = Task { try await code { try await victim.put("mine", [1]) } }
            let closing = Task { await victim.close() }
            try await group.kill(victim)
            let outcome = try await withTimeout(TestTimeout.usual, "the call of the dead ends") { try await call.value }
            try expect(outcome == .sessionEnded || outcome == .closed, "the call of the dead is refused")
            try await withTimeout(TestTimeout.usual, "the closing of the dead ends") { await closing.value }
            try await witness.catchUp()
            try expect(try await witness.get("mine"), is: nil, "what the dead was to write")
            try expect(try await witness.sessions().map(\.id), is: [witness.session.id], "who is left")
        }
    }
}
