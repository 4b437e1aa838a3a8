import CoreAPI
import CoreAPITesting
import InMemoryBackend
import Mailboxes
import SharedCoreTesting
import TestSupport
import Testing

@testable import Coordination

@Suite("P13: a Main takes the pushes that are routed to it")
struct MainPushTests {
    private let world = World()

    private func push(_ id: String, payload: [UInt8] = [0, 0xff]) throws -> Push {
        try Push(callID(id), type: "call", account: "a@x", payload: payload)
    }

    @discardableResult
    private func send(_ id: String, for lifetime: Duration = .seconds(300)) async throws -> MainPushQueue {
        let queue = try MainPushQueue(try await world.observer(), clock: world.clock)
        try await queue.mailbox.send(queue.bytes(of: try push(id), for: lifetime))
        return queue
    }

    private func kinds() async throws -> [TimelineEntry.Kind] {
        try await world.report().entries.map(\.kind).filter { $0 == .pushHandled || $0 == .pushEnded }
    }

    private func next(
        _ iterator: inout MainPushes.Iterator
    ) async throws -> TakenPush {
        try #require(try await iterator.next())
    }

    @Test("It gets each once, the oldest first, whether it came before or comes later; the timeline tells of each")
    func inOrder() async throws {
        let queue = try await send("1@x")
        let main = try await world.main()
        try await main.participant.start()
        var pushes = try await main.participant.pushes().makeAsyncIterator()
        let first = try await next(&pushes)
        #expect(try first.push == push("1@x"))
        #expect(try await queue.mailbox.count().parts == [0, 1])
        #expect(try await kinds().isEmpty)
        try await send("2@x")
        #expect(try await main.participant.acknowledge(first))
        #expect(try await !main.participant.acknowledge(first))
        let second = try await next(&pushes)
        #expect(try second.push == push("2@x"))
        #expect(try await main.participant.acknowledge(second))
        #expect(try await queue.mailbox.count().total == 0)
        let (report, entries) = try await world.report()
        #expect(report.isClean)
        let handled = entries.filter { $0.kind == .pushHandled }
        #expect(handled.map(\.reason) == ["type call, “1@x”", "type call, “2@x”"])
        #expect(handled.first?.epoch == entries.first { $0.kind == .acquired }?.epoch)
        #expect(!entries.contains { $0.describe().contains("a@x") })
        await main.participant.stop()
        #expect(try await pushes.next() == nil)
    }

    @Test("A push that a killed Main had in hand comes to the next Main; one that a Main gives back comes again")
    func killed() async throws {
        let queue = try await send("1@x")
        let first = try await world.main("first")
        try await first.participant.start()
        var pushes = try await first.participant.pushes().makeAsyncIterator()
        try await first.participant.giveBack(try await next(&pushes))
        _ = try await next(&pushes)
        first.process.kill()
        let second = try await world.main("second")
        try await second.participant.start()
        var others = try await second.participant.pushes().makeAsyncIterator()
        let taken = try await next(&others)
        #expect(try taken.push == push("1@x"))
        #expect(try await second.participant.acknowledge(taken))
        #expect(try await queue.mailbox.count().total == 0)
        #expect(try await kinds() == [.pushHandled])
    }

