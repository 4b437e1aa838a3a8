import CoreAPI
import CoreAPITesting
import InMemoryBackend
import Platform
import TestSupport
import Testing

@testable import Coordination

@Suite("C23: the record of a call")
struct CallRecordTests {
    private let boot = BootID(high: 1, low: 2)

    private func description(_ id: String = "ring") throws -> CallDescription {
        CallDescription(
            try .of(id), .outgoing, from: "sip:ann", to: "sip:bob", account: "work", media: [.audio, .video])
    }

    @Test(
        "It is read as it was written, in each state",
        arguments: [
            .incoming, .ringing, .answered, .held, .remotelyHeld, .ended(.hungUp), .ended(.remoteHungUp),
            .ended(.declined), .ended(.missed), .ended(.answeredElsewhere), .ended(.busy), .ended(.lost),
            .ended(.failed("no codec")),
        ] as [Call.State])
    func roundTrip(state: Call.State) throws {
        var record = CallRecord(
            try description(), in: .answered, began: BootInstant(nanoseconds: 5), bootID: boot)
        record.change(to: state, at: BootInstant(nanoseconds: 9))
        #expect(CallRecord(record.bytes) == record)
        #expect(record.answered == BootInstant(nanoseconds: 5))
        #expect(record.ended == (state.isOpen ? nil : BootInstant(nanoseconds: 9)))
        record.isAcknowledged = !state.isOpen
        #expect(CallRecord(record.bytes) == record)
    }

    @Test("Bytes that are cut, too long or of another version are no call")
    func damaged() throws {
        let bytes = CallRecord(
            try description(), in: .ended(.missed), began: BootInstant(nanoseconds: 5), bootID: boot
        ).bytes
        for count in 0..<bytes.count { #expect(CallRecord(Array(bytes.prefix(count))) == nil) }
        #expect(CallRecord(bytes + [0]) == nil)
        #expect(CallRecord([2] + bytes.dropFirst()) == nil)
    }

    @Test(
        "A command is read as it was written, and is for its call alone; what is cut, has more, or is of another version is none"
    )
    func command() throws {
        let call = CallRecord(try description(), in: .ringing, began: BootInstant(nanoseconds: 5), bootID: boot)
        let deadline = BootInstant(nanoseconds: 9)
        for word in CallCommand.allCases {
            let command = CommandRecord(word, for: call, before: deadline, in: boot)
            let bytes = command.bytes
            #expect(CommandRecord(bytes) == command && command.command == word && command.isFor(call))
            for count in 0..<bytes.count { #expect(CommandRecord(Array(bytes.prefix(count))) == nil) }
            #expect(CommandRecord(bytes + [0]) == nil && CommandRecord([2] + bytes.dropFirst()) == nil)
            let later = CallRecord(try description(), in: .ringing, began: deadline, bootID: boot)
            #expect(!command.isFor(later))
            #expect(
                !command.isOver(at: BootInstant(nanoseconds: 8), in: boot) && command.isOver(at: deadline, in: boot))
            #expect(!command.isOver(at: deadline, in: BootID(high: 1, low: 3)))
        }
    }

    @Test("Texts of a remote side have a bound, and a long id keeps the core like any other")
    func texts() async throws {
        let core = try await CallsFixture()
        var long = try description(String(repeating: "i", count: 512))
        let open = try await core.context.begin(call: long)
        #expect(try await core.calls.list().map(\.id) == [open.id])
        #expect(try await Activity.current(in: core.group).count == 1)
        try await open.end(.hungUp)
        #expect(try await Activity.current(in: core.group).isEmpty)
        long.from = String(repeating: "f", count: 513)
        await #expect(throws: SharedCoreError.self) { try await core.context.begin(call: long) }
        let other = try await core.context.begin(call: description())
        let reason = String(repeating: "r", count: 257)
        await #expect(throws: SharedCoreError.self) { try await other.end(.failed(reason)) }
        await #expect(throws: SharedCoreError.self) {
            try await core.context.begin(
                call: CallDescription(.of("x"), .incoming, from: "", to: ""), in: .ended(.busy))
        }
    }
}

