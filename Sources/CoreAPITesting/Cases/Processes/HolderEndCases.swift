internal import CoreAPI
internal import Platform

/// L1, L2, L3: entries that a process held do not outlive it.
enum HolderEndCases {
    static let all = [
        endFreesForAll, participantsShareAProcess, sessionsNameTheirProcess, newcomersDoNotBelieve, endsAreSeen,
    ]

    static let endFreesForAll = ConformanceCase(
        "L1f", "the end of a session removes what it held, in one revision, and watches deliver that (L3)",
        promises: [.multipleProcesses, .promptDeathNotice]
    ) { context in
        for end in HolderEnd.allCases {
            try await context.withGroup { group in
                let store = try await group.open()
                let recorder = try await WatchRecorder(store, of: ["owner"])
                let peer = try await group.join()
                try await peer.tell("hold owner/a peer")
                try await peer.tell("hold owner/b peer")
                try await eventually("the watch sees the holder") { recorder.mirror.entries.count == 2 }

                let child = try await end.happen(to: peer)
                defer { _ = try? child?.signal(.kill) }
                try await eventually("what one held that was \(end.rawValue) is gone", timeout: .seconds(10)) {
                    recorder.mirror.entries.isEmpty
                }
                let kinds = recorder.mirror.changes.filter { $0.new == nil }.map(\.kind)
                try expect(
                    kinds, is: [.sessionEnded, .sessionEnded], "the ends of what one held that was \(end.rawValue)")
                try expect(recorder.mirror.changedRevisions.count, is: 3, "the number of commits: both ends in one")
                try expect(recorder.mirror.breaches, is: [], "breaches of the watch's order")
                try expect(
                    try await store.sessions().map(\.id), is: [store.session.id], "who is left of one \(end.rawValue)")
                let taken = try await store.put("owner/a", [1], lifetime: .session, if: .absent("owner/a"))
                try expect(taken.changed, "another one takes what is free")
            }
        }
    }

    static let participantsShareAProcess = ConformanceCase(
        "L1g", "a participant that joins or leaves ends no other participant of its process, as another process sees",
        promises: [.multipleProcesses, .promptDeathNotice]
    ) { context in
        try await context.withGroup { group in
            let first = try await group.open()
            try await first.put("owner", text: "first", lifetime: .session)
            let peer = try await group.join()
            for round in 0..<3 {
                let guest = try await group.open()
                let seen = try await peer.tell("sessions").split(separator: " ").map(String.init)
                try expect(seen.count, is: 3, "the number of participants in round \(round), as another process sees")
                let present = try await first.sessions().map(\.id.description)
                try expect(seen.sorted(), is: present.sorted(), "the participants in round \(round)")
                await guest.close()
                let left = try await peer.tell("sessions").split(separator: " ")
                try expect(left.count, is: 2, "the number of participants when the guest has left")
                try expect(try await peer.tell("get owner"), is: "value first", "what lives with the one that stays")
            }
            try await first.put("owner", text: "still")
        }
    }

    static let sessionsNameTheirProcess = ConformanceCase(
        "L2b", "a session says which process it is of", promises: [.multipleProcesses]
    ) { context in
        try await context.withGroup { group in
            let store = try await group.open("m", role: .main)
            let peers = [try await group.join(), try await group.join()]
            let sessions = try await store.sessions()
            let pids = sessions.map(\.process.pid)
            try expect(pids.sorted(), is: ([OwnProcess.pid] + peers.map(\.pid)).sorted(), "the ids of the processes")
            try expect(Set(sessions.map(\.process)).count, is: 3, "the number of different processes")
            try expect(Set(sessions.map(\.process.bootID)).count, is: 1, "the number of runs of the machine")
            for session in sessions {
                let role: SessionRole = session.id == store.session.id ? .main : .executor
                try expect(session.role, is: role, "the role of process \(session.process)")
                let isOwn = session.process.pid == OwnProcess.pid
                try expect(isOwn, is: role == .main, "whether session \(session.id) is of this process")
            }
            for peer in peers {
                let seen = try await peer.tell("sessions").split(separator: " ").map(String.init).sorted()
                try expect(
                    seen, is: sessions.map(\.id.description).sorted(), "the participants for process \(peer.pid)")
            }
        }
    }

    static let newcomersDoNotBelieve = ConformanceCase(
        "L3b", "a participant that opens the group never reads a dead owner, also where no process saw its end",
        promises: [.multipleProcesses, .promptDeathNotice]
    ) { context in
        for end in HolderEnd.allCases {
            try await context.withGroup { group in
                let peer = try await group.join()
                try await peer.tell("hold owner peer")
                let child = try await end.happen(to: peer)
                defer { _ = try? child?.signal(.kill) }
                let store = try await group.open()
                try await store.catchUp()
                try expect(try await store.get("owner"), is: nil, "what one held that was \(end.rawValue)")
                try expect(
                    try await store.sessions().map(\.id), is: [store.session.id],
                    "who is there after one that was \(end.rawValue)")
            }
        }
    }

    static let endsAreSeen = ConformanceCase(
        "L3d", "after a list of sessions, not even causal reads show entries of a process that is dead",
        promises: [.multipleProcesses, .promptDeathNotice]
    ) { context in
        for (end, asksForAll) in HolderEnd.allCases.flatMap({ [($0, true), ($0, false)] }) {
            try await context.withGroup { group in
                let store = try await group.open()
                let peer = try await group.join()
                try await peer.tell("hold owner peer")
                try await store.catchUp()
                let both = Set(try await store.sessions().map(\.id))
                let held = try await store.list().entries.map(\.key)
                try expect(held, is: ["owner"], "what lives with one to be \(end.rawValue)")
                let child = try await end.happen(to: peer)
                defer { _ = try? child?.signal(.kill) }
                let present = try await (asksForAll ? store.sessions() : store.sessions(among: both)).map(\.id)
                let left = try await store.list(.all, consistency: .causal).entries.map(\.key)
                try expect(present, is: [store.session.id], "who is left of one \(end.rawValue)")
                try expect(left, is: [], "what is left of one \(end.rawValue)")
            }
        }
    }
}

/// The ways in which a process that holds an entry ends.
enum HolderEnd: String, CaseIterable {
    case closed = "closed"
    case killed = "killed"
    case killedAndNotWaitedFor = "killed and not waited for"
    case killedWithAChildLeft = "killed with a child left"

    /// Ends a peer in the way of this case.
    ///
    /// - Returns: The child that it has left. The caller must kill it.
    func happen(to peer: Peer) async throws -> ProcessHandle? {
        switch self {
        case .closed:
            try await peer.tell("close")
        case .killed:
            await peer.killNow()
        case .killedAndNotWaitedFor:
            try await peer.becomesZombie()
        case .killedWithAChildLeft:
            let number = try expectSome(Int32(try await peer.tell("child")), "the number of the child")
            // While its parent lives, the process id means this child.
            let child = try ProcessHandle(expectSome(ProcessIdentity(of: number), "the record of the child"))
            await peer.killNow()
            return child
        }
        return nil
    }
}
