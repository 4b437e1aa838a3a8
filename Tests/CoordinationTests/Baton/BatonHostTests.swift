import Coordination
import CoreAPI
import CoreAPITesting
import FileNotifyBackend
import Glibc
import Platform
import TestSupport
import Testing

/// The host as the second keeper of a baton (contract C25).
extension BatonProcessTests {
    /// In milliseconds. An Executor would take the call back from a Main that is frozen for longer.
    private static let untilThawed = 120_000

    private func host(at place: String? = nil) async throws -> ChildProcess {
        let host = try ChildProcess(
            try ChildProcess.built("sharedcore-test-peer"), ["batonHost", group],
            environment: ["XDG_RUNTIME_DIR": directory.path(of: "run"), "SHAREDCORE_FAIL_POINT": place], input: true)
        try await until("keeps", of: host)
        return host
    }

    private func untilFree(_ host: ChildProcess, _ socket: String) async throws {
        try await eventually("the host has closed the baton: \(descriptors(of: host))") {
            descriptorsOfCall(of: host, socket).isEmpty
        }
    }

    private func keeperCount() async throws -> Int? {
        let store = try await observer()
        let count = try await store.get(OwnershipKey.baton).map { BatonRecord(bytes: $0.value).keepers.count }
        await store.close()
        return count
    }

    private func close(_ children: ChildProcess...) async throws {
        for child in children {
            try child.send("close")
            #expect(await child.end() == .exited(0))
        }
    }

    @Test("C25: the host keeps a baton that moves, and closes it when an owner has applied it")
    func hostForgets() async throws {
        let host = try await host()
        let (executor, socket) = try await busyExecutor(answerBound: Self.untilThawed)
        let main = try start("main", "B", at: "baton.taken:stop")
        try await eventually("Main is frozen") { main.isStopped }
        #expect(try await keeperCount() == 2)
        #expect(descriptorsOfCall(of: host, socket).count == 2)
        main.signal(.continue)
        try await until("goes on", of: main)
        try await until("hears applied", of: executor)
        try await untilFree(host, socket)
        try expectNoSecrets()
        try await close(main, executor, host)
        #expect(line.received().filter { $0 == "BYE" }.count == 1)
    }

    @Test(
        "C25: the old owner is killed before Main has the baton: the call goes on from the host",
        arguments: ["baton.taken", "baton.prepared"])
    func oldOwnerIsKilled(place: String) async throws {
        let host = try await host()
        let (executor, socket) = try await busyExecutor(answerBound: Self.untilThawed)
        let main = try start("main", "B", at: "\(place):stop")
        try await eventually("Main is frozen") { main.isStopped }
        await executor.killNow()
        main.signal(.continue)
        try await until("goes on", of: main)
        #expect(try await calls().map(\.state) == [.answered])
        #expect(try await calls().map(\.holder?.name) == ["B"])
        try await untilFree(host, socket)
        #expect(descriptorsOfCall(of: main, socket) == ["socket:[\(socket)]"])
        try expectNoSecrets()
        try await close(main, host)
        #expect(try await told().filter { $0.kind == .batonApplied }.count == 1)
        #expect(line.received().filter { $0 == "BYE" }.count == 1)
    }

    @Test("C25: the old owner is killed when it has offered: Main gets the call from the host")
    func oldOwnerIsKilledAtOffer() async throws {
        let host = try await host()
        let (executor, socket) = try await busyExecutor(at: "baton.offered:kill")
        let main = try start("main", "B")
        #expect(await executor.end() == .killed(by: SIGKILL))
        try await until("goes on", of: main)
        #expect(try await calls().map(\.state) == [.answered])
        try await untilFree(host, socket)
        try expectNoSecrets()
        try await close(main, host)
        #expect(line.received().filter { $0 == "BYE" }.count == 1)
    }

    @Test("C25: the old owner is frozen when it has offered: Main gets the call from the host")
    func oldOwnerIsFrozen() async throws {
        let host = try await host()
        let (executor, socket) = try await busyExecutor(at: "baton.offered:stop")
        let main = try start("main", "B")
        try await eventually("it is frozen") { executor.isStopped }
        try await until("goes on", of: main)
        executor.signal(.continue)
        try await until("hears applied", of: executor)
        try await untilFree(host, socket)
        #expect(descriptorsOfCall(of: executor, socket).isEmpty)
        try await close(main, executor, host)
        #expect(line.received().filter { $0 == "BYE" }.count == 1)
    }

    @Test("C25: old owner and Main are killed: the next owner gets the call from the host")
    func bothAreKilled() async throws {
        let host = try await host()
        let (executor, socket) = try await busyExecutor(answerBound: Self.untilThawed)
        let main = try start("main", "B", at: "baton.prepared:stop")
        try await eventually("Main is frozen") { main.isStopped }
        await executor.killNow()
        await main.killNow()
        let next = try start("main", "C")
        try await until("goes on", of: next)
        try await untilFree(host, socket)
        try await close(next, host)
        #expect(try await told().filter { $0.kind == .batonApplied }.count == 1)
        #expect(line.received().filter { $0 == "BYE" }.count == 1)
    }

    @Test(
        "C25: a host that dies or freezes delays a call by its bound at most, and keeps nothing when it thaws",
        arguments: ["before", "before, dead", "baton.deposited:stop", "baton.deposited:kill"])
    func hostFails(way: String) async throws {
        let host = try await host(at: way.hasPrefix("baton") ? way : nil)
        if way == "before" { host.signal(.stop) }
        if way == "before, dead" { await host.killNow() }
        let (executor, socket) = try await busyExecutor(answerBound: Self.untilThawed)
        let main = try start("main", "B", at: "baton.taken:stop")
        try await eventually("Main is frozen") { main.isStopped }
        #expect(try await keeperCount() == 1)
        main.signal(.continue)
        try await until("goes on", of: main)
        try await until("hears applied", of: executor)
        if way == "before" || way.hasSuffix("stop") {
            host.signal(.continue)
            try await untilFree(host, socket)
            try await close(host)
        }
        try expectNoSecrets()
        try await close(main, executor)
        #expect(line.received().filter { $0 == "BYE" }.count == 1)
    }

    @Test("C25: a host that dies when it keeps a baton takes no call with it")
    func hostDiesLater() async throws {
        let host = try await host()
        let (executor, socket) = try await busyExecutor(answerBound: Self.untilThawed)
        let main = try start("main", "B", at: "baton.taken:stop")
        try await eventually("Main is frozen") { main.isStopped }
        #expect(try await keeperCount() == 2)
        await host.killNow()
        main.signal(.continue)
        try await until("goes on", of: main)
        try await until("hears applied", of: executor)
        #expect(descriptorsOfCall(of: executor, socket).isEmpty)
        try await close(main, executor)
        #expect(line.received().filter { $0 == "BYE" }.count == 1)
    }

    @Test("C25: the host closes the baton of an owner that dies before it has offered", arguments: ["kill", "stop"])
    func ownerDiesAtKept(way: String) async throws {
        let host = try await host()
        let (executor, socket) = try await busyExecutor(at: "baton.kept:\(way)")
        let main = try start("main", "B", timeout: 500)
        // The Executor is frozen, so it is killed at the deadline.
        #expect(await executor.end() == .killed(by: SIGKILL))
        try await until("runs", of: main)
        try await eventually("it is over") { try await calls().map(\.state) == [.ended(.lost)] }
        try await untilFree(host, socket)
        try expectNoSecrets()
        try await close(main, host)
    }
}
