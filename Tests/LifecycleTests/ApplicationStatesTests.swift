import CoreAPI
import CoreAPITesting
import InMemoryBackend
import Lifecycle
import TestSupport
import Testing

/// The applications' states in the group.
struct ApplicationStatesTests {
    private func open(_ space: MemorySpace, _ name: String) async throws -> MemoryGroup {
        try await space.open("group", as: SessionDescription(role: .main, name: name))
    }

    @Test("P1: a level that one process sets is read by all processes")
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

    @Test("P1: a watch tells the state of every application, now and after every change")
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

    @Test("P2: what a process says itself is not overwritten, not even in between")
    func ownWordCounts() async throws {
        let space = MemorySpace()
        let (host, one) = (try await open(space, "host"), try await open(space, "one"))
        let (statesOfHost, statesOfOne) = (ApplicationStates(host), ApplicationStates(one))
        try await statesOfOne.set(.foreground)
        var error = await #expect(throws: SharedCoreError.self) {
            try await statesOfHost.set(.background, of: one.session.id)
        }
        #expect(error?.code == .guardFailed && error?.guardFailure?.found?.origin == one.session.id)
        #expect(try await statesOfHost.all()[one.session.id] == .foreground)

        try await statesOfOne.clear()
        try await statesOfHost.set(.background, of: one.session.id)
        #expect(try await statesOfHost.all()[one.session.id] == .background)

        for hasSpoken in [true, false] {
            // The application publishes its state between the Host's read and the Host's commit.
            if !hasSpoken { try await statesOfOne.clear() }
            let states = ApplicationStates(
                InterposedStore(host, once: { () throws(SharedCoreError) in try await statesOfOne.set(.foreground) }))
            error = await #expect(throws: SharedCoreError.self) {
                try await states.set(.suspended, of: one.session.id)
            }
            #expect(error?.code == .guardFailed)
            #expect(try await statesOfHost.all()[one.session.id] == .foreground)
            try await statesOfOne.clear()
            try await statesOfHost.set(.background, of: one.session.id)
        }
    }

    @Test("P2: what two Hosts say at once counts in one order")
    func twoHosts() async throws {
        let space = MemorySpace()
        let (host, other) = (try await open(space, "host"), try await open(space, "other"))
        let one = try await open(space, "one")
        let states = ApplicationStates(
            InterposedStore(
                host,
                once: { () throws(SharedCoreError) in
                    try await ApplicationStates(other).set(.foreground, of: one.session.id)
                }))
        #expect(try await states.set(.background, of: one.session.id) != nil)
        #expect(try await ApplicationStates(one).all()[one.session.id] == .background)
    }

    @Test("P2: a process that opens and says how it stands while a Host speaks for another loses nothing")
    func opensInBetween() async throws {
        let space = MemorySpace()
        let (host, one) = (try await open(space, "host"), try await open(space, "one"))
        let late = Box<MemoryGroup?>(nil)
        let act: @Sendable () async -> Void = {
            guard late.value == nil, let opened = try? await open(space, "late") else { return }
            late.update { $0 = opened }
            _ = try? await ApplicationStates(opened).set(.foreground)
        }
        // Either of the two may be the one that a Host reads first.
        let store = InterposedStore(host, afterList: { _, _ in await act() }, afterSessions: act)
        try await ApplicationStates(store).set(.background, of: one.session.id)
        let opened = try #require(late.value)
        let overview = try await ApplicationStates(one).all()
        #expect(overview[opened.session.id] == .foreground && overview[one.session.id] == .background)
    }

    @Test("P2: what was said for one that is gone is removed as it was seen, or looked at again")
    func saidAnew() async throws {
        let space = MemorySpace()
        let (host, one, two) = (
            try await open(space, "host"), try await open(space, "one"), try await open(space, "two")
        )
        try await ApplicationStates(host).set(.background, of: two.session.id)
        await two.close()
        let key = try Key(".sharedcore/application-states/\(two.session.id)")
        let count = Box(0)
        let states = ApplicationStates(
            InterposedStore(
                host,
                beforeCommit: { transaction throws(SharedCoreError) in
                    let isFirst = count.update { count in
                        count += 1
                        return count == 1
                    }
                    if isFirst { try await one.put(key, Array("foreground".utf8)) }
                    return transaction
                }))
        try await states.set(.background, of: one.session.id)
        #expect(count.value == 2, "it looks again")
        #expect(try await host.list(".sharedcore/application-states/").entries.count == 1)
    }

    @Test("P2: for itself, a process speaks itself")
    func ofItself() async throws {
        let space = MemorySpace()
        let (one, two) = (try await open(space, "one"), try await open(space, "two"))
        try await ApplicationStates(one).set(.foreground, of: one.session.id)
        #expect(try await ApplicationStates(two).all().applications.first?.isOwn == true)
        await one.close()
        #expect(try await two.list(".sharedcore/application-states/").entries.isEmpty)
    }

    @Test(
        "E2: what cannot be understood is passed over",
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