    @Test(
        "Only the Main that owns takes: one that waits begins when it owns, one that was superseded takes nothing more")
    func owner() async throws {
        let first = try await world.main("first")
        var pushes = try await first.participant.pushes().makeAsyncIterator()
        let queue = try await send("1@x")
        try await first.participant.start()
        let taken = try await next(&pushes)
        let epoch = try #require(await first.participant.epoch)
        let second = try await world.main("second")
        try await second.participant.start(takingOver: true)
        // This Main has not learned of the push, for example because it was frozen.
        try await send("2@x")
        let item = try #require(try await queue.mailbox.contents().waiting.first?.item)
        let stale = try MainPushQueue(first.group, clock: world.clock)
        await #expect {
            _ = try await stale.take(item, under: epoch)
        } throws: { error in
            (error as? SharedCoreError)?.guardFailure?.condition.key == OwnershipKey.owner
        }
        // A push that the Main had taken stays its own until it acknowledges the push.
        #expect(try await first.participant.acknowledge(taken))
        var others = try await second.participant.pushes().makeAsyncIterator()
        #expect(try await next(&others).push == push("2@x"))
    }

    @Test("The sequence ends with another one, with its task, and with its Main, also while that does not own")
    func ends() async throws {
        let main = try await world.main()
        var first = try await main.participant.pushes().makeAsyncIterator()
        var second = try await main.participant.pushes().makeAsyncIterator()
        #expect(try await first.next() == nil)
        try await send("1@x")
        let pushes = try await main.participant.pushes()
        #expect(try await second.next() == nil)
        let waiting = Task {
            var iterator = pushes.makeAsyncIterator()
            return try await iterator.next()
        }
        waiting.cancel()
        #expect(try await waiting.value == nil)
        var last = try await main.participant.pushes().makeAsyncIterator()
        await main.participant.stop()
        #expect(try await last.next() == nil)
        await #expect(throws: CoordinationError.self) { _ = try await main.participant.pushes() }
    }

    @Test("A core of an Executor has the push of its process, typed; a Main's core has none")
    func context() async throws {
        let seen = Box<[Push?]>([])
        var script = ScriptedCore.Script()
        script.onStart = { context in seen.update { $0.append(context.push) } }
        let push = try push("1@x")
        let executor = try await world.executor(script: script, push: push)
        try await executor.participant.start()
        await executor.participant.close()
        let main = try await world.main(script: script)
        try await main.participant.start()
        await main.participant.stop()
        #expect(seen.value == [push, nil])
    }
}

@Suite("P13: a push that no Main takes ends with its lifetime")
struct UntakenPushTests {
    private let clock = ManualClock()
    private let space: MemorySpace

    init() {
        space = MemorySpace(clock: clock)
    }

    private func push(_ id: String) throws -> Push { try Push(callID(id), type: "call", payload: [1]) }

    @Test(
        "It ends at its time and not before, unless a Main has it in hand; the timeline tells in the same transaction")
    func ends() async throws {
        let group = try await space.open("group")
        let queue = try MainPushQueue(group, clock: clock)
        let watch = try await queue.mailbox.watch()
        var pushes = UntakenPushes(of: queue, lifetime: .seconds(300), in: clock.bootID)
        for id in ["1@x", "2@x"] {
            try await queue.mailbox.send(queue.bytes(of: push(id), for: .seconds(10)))
        }
        let hand = try #require(try await queue.mailbox.take())
        // Each commit here is about the queue.
        func follow() async throws {
            let last = try await group.list(queue.mailbox.keys.prefix).revision
            var seen = Revision.zero
            while seen < last {
                let event = try #require(try await watch.next())
                pushes.apply(event, at: clock.now())
                seen = event.revision
            }
        }
        try await follow()
        let end = try #require(pushes.nextEnd)
        #expect(pushes.overdue(at: clock.now()).isEmpty)
        clock.advance(by: .seconds(10))
        #expect(end == clock.now() && pushes.overdue(at: clock.now()).count == 1)
        #expect(try await queue.end(pushes.overdue(at: clock.now())) == "type call, “2@x”")
        let event = try #require(try await watch.next())
        pushes.apply(event, at: clock.now())
        let ended = event.revision
        #expect(pushes.nextEnd == nil && pushes.overdue(at: clock.now()).isEmpty)
        #expect(try await queue.mailbox.count().parts == [0, 1])
        let entries = try await Timeline(group).history().records
        #expect(entries.map(\.entry.kind) == [.pushEnded])
        #expect(entries.first?.revision == ended)
        // The push was given back after its time was over.
        try await queue.mailbox.giveBack(hand)
        try await follow()
        #expect(try await queue.end(pushes.overdue(at: clock.now())) == "type call, “1@x”")
        #expect(try await queue.mailbox.count().total == 0)
    }

    @Test("A Main that comes too late ends it, in place of taking it")
    func late() async throws {
        let group = try await space.open("group", as: SessionDescription(role: .main, name: "main"))
        let queue = try MainPushQueue(group, clock: clock)
        let receipt = try await queue.mailbox.send(queue.bytes(of: push("1@x"), for: .seconds(10)))
        clock.advance(by: .seconds(10))
        #expect(try await queue.take(receipt.item, under: .zero) == nil)
        #expect(try await queue.mailbox.count().total == 0)
        #expect(try await Timeline(group).history().records.map(\.entry.kind) == [.pushEnded])
    }

