internal import CoreAPI
internal import CoreAPITesting
internal import FileNotifyBackend
internal import Glibc
internal import InMemoryBackend
internal import Platform
internal import TestSupport
internal import Testing

@testable internal import Coordination

/// The action of a Main on the process that an owner's record names.
@Suite("C3: nothing is killed that is not proven to be the owner", .timeLimit(.minutes(10)))
struct InnocentProcessTests {
    /// A Main's core that does nothing.
    private struct IdleCore: Core {
        func start(in context: CoreContext) async throws {}
        func iterate(in context: CoreContext) async throws {
            try await SystemClock().sleep(until: SystemClock().now().advanced(by: .seconds(3600)))
        }
        func stop() async {}
    }

    /// Has an Executor's record name a process, starts a Main, and returns the reasons on the timeline.
    private func takeOver(
        from process: ProcessIdentity, writtenBy executor: some SharedStore, by group: some SharedGroup
    ) async throws -> [String] {
        let record = OwnerRecord(
            role: .executor, state: .running, name: "push", process: process, since: SystemClock().now(),
            processNamespace: ProcessIdentity.currentNamespace)
        try await executor.put(OwnershipKey.owner, record.bytes, lifetime: .session)
        var options = CoordinationOptions()
        options.handoverTimeout = .milliseconds(100)
        let main = try MainParticipant(of: group, options: options) { IdleCore() }
        try await main.start()
        let reasons = try await Timeline(group).history().records.map(\.entry.reason)
        await main.stop()
        await group.close()
        return reasons
    }

    @Test("A process lives whose namespace neither the record nor the Main knows, with any meaning of its number here")
    func unknownNamespace() async throws {
        let child = try ChildProcess("/bin/sleep", ["600"])
        let identity = try #require(ProcessIdentity(of: child.pid))
        // As a Main that no backend proves to be this process.
        let other = ProcessIdentity(bootID: identity.bootID, pid: 1, startTime: 1)
        let space = MemorySpace()
        let executor = try await space.open("group", as: SessionDescription(role: .executor))
        let record = OwnerRecord(
            role: .executor, state: .running, name: "push", process: identity, since: SystemClock().now())
        try await executor.put(OwnershipKey.owner, record.bytes, lifetime: .session)
        let group = try await space.open("group", as: SessionDescription(role: .main), process: other)
        var options = CoordinationOptions()
        options.handoverTimeout = .milliseconds(100)
        let main = try MainParticipant(of: group, options: options) { IdleCore() }
        try await withTimeout(TestTimeout.usual, "it owns") { try await main.start() }
        let reasons = try await Timeline(group).history().records.map(\.entry.reason)

        child.signal(.stop)
        try await eventually("only what lives stands still") { child.isStopped }
        #expect(reasons.contains { $0.contains("another namespace") }, "\(reasons)")
        await main.stop()
        await group.close()
        await executor.close()
    }

    @Test("A process lives that the record names on a backend which does not prove whose a session is")
    func unprovenProcess() async throws {
        let child = try ChildProcess("/bin/sleep", ["600"])
        let identity = try #require(ProcessIdentity(of: child.pid))
        let space = MemorySpace()
        let executor = try await space.open("group", as: SessionDescription(role: .executor))
        let group = try await space.open("group", as: SessionDescription(role: .main))

        let reasons = try await takeOver(from: identity, writtenBy: executor, by: group)

        child.signal(.stop)
        try await eventually("only what lives stands still") { child.isStopped }
        #expect(reasons.contains { $0.contains("cannot prove to which process a session belongs") }, "\(reasons)")
        await executor.close()
    }

    @Test("A process that the record names, and that does not hold the lock of the session, lives; the owner is fenced")
    func innocent() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "group")
        let child = try ChildProcess("/bin/sleep", ["600"])
        let identity = try #require(ProcessIdentity(of: child.pid))
        let executor = try await FileGroup.open(directory: path, as: SessionDescription(role: .executor))

        let group = try await FileGroup.open(directory: path, as: SessionDescription(role: .main))
        let reasons = try await takeOver(from: identity, writtenBy: executor, by: group)

        child.signal(.stop)
        try await eventually("only what lives stands still") { child.isStopped }
        #expect(child.ended == nil)
        #expect(reasons.contains { $0.contains("does not hold the lock of its session") }, "\(reasons)")
        await executor.close()
    }
}