@Suite("C23: the calls of one owner")
struct OwnCallsTests {
    @Test("Of ended calls the newest 128 are kept, each for calls.lifetime; open ones stay")
    func bound() async throws {
        let core = try await CallsFixture()
        let first = try await core.begin("open")
        for number in 0..<131 { try await core.begin("\(number)").end(.missed) }
        let calls = try await core.calls.list()
        #expect(calls.first?.id.text == "open")
        #expect(calls.dropFirst().map(\.id.text) == (3..<131).reversed().map { "\($0)" })
        core.clock.advance(by: .seconds(24 * 3600 + 1))
        try await eventually("they have expired") { try await core.calls.list().map(\.id) == [first.id] }
    }

    @Test("An acknowledged call takes the place of none that was not, and is forgotten with its texts")
    func acknowledgedBound() async throws {
        let core = try await CallsFixture()
        for number in 0..<28 { try await core.begin("missed-\(number)").end(.missed) }
        for number in 0..<140 {
            core.clock.advance(by: .milliseconds(1))
            let call = try await core.begin("seen-\(number)")
            try await call.end(.failed("no line"))
            #expect(try await core.calls.acknowledge(call.id))
        }
        for number in 28..<56 { try await core.begin("missed-\(number)").end(.missed) }
        #expect(try await core.calls.list().map(\.id.text) == (0..<56).reversed().map { "missed-\($0)" })
        let records = try await core.group.list(CallKey.records).entries.compactMap { CallRecord($0.value) }
        let acknowledged = records.filter(\.isAcknowledged)
        #expect(Set(acknowledged.map(\.call.id.text)) == Set((12..<140).map { "seen-\($0)" }))
        #expect(acknowledged.allSatisfy { $0.call.from.isEmpty && $0.call.to.isEmpty })
        #expect(acknowledged.allSatisfy { $0.state == .ended(.failed("")) })

        // These calls ended before all of the others.
        #expect(try await core.calls.acknowledge(.of("missed-0")))
        #expect(try await core.calls.acknowledge(.of("missed-1")))
        let left = try await core.group.list(CallKey.records).entries.compactMap { CallRecord($0.value) }
        #expect(left.count(where: \.isAcknowledged) == 128)
        #expect(!left.contains { $0.call.id.text == "missed-0" })
    }

    @Test("Cores that end with open calls again and again leave no more than 128 of them")
    func manyLost() async throws {
        var core = try await CallsFixture()
        for round in 0..<10 {
            for number in 0..<16 { _ = try await core.begin("\(round)-\(number)") }
            core = try await core.next()
            try await core.context.endLostCalls()
        }
        let ids = Set(try await core.calls.list().map(\.id.text))
        #expect(ids == Set((2..<10).flatMap { round in (0..<16).map { "\(round)-\($0)" } }))
    }

    @Test(
        "The activity of a call ends with the call alone, also where the core had begun it before, or begins it again (C17)"
    )
    func sharedActivity() async throws {
        let core = try await CallsFixture()
        let first = try await core.context.begin(.call, id: "ring")
        let call = try await core.begin("ring")
        let again = try await core.context.begin(.call, id: "ring")
        for activity in [first, again] {
            let error = await #expect(throws: SharedCoreError.self) { try await activity.end() }
            #expect(error?.code == .guardFailed)
        }
        #expect(try await Activity.current(in: core.group).map(\.id) == ["ring"])
        try await call.end(.missed)
        #expect(try await Activity.current(in: core.group).isEmpty)
        try await first.end()
        // After the end of the call, an activity with the same identifier is the core's own.
        let own = try await core.context.begin(.call, id: "ring")
        try await own.end()
        #expect(try await Activity.current(in: core.group).isEmpty)
    }