    @Test("A push that a Main takes, or that comes anew, meanwhile does not end")
    func race() async throws {
        let group = try await space.open("group")
        let queue = try MainPushQueue(group, clock: clock)
        let receipt = try await queue.mailbox.send(queue.bytes(of: push("1@x"), for: .seconds(10)))
        clock.advance(by: .seconds(20))
        let delivery = try #require(try await queue.mailbox.take())
        #expect(try await queue.end([receipt.item: receipt.revision]) == nil)
        let store = InterposedStore(group) { transaction throws(SharedCoreError) in
            if try await queue.mailbox.count().waiting == 1 { _ = try await queue.mailbox.take() }
            return transaction
        }
        try await queue.mailbox.giveBack(delivery)
        let racing = try MainPushQueue(store, clock: clock)
        #expect(try await racing.end([receipt.item: receipt.revision]) == nil)
        #expect(try await queue.mailbox.count().parts == [0, 1])
        #expect(try await Timeline(group).history().records.isEmpty)
    }

    @Test(
        "A push of another boot, an unreadable one and one without an end have one lifetime from when they are seen")
    func unknown() async throws {
        let group = try await space.open("group")
        let queue = try MainPushQueue(group, clock: clock)
        let other = MainPushRecord(push: try push("1@x"), end: .init(nanoseconds: 1), bootID: BootID(high: 7, low: 7))
        #expect(MainPushRecord(other.bytes) == other && !other.isOver(at: clock.now(), in: clock.bootID))
        let endless = MainPushRecord(push: try push("2@x"), end: .init(nanoseconds: .max), bootID: clock.bootID)
        for bytes in [other.bytes, [2, 0, 0], endless.bytes] { try await queue.mailbox.send(bytes) }
        let watch = try await queue.mailbox.watch()
        var pushes = UntakenPushes(of: queue, lifetime: .seconds(300), in: clock.bootID)
        pushes.apply(try #require(try await watch.next()), at: clock.now())
        clock.advance(by: .seconds(299))
        #expect(pushes.overdue(at: clock.now()).isEmpty)
        clock.advance(by: .seconds(1))
        let ended = try await queue.end(pushes.overdue(at: clock.now()))
        for name in ["“1@x”", "“2@x”", "cannot be read here"] { #expect(ended?.contains(name) == true) }
        #expect(try await queue.mailbox.count().total == 0)
    }

    @Test("Of many the timeline has one entry for each 100, which names three")
    func many() async throws {
        let group = try await space.open("group")
        let queue = try MainPushQueue(group, clock: clock)
        for number in 0..<150 {
            try await queue.mailbox.send(queue.bytes(of: push("\(number)@x"), for: .seconds(10)))
        }
        clock.advance(by: .seconds(10))
        let watch = try await queue.mailbox.watch()
        var pushes = UntakenPushes(of: queue, lifetime: .seconds(300), in: clock.bootID)
        while let event = try await watch.next() {
            pushes.apply(event, at: clock.now())
            guard try await queue.end(pushes.overdue(at: clock.now())) != nil else { break }
        }
        let reasons = try await Timeline(group).history().records.map(\.entry.reason)
        #expect(reasons.count == 2 && reasons[0].hasSuffix("; and 97 more") && reasons[1].hasSuffix("; and 47 more"))
    }

    @Test("Bytes that are no record are none, however they are cut")
    func damaged() throws {
        let record = MainPushRecord(push: try push("1@x"), end: clock.now(), bootID: clock.bootID)
        for count in 0..<record.bytes.count { #expect(MainPushRecord(Array(record.bytes.prefix(count))) == nil) }
        #expect(MainPushRecord(record.bytes + [0]) == nil)
        #expect(MainPushRecord([2] + record.bytes.dropFirst()) == nil)
    }
}

extension QueueCount {
    /// The pushes that wait, and the pushes that are taken.
    fileprivate var parts: [Int] { [waiting, taken] }
}
