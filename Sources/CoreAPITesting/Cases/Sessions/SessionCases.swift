internal import CoreAPI
internal import Platform

/// L1, L2: sessions.
enum SessionCases {
    static let all = [
        closedSessionsAreGone, lettingGoEndsTheSession, manyComeAndGo, sessionsAreDescribed, endsAreSeen, leaseIsTold,
    ]

    static let leaseIsTold = ConformanceCase(
        "L5a",
        "where a death is noticed by a lease, its holder is told until when its session stands, and answers move that"
    ) { context in
        try await context.withGroup { group in
            let store = try await group.open()
            guard let opened = store.lease else {
                try expect(
                    store.capabilities.features.contains(.promptDeathNotice),
                    "without a lease, a death is noticed at once (promptDeathNotice)")
                return
            }
            let clock = SystemClock()
            try expect(opened.duration > .zero && opened.confirmedAt <= clock.now(), "the lease \(opened) has begun")
            for round in 0..<5 {
                let before = clock.now()
                try await store.sync()
                try await eventually("the answer \(round) has moved the end") {
                    store.lease.map { $0.confirmedAt >= before && $0.confirmedAt <= clock.now() } ?? false
                }
            }
            await store.close()
        }
    }

    static let closedSessionsAreGone = ConformanceCase(
        "L1a", "a session ends when it is closed: once, for all processes, and its identity is not used again"
    ) { context in
        try await context.withGroup { group in
            let witness = try await group.open()
            let recorder = try await WatchRecorder(witness)
            var ids: Set<SessionID> = [witness.session.id]
            for round in 0..<20 {
                let guest = try await group.open()
                let isNew = ids.insert(guest.session.id).inserted
                try expect(isNew, "the session \(guest.session.id) has an identity that no other had")
                try expect(
                    Set(try await witness.sessions().map(\.id)), is: [witness.session.id, guest.session.id],
                    "the participants in round \(round)")
                let among = try await witness.sessions(among: [guest.session.id, SessionID(rawValue: .max)])
                try expect(among.map(\.id), is: [guest.session.id], "those asked for in round \(round)")
                try await guest.put("guest", [1], lifetime: .session)
                await guest.close()
                await guest.close()
                let left = try await witness.sessions(among: [guest.session.id])
                try expect(left, is: [], "those asked for when the guest has left in round \(round)")
                try expect(
                    try await witness.sessions().map(\.id), is: [witness.session.id], "who is left in round \(round)")
                try await witness.catchUp()
                try expect(try await witness.get("guest"), is: nil, "what lived with the guest")
            }
            try await recorder.reaches(try await witness.put("end", [1]).revision)
            let kinds = recorder.mirror.changes.filter { $0.key == "guest" }.map(\.kind)
            let expected = (0..<20).flatMap { _ in [Change.Kind.put, .sessionEnded] }
            try expect(kinds, is: expected, "the changes of what lived with the guests")
            try expect(recorder.mirror.breaches, is: [], "breaches of the watch's order")
        }
    }

    static let lettingGoEndsTheSession = ConformanceCase(
        "L1b", "releasing the last reference to a handle ends its session"
    ) { context in
        try await context.withGroup { group in
            // This case has the only reference to this handle, as to that of the guest.
            let witness = try await group.open()
            let recorder = try await WatchRecorder(witness)
            do {
                let guest = try await group.open()
                try await guest.put("guest", [1], lifetime: .session)
                group.letGo()
            }
            try await eventually("the guest's session ends") {
                try await witness.sessions().map(\.id) == [witness.session.id]
            }
            try await witness.catchUp()
            try expect(try await witness.get("guest"), is: nil, "what lived with the guest")
            try await recorder.reaches(try await witness.put("end", [1]).revision)
            let kinds = recorder.mirror.changes.filter { $0.key == "guest" }.map(\.kind)
            try expect(kinds, is: [.put, .sessionEnded], "the changes of what lived with the guest")
            await witness.close()
        }
    }

    static let manyComeAndGo = ConformanceCase(
        "L1c", "50 participants come and go at once; each sees itself, and nothing is left"
    ) { context in
        try await context.withGroup { group in
            let witness = try await group.open()
            let ids = try await together(50) { number in
                let guest = try await group.open("guest \(number)")
                try await guest.put(Key("guest/\(number)"), [1], lifetime: .session)
                let seesItself = try await guest.sessions().contains { $0.id == guest.session.id }
                try expect(seesItself, "guest \(number) is among the participants")
                await guest.close()
                return guest.session.id
            }
            try expect(Set(ids).count, is: 50, "the number of different sessions")
            try await witness.catchUp()
            try expect(try await witness.sessions().map(\.id), is: [witness.session.id], "who is left")
            try expect(try await witness.list().entries, is: [], "what is left")
        }
    }

    static let sessionsAreDescribed = ConformanceCase(
        "L2a", "a session has an identity of its own, its process, a role and a name"
    ) { context in
        try await context.withGroup { group in
            let main = try await group.open("the main one", role: .main)
            let executor = try await group.open("écouteur", role: .executor)
            let other = try await group.open("", role: SessionRole(rawValue: "observer"))
            let opened = [main, executor, other].map(\.session)
            try expect(opened.map(\.name), is: ["the main one", "écouteur", ""], "their names")
            try expect(opened.map(\.role.rawValue), is: ["main", "executor", "observer"], "their roles")
            try expect(Set(opened.map(\.id)).count, is: 3, "the number of different sessions")
            try expect(Set(opened.map(\.process)).count, is: 1, "the number of different processes")
            try expect(
                opened.map(\.process.pid), is: [OwnProcess.pid, OwnProcess.pid, OwnProcess.pid],
                "the ids of their process")
            for handle in [main, executor, other] {
                let seen = try await handle.sessions().sorted { $0.id < $1.id }
                try expect(seen, is: opened.sorted { $0.id < $1.id }, "the participants for “\(handle.session.name)”")
            }
        }
    }

    static let endsAreSeen = ConformanceCase(
        "L3c", "after a list of sessions, not even causal reads show entries of a session that has ended"
    ) { context in
        try await context.withGroup { group in
            let witness = try await group.open()
            for round in 0..<20 {
                let guest = try await group.open()
                try await guest.put("guest/a", [1], lifetime: .session)
                try await witness.catchUp()
                let held = try await witness.list("guest").entries.map(\.key)
                try expect(held, is: ["guest/a"], "what lives with the guest of round \(round)")
                await guest.close()
                let present = try await witness.sessions().map(\.id)
                let left = try await witness.list("guest", consistency: .causal).entries.map(\.key)
                try expect(present, is: [witness.session.id], "who is left in round \(round)")
                try expect(left, is: [], "what is left in round \(round)")
            }
        }
    }
}
