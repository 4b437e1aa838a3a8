import CoreAPI
import InMemoryBackend
import Lifecycle
import TestSupport
import Testing

/// The applications' states in the group.
struct ApplicationStatesTests {
    private func open(_ space: MemorySpace, _ name: String) async throws -> MemoryGroup {
        try await space.open("group", as: SessionDescription(role: .main, name: name))
    }

    @Test("P1: what one process says, everybody reads")
    func set() async throws {
        let space = MemorySpace()
        let (one, two) = (try await open(space, "one"), try await open(space, "two"))
        #expect(try await ApplicationStates(two).all().applications.isEmpty)
        for state in ApplicationState.allCases {
            let revision = try await ApplicationStates(one).set(state)
            let overview = try await ApplicationStates(two).all()
            #expect(overview[one.session.id] == state)
            #expect(overview.applications.map(\.revision) == [revision])
            #expect(overview.isAnyInForeground == (state == .foreground))
        }
        try await ApplicationStates(two).set(.foreground)
        let both = try await ApplicationStates(one).all()
        #expect(both.applications.map(\.state) == [.suspended, .foreground])
        #expect(both.isAnyInForeground)
    }

    @Test("P1: what a process has said is gone with its session, or when it takes it back")
    func gone() async throws {
        let space = MemorySpace()
        let (one, two) = (try await open(space, "one"), try await open(space, "two"))
        try await ApplicationStates(one).set(.foreground)
        try await ApplicationStates(two).set(.background)
        await one.close()
        #expect(try await ApplicationStates(two).all().applications.map(\.session) == [two.session.id])
        try await ApplicationStates(two).clear()
        #expect(try await ApplicationStates(two).all().applications.isEmpty)
    }

    @Test("P1: a watch tells how everybody stands, now and after every change")
    func watch() async throws {
        let space = MemorySpace()
        let (one, two) = (try await open(space, "one"), try await open(space, "two"))
        try await ApplicationStates(one).set(.foreground)
        let watch = try await ApplicationStates(two).watch()
        var overviews = watch.makeAsyncIterator()
        #expect(try await overviews.next()?[one.session.id] == .foreground)
        try await ApplicationStates(one).set(.background)
        #expect(try await overviews.next()?[one.session.id] == .background)
        try await one.put("unrelated", [1])
        try await ApplicationStates(two).set(.foreground)
        #expect(try await overviews.next()?.applications.map(\.state) == [.background, .foreground])
        await one.close()
        #expect(try await overviews.next()?.applications.map(\.session) == [two.session.id])
        watch.cancel()
        #expect(try await overviews.next() == nil)
    }

    @Test("P2: a Host says it for a process, until that one says it itself")
    func saidByAnother() async throws {
        let space = MemorySpace()
        let (host, one) = (try await open(space, "host"), try await open(space, "one"))
        try await ApplicationStates(host).set(.background, of: one.session.id)
        var statement = try #require(try await ApplicationStates(one).all().applications.first)
        #expect(statement.session == one.session.id && statement.state == .background && !statement.isOwn)
        try await ApplicationStates(one).set(.foreground)
        await host.close()
        statement = try #require(try await ApplicationStates(one).all().applications.first)
        #expect(statement.state == .foreground && statement.isOwn)
    }

    @Test("P2: what a Host has said for a process is gone with that process's session")
    func saidByAnotherIsGone() async throws {
        let space = MemorySpace()
        let (host, one, two) = (
            try await open(space, "host"), try await open(space, "one"), try await open(space, "two")
        )
        let states = ApplicationStates(host)
        try await states.set(.foreground, of: one.session.id)
        try await states.set(.background, of: two.session.id)
        let watch = try await states.watch()
        var overviews = watch.makeAsyncIterator()
        #expect(try await overviews.next()?.applications.count == 2)
        await one.close()
        #expect(try await states.all().applications.map(\.session) == [two.session.id])
        #expect(try await states.set(.background, of: one.session.id) == nil)
        try await states.set(.suspended, of: two.session.id)
        #expect(try await overviews.next()?.applications.map(\.state) == [.suspended])
        #expect(try await host.list(".sharedcore/application-states/").entries.count == 1, "nothing piles up")
        await host.close()
    }

    @Test(
        "E2: what nobody understands is passed over",
        arguments: [[], [0xff, 0xfe], Array("dormant".utf8)] as [[UInt8]])
    func foreign(value: [UInt8]) async throws {
        let space = MemorySpace()
        let (one, two) = (try await open(space, "one"), try await open(space, "two"))
        try await one.put(
            Key(".sharedcore/application-states/\(one.session.id)"), value, lifetime: .session)
        try await ApplicationStates(two).set(.background)
        #expect(try await ApplicationStates(two).all().applications.map(\.state) == [.background])
    }
}
