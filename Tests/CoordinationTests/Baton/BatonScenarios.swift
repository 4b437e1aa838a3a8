import CoreAPI
import CoreAPITesting
import Glibc
import InMemoryBackend
import Mailboxes
import Platform
import SharedCoreTesting
import Synchronization
import TestSupport
import Testing

@testable import Coordination

/// A core with a call over a pipe: it writes its name into the pipe while the call is its own.
final class CallCore: Core {
    /// The parts of a core's behaviour with a call and a baton that a test can replace.
    struct Plan: Sendable {
        /// The kind of baton with which its call moves; nil for a call that does not move.
        var moves: String? = "test/1"
        /// Returns the baton that the core gives when it is asked; nil for a baton of the call.
        var give: (@Sendable (StopRequest) throws -> Baton?)?
        /// Called with the baton in place of applying it.
        var receive: (@Sendable (ReceivedBaton) async throws -> [OpenCall])?
        /// The calls that it begins where it gets no baton.
        var calls = ["call-1"]
    }

    static let marker = Array("do-not-store-this-key".utf8)

    let name: String
    let plan: Plan
    let notes: Box<[String]>
    let open = Box<OpenCall?>(nil)
    private let line: Box<OpenFile?>

    init(_ name: String, _ plan: Plan, notes: Box<[String]>, line: OpenFile?) {
        self.name = name
        self.plan = plan
        self.notes = notes
        self.line = Box(line)
    }

    func note(_ text: String) { notes.update { $0.append("\(name) \(text)") } }

