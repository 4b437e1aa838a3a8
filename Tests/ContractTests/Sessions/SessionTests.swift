internal import CoreAPI
internal import CoreAPITesting
internal import TestSupport
internal import Testing

@Suite("L1, L2: sessions", .timeLimit(.minutes(10)))
struct SessionTests {
    @Test("L2: a session has an identity of its own, its process, a role and a name", arguments: Backend.all)
    func sessionsAreDescribed(backend: Backend) async throws {
        try await backend.withGroup { group in
            let main = try await group.open("the main one", role: .main)
            let executor = try await group.open("écouteur", role: .executor)
            let other = try await group.open("", role: SessionRole(rawValue: "observer"))
            let opened = [main, executor, other].map(\.session)
            #expect(opened.map(\.name) == ["the main one", "écouteur", ""])
            #expect(opened.map(\.role.rawValue) == ["main", "executor", "observer"])
            #expect(Set(opened.map(\.id)).count == 3)
            #expect(opened.map(\.id) == opened.map(\.id).sorted())
            #expect(Set(opened.map(\.process)).count == 1, "they belong to one process")
            #expect(opened.allSatisfy { $0.process.pid > 0 })
            for handle in [main, executor, other] {
                #expect(try await handle.sessions().sorted { $0.id < $1.id } == opened)
            }
        }
    }

    @Test("L1: a session ends when it is closed: once, for everybody, never to be used again", arguments: Backend.all)
    func closedSessionsAreGone(backend: Backend) async throws {
        try await backend.withGroup { group in
            let witness = try await group.open()
            var ids: Set<SessionID> = [witness.session.id]
            for _ in 0..<20 {
                let guest = try await group.open()
                let isNew = ids.insert(guest.session.id).inserted
                #expect(isNew)
                #expect(try await witness.sessions().count == 2)
                await guest.close()
                #expect(try await witness.sessions().map(\.id) == [witness.session.id])
            }
        }
    }

    @Test("L1: letting go of the last reference ends the session", arguments: Backend.all)
    func lettingGoEndsTheSession(backend: Backend) async throws {
        try await backend.withGroup { group in
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
            #expect(try await witness.get("guest") == nil)
            try await recorder.reaches(try await witness.list().revision)
            #expect(recorder.mirror.changes.map(\.kind) == [.put, .sessionEnded])
            await witness.close()
        }
    }

    @Test("L1: 50 participants come and go at once; each sees itself, and nothing is left", arguments: Backend.all)
    func manyComeAndGo(backend: Backend) async throws {
        try await backend.withGroup { group in
            let witness = try await group.open()
            let ids = try await together(50) { number in
                let guest = try await group.open("guest \(number)")
                try await guest.put(Key("guest/\(number)"), [1], lifetime: .session)
                #expect(try await guest.sessions().contains { $0.id == guest.session.id })
                await guest.close()
                return guest.session.id
            }
            #expect(Set(ids).count == 50)
            #expect(try await witness.sessions().map(\.id) == [witness.session.id])
            #expect(try await witness.list().entries == [])
        }
    }
}