    @Test("An activity that comes to be a call's while it is being ended stays")
    func sharedActivityAtOnce() async throws {
        let core = try await CallsFixture()
        _ = try await core.context.begin(.call, id: "ring")
        let store = InterposedStore(
            core.context.store,
            once: { () async throws(SharedCoreError) in
                do { try await core.begin("ring") } catch { Issue.record("\(error)") }
            })
        // Open already, so that only its end is committed.
        let activity = try await core.context(through: store).begin(.call, id: "ring")
        let error = await #expect(throws: SharedCoreError.self) { try await activity.end() }
        #expect(error?.code == .guardFailed)
        #expect(try await Activity.current(in: core.group).map(\.id) == ["ring"])
    }

    @Test("In a group that its content has filled, calls begin, end and are acknowledged (S10)")
    func full() async throws {
        let core = try await CallsFixture(limits: Limits(valueByteCount: 16_384, storeByteCount: 4_000))
        let error = await #expect(throws: SharedCoreError.self) {
            for number in 0..<10 {
                try await core.group.put(Key("content/\(number)"), [UInt8](repeating: 1, count: 500))
            }
        }
        #expect(error?.code == .limitExceeded)
        let call = try await core.begin("ring")
        try await call.change(to: .answered)
        try await call.end(.hungUp)
        #expect(try await core.calls.list().map(\.state) == [.ended(.hungUp)])
        #expect(try await core.calls.acknowledge(call.id))
    }

    @Test(
        "A call of an id that was acknowledged is begun anew; the same one that is open is not, and another is refused")
    func again() async throws {
        let core = try await CallsFixture()
        let call = try await core.begin("ring")
        try await core.begin("ring").change(to: .held)
        #expect(try await core.calls.list().map(\.state) == [.held])
        let error = await #expect(throws: SharedCoreError.self) {
            try await core.context.begin(call: CallDescription(call.id, .outgoing, from: "sip:eve", to: "sip:bob"))
        }
        #expect(error?.code == .guardFailed)
        try await call.end(.missed)
        #expect(try await core.calls.acknowledge(call.id))
        #expect(try await !core.calls.acknowledge(call.id))
        let next = try await core.begin("ring")
        #expect(try await core.calls.list().map(\.state) == [.ringing])
        try await next.end(.hungUp)
    }

    @Test("While a Main waits for the core no call begins, and one that is open goes on")
    func handover() async throws {
        let core = try await CallsFixture()
        let call = try await core.begin("ring")
        try await core.group.put(OwnershipKey.handover, HandoverRecord.unreadable.bytes, lifetime: .session)
        let error = await #expect(throws: SharedCoreError.self) { try await core.begin("other") }
        #expect(error?.code == .guardFailed)
        try await call.change(to: .answered)
        try await call.end(.remoteHungUp)
    }

    @Test("Calls of former owners are lost, all 17, and a record that cannot be read is removed")
    func lost() async throws {
        let former = try await CallsFixture()
        for number in 0..<16 { _ = try await former.begin("\(number)") }
        try await former.group.put(CallKey.record(of: .of("damaged")), [9, 9])
        try await former.begin("16", activity: false)
        let core = try await former.next()
        #expect(try await core.calls.list().allSatisfy { $0.state == .ended(.lost) && $0.ended == nil })
        try await core.context.endLostCalls()
        let entries = try await core.group.list(CallKey.records).entries
        #expect(entries.count == 17 && entries.allSatisfy { $0.lifetime != .persistent })
        #expect(try await core.calls.list().allSatisfy { $0.state == .ended(.lost) && $0.ended != nil })
        #expect(try await core.calls.list().count == 17)
    }

    @Test("In a group that its content has filled, 16 lost calls with the longest texts are ended (S10)")
    func lostInFullGroup() async throws {
        let former = try await CallsFixture(limits: Limits(valueByteCount: 16_384, storeByteCount: 4_000))
        let text = String(repeating: "t", count: 512)
        for number in 10..<26 {
            let id = try CallID.of(String(repeating: "i", count: 510) + "\(number)")
            _ = try await former.context.begin(
                call: CallDescription(id, .incoming, from: text, to: text, account: text), in: .ringing)
        }
        let core = try await former.next()
        try await core.context.endLostCalls()
        #expect(try await core.group.list(CallKey.records).entries.count(where: { $0.lifetime != .persistent }) == 16)
    }

    @Test("A lost call is acknowledged before another core has found it")
    func acknowledged() async throws {
        let former = try await CallsFixture()
        let call = try await former.begin("ring")
        #expect(try await !former.calls.acknowledge(call.id))
        try await former.group.delete(OwnershipKey.owner)
        #expect(try await former.calls.acknowledge(call.id))
        #expect(try await former.calls.list().isEmpty)
        await #expect(throws: SharedCoreError.self) { try await call.change(to: .answered) }
    }
}