    func start(in context: CoreContext) async throws {
        guard let baton = context.baton else {
            guard !plan.calls.isEmpty else { return }
            for id in plan.calls {
                let call = try await context.begin(
                    call: CallDescription(#require(CallID(id)), .incoming, from: "sip:ann", to: "sip:bob"),
                    in: .answered, moves: plan.moves)
                open.update { $0 = $0 ?? call }
            }
            return note("began")
        }
        note("got \(baton.bytes.count) bytes")
        let calls: [OpenCall]
        if let receive = plan.receive {
            calls = try await receive(baton)
        } else {
            let numbers = try baton.takeDescriptors()
            line.update { $0 = numbers.first.map { OpenFile(owning: $0, path: "line") } }
            calls = try await baton.apply()
        }
        guard let call = calls.first else { return note("goes on without") }
        open.update { $0 = call }
        note("goes on")
        try line.value?.writeStream(Array(name.utf8))
    }

    func iterate(in context: CoreContext) async throws { try await Task.sleep(for: .seconds(3600)) }

    func stop() async {}

    func stop(_ request: StopRequest) async { note("stops: \(request.reason)") }

    func handOver(_ request: StopRequest) async -> Baton? {
        do {
            if let give = plan.give { return try give(request) }
            guard request.takes.contains("test/1") else {
                await stop(request)
                return nil
            }
            note("gives to \(request.requester ?? "none")")
            return try baton()
        } catch {
            note("\(error)")
            return nil
        }
    }

    func baton(_ kind: String = "test/1") throws -> Baton {
        try Baton(
            kind, bytes: Self.marker, descriptors: line.value.map { [$0.descriptor] } ?? [],
            calls: plan.calls.isEmpty ? [#require(CallID("call-1"))] : plan.calls.map { try #require(CallID($0)) })
    }

    func batonEnded(_ end: BatonEnd) async {
        line.update { $0 = nil }
        note("hears \(end)")
    }
}

/// A call moves with the hand-over (contract C25).
@Suite("Baton: scenarios", .serialized)
struct BatonScenarios {
    private let clock: any TimeSource = SystemClock()
    private let space: MemorySpace
    private let processes: ProcessTable
    private let notes = Box<[String]>([])
    private let pipe: Pipe
    private var options: CoordinationOptions {
        var options = CoordinationOptions.patient
        options.takesBatons = ["test/1", "test/2"]
        options.batonLifetime = .seconds(60)
        return options
    }

    init() throws {
        space = MemorySpace(clock: clock)
        processes = ProcessTable(bootID: clock.bootID)
        pipe = try Pipe()
    }

    private struct Member<Participant: Sendable>: Sendable {
        let participant: Participant
        let process: SimulatedProcess
        let core: Box<CallCore?>
    }

    private func observer() async throws -> MemoryGroup {
        try await space.open("group", as: SessionDescription(role: .tool, name: "observer"))
    }

    private func enter(
        _ role: SessionRole, _ name: String, _ plan: CallCore.Plan
    ) async throws -> (MemoryGroup, SimulatedProcess, CoordinationEnvironment, Box<CallCore?>, @Sendable () -> any Core)
    {
        let process = processes.start()
        let group = try await space.open(
            "group", as: SessionDescription(role: role, name: name), process: process.identity)
        process.attach(group)
        let environment = CoordinationEnvironment(clock: clock, processes: processes, seed: 1, push: nil)
        let made = Box<CallCore?>(nil)
        let line = role == .executor ? pipe.input : nil
        return (
            group, process, environment, made,
            { [notes] in
                let core = CallCore(name, plan, notes: notes, line: line)
                made.update { $0 = core }
                return core
            }
        )
    }

    private func main(
        _ plan: CallCore.Plan = .init(), _ name: String = "main", options: CoordinationOptions? = nil
    ) async throws -> Member<MainParticipant> {
        let (group, process, environment, made, core) = try await enter(.main, name, plan)
        let main = try MainParticipant(
            of: group, options: options ?? self.options, environment: environment, core: core)
        return Member(participant: main, process: process, core: made)
    }

    private func executor(
        _ plan: CallCore.Plan = .init(), _ name: String = "executor", options: CoordinationOptions? = nil
    ) async throws -> Member<ExecutorParticipant> {
        let (group, process, environment, made, core) = try await enter(.executor, name, plan)
        let executor = try ExecutorParticipant(
            of: group, options: options ?? self.options, environment: environment, core: core)
        return Member(participant: executor, process: process, core: made)
    }

    private func told() async throws -> [TimelineEntry] {
        let history = try await Timeline(observer()).history()
        let report = TimelineChecker.check(history)
        #expect(report.violations.isEmpty, "\(report.violations)")
        return history.records.map(\.entry)
    }

    private func kinds() async throws -> [TimelineEntry.Kind] {
        try await told().map(\.kind).filter {
            [.batonOffered, .batonApplied, .batonFailed, .batonExpired].contains($0)
        }
    }

    private func calls() async throws -> [Call] { try await Calls(observer()).list() }

    private func untilNoted(_ note: String) async throws {
        try await eventually("“\(note)” among \(notes.value)") { notes.value.contains(note) }
    }

    @Test("C25: a Main that takes the call goes on with it, and the Executor's core closes without ending it")
    func moves() async throws {
        let executor = try await executor()
        try await executor.participant.start()
        let began = try #require(try await calls().first)
        let main = try await main()
        let before = try openDescriptorCount()
        try await main.participant.start()
        try await untilNoted("executor hears applied")
        try await untilNoted("main goes on")
        #expect(notes.value.prefix(3) == ["executor began", "executor gives to main", "main got 21 bytes"])
        #expect(notes.value.count == 5)
        #expect(try pipe.output.readPart(upTo: 16) == Array("main".utf8))
        let moved = try #require(try await calls().first)
        let epoch = await main.participant.epoch
        #expect(moved.state == .answered && moved.holder?.epoch == epoch)
        #expect(moved.began == began.began && moved.answered == began.answered)
        // The activity keeps its beginning, and can move again.
        let activity = try #require(try await Activity.current(in: observer()).first)
        #expect(activity.begun == began.began && activity.moves == "test/1")
        #expect(try await kinds() == [.batonOffered, .batonApplied])
        await executor.participant.finish()
        try await eventually("the descriptors of the pipe that were moved are closed, beside \(before)") {
            try openDescriptorCount() <= before + 1
        }
        try await main.core.value?.open.value?.end(.hungUp)
        #expect(try await calls().map(\.state) == [.ended(.hungUp)])
        // The call counts once.
        #expect(try await observer().list(CallKey.records).entries.count == 1)
        #expect(try await observer().get(OwnershipKey.baton) == nil)
        for entry in try await observer().list(".sharedcore").entries {
            #expect(!contains(CallCore.marker, in: entry.value), "\(entry.key)")
        }
        await main.participant.stop()
        await executor.participant.close()
        #expect(processes.killed.isEmpty)
    }

    private func contains(_ part: [UInt8], in bytes: [UInt8]) -> Bool {
        bytes.count >= part.count
            && (0...(bytes.count - part.count)).contains { bytes[$0..<($0 + part.count)].elementsEqual(part) }
    }

    /// The descriptors of this process, less those that a look at them opens.
    /// The number of this process's descriptors of the call's pipe. Other tests open and close theirs meanwhile.
    private func openDescriptorCount() throws -> Int {
        func identity(of descriptor: Int32) -> [UInt64]? {
            var status = stat()
            return fstat(descriptor, &status) == 0 ? [UInt64(status.st_dev), UInt64(status.st_ino)] : nil
        }
        let own = identity(of: pipe.output.descriptor)
        return try Directory(path: "/proc/self/fd").names().count { Int32($0).flatMap(identity) == own }
    }

    @Test("C25: a Main that does not take the kind waits, as before", arguments: [[], ["other/1"]])
    func waits(kinds: [String]) async throws {
        let executor = try await executor()
        try await executor.participant.start()
        var options = options
        options.takesBatons = kinds
        let main = try await main(.init(calls: []), options: options)
        let start = Task { try await main.participant.start() }
        try await eventually("Main has asked") { try await told().contains { $0.kind == .asked } }
        try await executor.core.value?.open.value?.end(.hungUp)
        try await start.value
        #expect(notes.value == ["executor began", "executor stops: handover"])
        #expect(try await self.kinds() == [])
        await main.participant.stop()
        await executor.participant.close()
    }

    @Test("C25: a call that does not move delays the Main also beside others that do")
    func unmovable() async throws {
        let executor = try await executor(.init(moves: nil))
        try await executor.participant.start()
        let main = try await main(.init(calls: []))
        let start = Task { try await main.participant.start() }
        try await eventually("Main has asked") { try await told().contains { $0.kind == .asked } }
        let call = try #require(executor.core.value?.open.value)
        // The call moves from now on, and Main waits no more.
        try await call.setMoves("test/1")
        try await start.value
        try await untilNoted("executor hears applied")
        await main.participant.stop()
        await executor.participant.close()
    }

    @Test("C25: what a Main counts on is not taken back, and what it does not take is")
    func takenBack() async throws {
        let executor = try await executor(.init(moves: "other/1"))
        try await executor.participant.start()
        let call = try #require(executor.core.value?.open.value)
        try await call.setMoves(nil)
        try await call.setMoves("other/1")
        let main = try await main(.init(calls: []))
        let start = Task { try await main.participant.start() }
        try await eventually("Main has asked") { try await told().contains { $0.kind == .asked } }
        try await call.setMoves(nil)
        #expect(try await Activity.current(in: observer()).map(\.moves) == [nil])
        let invalid = await #expect(throws: SharedCoreError.self) { try await call.setMoves("Not a kind") }
        #expect(invalid?.code == .invalidArgument)
        try await call.end(.hungUp)
        try await start.value
        await main.participant.stop()
        await executor.participant.close()
    }

    @Test("C25: a core that has started and has not applied the baton has refused it: the call ends once")
    func notApplied() async throws {
        let executor = try await executor()
        try await executor.participant.start()
        let main = try await main(.init(receive: { _ in [] }))
        try await main.participant.start()
        try await untilNoted("executor hears failed")
        #expect(try await calls().map(\.state) == [.ended(.lost)])
        #expect(try await kinds() == [.batonOffered, .batonFailed])
        #expect(try await told().last { $0.kind == .batonFailed }?.reason == "its core has not applied it")
        #expect(try await observer().get(OwnershipKey.baton) == nil)
        await main.participant.stop()
        await executor.participant.close()
    }

    @Test(
        "C25: a baton of which an older owner has ended a call is not applied: the giver ends its calls over the network",
        arguments: [["call-1"], ["call-1", "call-2"]])
    func endedOnRecord(ids: [String]) async throws {
        let executor = try await executor(.init(calls: ids))
        try await executor.participant.start()
        let failure = Box<SharedCoreError.Code?>(nil)
        let main = try await main(
            .init(receive: { [space, clock] baton in
                // An owner of a release without batons does the same.
                let older = try await space.open("group", as: SessionDescription(role: .tool, name: "older"))
                let left = try await older.list(CallKey.records).entries.prefix(1)
                _ = try await older.commit(
                    CallRecord.ending(lost: Array(left), at: clock.now(), for: .seconds(60)))
                do throws(SharedCoreError) { return try await baton.apply() } catch {
                    failure.update { $0 = error.code }
                    return []
                }
            }))
        try await main.participant.start()
        try await untilNoted("executor hears failed")
        #expect(failure.value == .guardFailed)
        #expect(try await told().last { $0.kind == .batonFailed }?.reason == "its calls have ended as lost")
        #expect(try await calls().map(\.state) == ids.map { _ in .ended(.lost) })
        #expect(try await observer().get(OwnershipKey.baton) == nil)
        await main.participant.stop()
        await executor.participant.close()
    }

    @Test("C25: until it is applied the next epoch gets it: the Executor goes on when the Main dies")
    func ownsAgain() async throws {
        let executor = try await executor()
        try await executor.participant.start()
        let main = try await main(
            .init(receive: { _ in
                try await Task.sleep(for: .seconds(3600))
                return []
            }))
        let start = Task { try? await main.participant.start() }
        try await untilNoted("main got 21 bytes")
        // The call moves, so it is not lost.
        #expect(try await calls().map(\.state) == [.answered])
        #expect(try await calls().map(\.holder) == [nil])
        #expect(try await calls().map(\.isMoving) == [true])
        #expect(try await !Calls(observer()).acknowledge(#require(CallID("call-1"))))
        main.process.kill()
        try await untilNoted("executor goes on")
        try await untilNoted("executor hears applied")
        #expect(try await calls().map(\.state) == [.answered])
        #expect(try await calls().map(\.isMoving) == [false])
        #expect(try await kinds() == [.batonOffered, .batonApplied])
        _ = await start.result
        await executor.participant.close()
    }

    @Test("C25: a core that fails before it has applied the baton leaves it to the next")
    func coreFails() async throws {
        let executor = try await executor()
        try await executor.participant.start()
        let main = try await main(.init(receive: { _ in throw CancellationError() }))
        await #expect(throws: CoordinationError.self) { try await main.participant.start() }
        try await untilNoted("executor goes on")
        #expect(try await kinds() == [.batonOffered, .batonApplied])
        await main.participant.stop()
        await executor.participant.close()
    }

    @Test("C25: an Executor goes on with its own call where the Main's core fails, though its options name no kind")
    func takesItsOwnKind() async throws {
        var plain = options
        plain.takesBatons = []
        let executor = try await executor(options: plain)
        try await executor.participant.start()
        let main = try await main(.init(receive: { _ in throw CancellationError() }))
        await #expect(throws: CoordinationError.self) { try await main.participant.start() }
        try await untilNoted("executor goes on")
        try await untilNoted("executor hears applied")
        #expect(try await calls().map(\.state) == [.answered])
        #expect(try await kinds() == [.batonOffered, .batonApplied])
        await main.participant.stop()
        await executor.participant.close()
    }

    @Test("C25: when its time is over the old owner ends the call, and no core goes on with it")
    func expires() async throws {
        var brief = options
        brief.batonLifetime = .seconds(1)
        let executor = try await executor(options: brief)
        try await executor.participant.start()
        let notes = notes
        let failure = Box<SharedCoreError?>(nil)
        let main = try await main(
            .init(receive: { baton in
                try await eventually("it has expired") { notes.value.contains("executor hears expired") }
                do throws(SharedCoreError) {
                    return try await baton.apply()
                } catch {
                    failure.update { $0 = error }
                    return []
                }
            }))
        try await main.participant.start()
        #expect(failure.value?.code == .guardFailed)
        #expect(failure.value?.guardFailure?.condition.key == OwnershipKey.baton)
        #expect(failure.value?.message.hasPrefix("The baton is over:") == true, "\(failure.value?.message ?? "none")")
        #expect(try await kinds() == [.batonOffered, .batonExpired])
        #expect(try await calls().map(\.state) == [.ended(.lost)])
        await main.participant.stop()
        await executor.participant.close()
    }

    @Test("C25: a baton of another kind than asked for is refused, and a core that has none loses its call")
    func refused() async throws {
        for (number, kind) in ["test/3", nil].enumerated() {
            notes.update { $0 = [] }
            let made = Box<CallCore?>(nil)
            let executor = try await executor(
                .init(give: { _ in try kind.map { try Baton($0, bytes: [], calls: [#require(CallID("call-1"))]) } }))
            try await executor.participant.start()
            made.update { $0 = executor.core.value }
            let main = try await main(.init(calls: []))
            try await main.participant.start()
            if kind != nil { try await untilNoted("executor hears refused") }
            #expect(try await calls().first?.state == .ended(.lost), "\(number)")
            #expect(try await kinds() == [])
            await main.participant.stop()
            await executor.participant.close()
        }
    }

    @Test("C25: garbage in place of a baton is told, and holds nothing up")
    func garbage() async throws {
        let store = try await observer()
        let keepers = ["/nonexistent/baton", "relative", String(repeating: "x", count: 4000)]
        var records = [[UInt8](), [1, 2, 3], [UInt8](repeating: 0xff, count: 1000)]
        for keeper in keepers {
            records.append(
                BatonRecord(
                    epoch: Revision(rawValue: 1), kind: "test/1", byteCount: 5,
                    digest: [UInt8](repeating: 0, count: 32), descriptorCount: 1, calls: ["call-1"],
                    bootID: clock.bootID, deadline: clock.now().advanced(by: .seconds(60)), keepers: [keeper]
                ).bytes)
        }
        for bytes in records {
            try await store.put(OwnershipKey.baton, bytes)
            let executor = try await executor(.init(calls: []))
            try await executor.participant.start()
            await executor.participant.close()
            let record = try await store.get(OwnershipKey.baton).map { BatonRecord(bytes: $0.value) }
            #expect(record == nil || record?.state == .failed)
            #expect(try await told().contains { $0.kind == .batonFailed })
            _ = try await store.delete(OwnershipKey.baton)
        }
        #expect(notes.value.allSatisfy { $0 == "executor stops: closing" })
    }

    @Test("C25: a baton that is full of a dead owner's is failed and removed by the next")
    func deadGiver() async throws {
        let executor = try await executor()
        try await executor.participant.start()
        let main = try await main(
            .init(receive: { _ in
                try await Task.sleep(for: .seconds(3600))
                return []
            }))
        let start = Task { try? await main.participant.start() }
        try await untilNoted("main got 21 bytes")
        executor.process.kill()
        main.process.kill()
        // The keeper belongs to this process and would answer. So let the record name a keeper that does not exist.
        let store = try await observer()
        let entry = try #require(try await store.get(OwnershipKey.baton))
        var record = BatonRecord(bytes: entry.value)
        record.keepers = ["/nonexistent/baton"]
        try await store.put(OwnershipKey.baton, record.bytes)
        await store.close()
        let third = try await self.executor(.init(calls: []), "third")
        try await third.participant.start()
        #expect(try await calls().map(\.state) == [.ended(.lost)])
        #expect(try await observer().get(OwnershipKey.baton) == nil)
        #expect(try await kinds() == [.batonOffered, .batonFailed])
        _ = await start.result
        await third.participant.close()
    }

    @Test("C25: a flood of connections and of other requests keeps no owner from the baton")
    func flood() async throws {
        let executor = try await executor()
        try await executor.participant.start()
        let floods = Box<[MessageSocket]>([])
        let store = try await observer()
        let main = try await main(
            .init(receive: { baton in
                let record = try BatonRecord(bytes: #require(await store.get(OwnershipKey.baton)).value)
                for number in 0..<100 {
                    guard let socket = try? MessageSocket(connectingTo: record.keepers[0]) else { continue }
                    try? socket.send([UInt8](repeating: UInt8(number), count: 1 + number * 10))
                    floods.update { $0.append(socket) }
                }
                guard case .success(let fetched) = await FetchedBaton.fetch(record) else { return [] }
                #expect(fetched.bytes == CallCore.marker)
                return try await baton.apply()
            }))
        try await main.participant.start()
        try await untilNoted("main goes on")
        #expect(floods.value.count > 8)
        await main.participant.stop()
        await executor.participant.close()
    }

    @Test("C25: the host closes a baton at its deadline by its own clock, also where it is shown nothing of the group")
    func hostForgetsByItsClock() async throws {
        let clock = ManualClock()
        let store = try await MemorySpace(clock: clock).open("group")
        let host = try BatonHost(of: store, clock: clock)
        try await host.start()
        let path = BatonHostRecord(bytes: try #require(try await store.get(OwnershipKey.batonHost)).value).path
        let output = try await Self.deposit(at: path, until: clock.now().advanced(by: .seconds(10)))
        clock.advance(by: .seconds(9))
        #expect(Poll.wait(for: [output.descriptor], timeout: .milliseconds(20)) == [false], "it is kept until then")
        clock.advance(by: .seconds(1))
        try await eventually("the host has closed its duplicate") {
            Poll.wait(for: [output.descriptor], timeout: .zero)[0]
        }
        host.stop()
    }

    /// Gives a host the writing end of a pipe, which no other process then has, and returns the reading end.
    private static func deposit(at path: String, until deadline: BootInstant) async throws -> OpenFile {
        let pipe = try Pipe()
        let baton = try Baton(
            "test/1", bytes: [1], descriptors: [pipe.input.descriptor], calls: [#require(CallID("a"))])
        let keeper = try LocalBatonTransport(hostBound: TestTimeout.long).keep(baton, of: Revision(rawValue: 7))
        #expect(await keeper.deposit(at: path, until: deadline))
        keeper.close()
        return pipe.output
    }

    @Test("C25: bytes that are not those of the record are refused")
    func wrongBytes() async throws {
        let baton = try Baton("test/1", bytes: [1, 2, 3], descriptors: [], calls: [#require(CallID("a"))])
        let keeper = try BatonKeeper(baton, of: Revision(rawValue: 7))
        var record = BatonRecord(
            baton, of: Revision(rawValue: 7), bootID: clock.bootID, until: clock.now(), keeper: keeper.path)
        guard case .success = await FetchedBaton.fetch(record) else { return #expect(Bool(false)) }
        for change in [
            { (record: inout BatonRecord) in record.digest[0] ^= 1 }, { $0.byteCount = 2 },
            { $0.descriptorCount = 1 }, { $0.epoch = Revision(rawValue: 8) },
        ] {
            var changed = record
            change(&changed)
            guard case .failure = await FetchedBaton.fetch(changed) else { return #expect(Bool(false), "\(changed)") }
        }
        keeper.close()
        guard case .failure = await FetchedBaton.fetch(record) else { return #expect(Bool(false)) }
        record.keepers = []
        guard case .failure = await FetchedBaton.fetch(record) else { return #expect(Bool(false)) }
        try await eventually("its socket is gone") { (try? FilePresence(ofPath: keeper.path)) == nil }
    }

    @Test("C25: bytes that a process can still change are refused, and so are those of another length")
    func unsealed() async throws {
        let directory = try TemporaryDirectory()
        let epoch = Revision(rawValue: 7)
        let baton = try Baton("test/1", bytes: [1, 2, 3], descriptors: [], calls: [#require(CallID("a"))])
        let file = try OpenFile(path: directory.path(of: "file"), .createNew)
        try file.write([1, 2, 3], at: 0)
        let longer = try OpenFile.sealed([1, 2, 3, 4], as: "test")
        let isSealed = try OpenFile.sealed([1, 2, 3], as: "test")
        for (number, (answer, isTaken)) in [(file, false), (longer, false), (isSealed, true)].enumerated() {
            let path = directory.path(of: "\(number)")
            let listener = try MessageSocket(listeningAt: path)
            let record = BatonRecord(baton, of: epoch, bootID: clock.bootID, until: clock.now(), keeper: path)
            let fetched = Task { await FetchedBaton.fetch(record) }
            let connection = try await accepted(by: listener)
            try connection.send(BatonMessage.request(for: epoch), with: [answer])
            if case .success = await fetched.value { #expect(isTaken) } else { #expect(!isTaken) }
        }
    }

    private func accepted(by listener: MessageSocket) async throws -> MessageSocket {
        let found = Box<MessageSocket?>(nil)
        try await eventually("there is a connection") {
            if let connection = try listener.accept() { found.update { $0 = connection } }
            return found.value != nil
        }
        return try #require(found.value)
    }

    @Test("C25: what breaks a rule of batons is refused, and its description has no bytes")
    func rules() throws {
        let id = try #require(CallID("a"))
        func code(_ body: () throws -> Baton) -> SharedCoreError.Code? {
            do {
                _ = try body()
                return nil
            } catch { return (error as? SharedCoreError)?.code }
        }
        for kind in ["", "A", "sip dialog", String(repeating: "a", count: 65)] {
            #expect(code { try Baton(kind, bytes: [], calls: [id]) } == .invalidArgument)
        }
        let ids = try (0..<5).map { try #require(CallID("\($0)")) }
        #expect(code { try Baton("a", bytes: [UInt8](repeating: 0, count: (64 << 10) + 1), calls: [id]) } != nil)
        #expect(code { try Baton("a", bytes: [], calls: []) } == .invalidArgument)
        #expect(code { try Baton("a", bytes: [], calls: [id, id]) } == .invalidArgument)
        #expect(code { try Baton("a", bytes: [], calls: ids) } == .invalidArgument)
        #expect(code { try Baton("a", bytes: [], descriptors: [999_999], calls: [id]) } == .invalidArgument)
        #expect(
            code { try Baton("a", bytes: [], descriptors: Array(repeating: 0, count: 16), calls: [id]) }
                == .invalidArgument)
        let largest = try Baton("a", bytes: [UInt8](repeating: 65, count: 64 << 10), calls: Array(ids.prefix(4)))
        #expect("\(largest)" == "“a”, 65536 bytes, 0 descriptors, 4 calls")
    }
}