/// A core's context in memory, and its group.
struct CallsFixture {
    let clock: ManualClock
    let space: MemorySpace
    let group: MemoryGroup
    let context: CoreContext

    init(limits: Limits = Limits()) async throws {
        let clock = ManualClock()
        try await self.init(in: MemorySpace(clock: clock, limits: limits), clock: clock)
    }

    init(in space: MemorySpace, clock: ManualClock, name: String = "") async throws {
        self.space = space
        group = try await space.open("group", as: SessionDescription(role: .main, name: name))
        self.clock = clock
        let owner = OwnerRecord(
            role: .main, state: .running, name: "main", process: .current, since: clock.now())
        let epoch = try await group.put(OwnershipKey.owner, owner.bytes, lifetime: .session).revision
        context = CoreContext(
            store: EpochGuardedStore(inner: group, epoch: epoch, fenced: {}), epoch: epoch, role: .main, clock: clock,
            acceptMessage: { _ throws(SharedCoreError) in .stored }, reportProblem: { _ in })
    }

    /// A context of the same core, through a store that lets a test act.
    func context(through store: any SharedStore) -> CoreContext {
        CoreContext(
            store: store, epoch: context.epoch, role: .main, clock: clock,
            acceptMessage: { _ throws(SharedCoreError) in .stored }, reportProblem: { _ in })
    }

    var calls: Calls { Calls(group, clock: clock) }

    @discardableResult
    func begin(_ id: String, activity: Bool = true) async throws -> OpenCall {
        let call = CallDescription(try .of(id), .incoming, from: "sip:ann", to: "sip:bob")
        guard !activity else { return try await context.begin(call: call, in: .ringing) }
        let record = CallRecord(call, in: .ringing, began: clock.now(), bootID: clock.bootID)
        let key = try CallKey.record(of: call.id)
        try await group.put(key, record.bytes)
        return OpenCall(id: call.id, key: key, context: context)
    }

    /// The next owner, when the session of this one has ended.
    func next() async throws -> CallsFixture {
        await group.close()
        return try await CallsFixture(in: space, clock: clock)
    }

    /// Another process of the group.
    func window() async throws -> MemoryGroup {
        try await space.open("group", as: SessionDescription(role: .tool, name: "window"))
    }

    /// Returns the keys of the commands in the group.
    func commands() async throws -> [Key] {
        try await space.open("group", as: SessionDescription(role: .tool)).list(".sharedcore/calls/command").entries
            .map(\.key)
    }

    /// Leaves a command for a call, as a slow or stopped sender does.
    ///
    /// - Parameters:
    ///   - deadline: Its deadline; nil for one that is far away.
    ///   - bootID: The run of the machine that the deadline counts in; nil for this one.
    func leave(
        _ command: CallCommand, for call: OpenCall, by window: MemoryGroup, before deadline: BootInstant? = nil,
        in bootID: BootID? = nil
    ) async throws -> Key {
        let record = try #require(await window.get(call.key).flatMap { CallRecord($0.value) })
        let key = try CallKey.command(0, of: window.session.id, for: call.key)
        let left = CommandRecord(
            command, for: record, before: deadline ?? clock.now().advanced(by: .seconds(600)),
            in: bootID ?? clock.bootID)
        try await window.put(key, left.bytes, lifetime: .session)
        return key
    }
}
