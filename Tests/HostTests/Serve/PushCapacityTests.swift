internal import Coordination
internal import CoreAPI
internal import CoreAPITesting
internal import ExecutorRun
internal import InMemoryBackend
internal import Mailboxes
internal import SharedCoreConfiguration
internal import Synchronization
internal import TestSupport
internal import Testing

@testable internal import SharedCoreHost

@Suite("How many pushes a group keeps")
struct PushCapacityTests {
    private let space = MemorySpace()

    @Test("A push beyond push.capacity is refused with an answer that says so, and taken when there is room")
    func refused() async throws {
        let group = try await space.open("a")
        let queue = try PushQueue(of: group, capacity: .init(count: 2))
        for id in ["1@x", "2@x"] {
            #expect(
                String(decoding: await PushSocket.answer(Array("PUSH \(id)".utf8), queue), as: UTF8.self).hasPrefix(
                    "OK "))
        }
        // Pushes that are taken count as well.
        let delivery = try #require(try await queue.pending.take())
        let answer = String(decoding: await PushSocket.answer(Array("PUSH 3@x".utf8), queue), as: UTF8.self)
        #expect(answer.hasPrefix("ERROR limitExceeded ") && answer.contains("push.capacity is 2"), "\(answer)")
        #expect(try await queue.pending.count().total == 2)
        try await queue.acknowledge(PushQueue.Taken(delivery: delivery, record: PushRecord(delivery.bytes)))
        #expect(
            String(decoding: await PushSocket.answer(Array("PUSH 3@x".utf8), queue), as: UTF8.self).hasPrefix("OK "))
        await group.close()
    }

    @Test("During a flood the queue is counted occasionally, not for each push; removals by others make room")
    func counting() async throws {
        let group = try await space.open("a")
        let counts = Mutex(0)
        let prefix = try PushQueue(of: group).pending.keys.prefix
        let store = InterposedStore(
            group,
            afterList: { listed, _ in
                if listed == prefix { counts.withLock { $0 += 1 } }
            })
        let clock = ManualClock()
        let queue = try PushQueue(of: store, capacity: .init(count: 100), clock: clock)
        for number in 1...100 { _ = try await queue.send(Push(try #require(PushID.callID("\(number)@x")))) }
        let more = try #require(PushID.callID("more@x"))
        for _ in 0..<10 {
            await #expect(throws: SharedCoreError.self) { _ = try await queue.send(Push(more)) }
        }
        #expect(counts.withLock { $0 } == 1)
        let other = try PushQueue(of: group)
        let delivery = try #require(try await other.pending.take())
        try await other.acknowledge(PushQueue.Taken(delivery: delivery, record: nil))
        clock.advance(by: .seconds(60))
        _ = try await queue.send(Push(more))
        #expect(counts.withLock { $0 } == 2)
        await group.close()
    }

    @Test(
        "P11: a push is kept for each 8 KiB of executor.memory at most",
        arguments: [("8MiB", 1_024), ("24MiB", 3_072), ("none", 10_000), ("1GiB", 10_000)])
    func memory(_ memory: String, capacity: Int) throws {
        let resolution = Resolution(
            flags: [:], environment: ["SHAREDCORE_EXECUTOR_MEMORY": memory], file: nil, workingDirectory: "/place")
        #expect(try resolution.pushCapacity(isResident: false).count == capacity)
    }

    @Test("P13: pushes for Main count, and with their payloads all have at most a sixth of executor.memory")
    func payloads() async throws {
        let group = try await space.open("a")
        let routes = try #require(PushRoutes("call=main"))
        let push = try Push(#require(CallID("1@x")), type: "call", payload: Array(repeating: 0xff, count: 4096))
        let counted = try PushQueue(of: group, capacity: .init(count: 2), routes: routes)
        for _ in 0..<2 { _ = try await counted.send(push) }
        let waiting = try Push(push.callID, payload: push.payload)
        // A sender that has put none of these pushes there, so it counts the store's.
        let other = try PushQueue(of: group, capacity: .init(count: 2), routes: routes)
        for queue in [counted, other] {
            await #expect(throws: SharedCoreError.self) { _ = try await queue.send(waiting) }
        }
        #expect(try await counted.count() == PushQueue.Count(forMain: 2))

        let size = counted.place(of: push).bytes.count + 100
        let measured = try PushQueue(of: group, capacity: .init(byteCount: 3 * size), routes: routes)
        _ = try await measured.send(push)
        for refused in [push, waiting] {
            await #expect { _ = try await measured.send(refused) } throws: { error in
                (error as? SharedCoreError)?.message.contains("executor.memory") == true
            }
        }
        _ = try await measured.send(Push(push.callID))
        let resolution = Resolution(
            flags: [:], environment: ["SHAREDCORE_EXECUTOR_MEMORY": "24MiB"], file: nil, workingDirectory: "/place")
        #expect(try resolution.pushCapacity(isResident: false).byteCount == 4 << 20)
        #expect(try resolution.pushCapacity(isResident: true).byteCount == 1 << 20)
        await group.close()
    }

    /// Sends pushes and gives each of them up.
    private func giveUp(_ pushes: [Push], through queue: PushQueue) async throws {
        for push in pushes {
            _ = try await queue.send(push)
            let delivery = try #require(try await queue.pending.take())
            try await queue.giveUp(
                delivery.bytes, PushQueue.Taken(delivery: delivery, record: PushRecord(delivery.bytes)))
        }
    }

    @Test(
        "P13: pushes that were given up count in bytes; the oldest are forgotten for new ones, which the timeline says")
    func givenUpBytes() async throws {
        let group = try await space.open("a")
        let pushes = try (1...5).map { number in
            try Push(#require(CallID("\(number)@x")), payload: Array(repeating: 0xff, count: 4096))
        }
        let size = try PushQueue(of: group).place(of: pushes[0]).bytes.count + 20
        let queue = try PushQueue(of: group, capacity: .init(count: 10, byteCount: 3 * size))
        try await giveUp(Array(pushes[0..<3]), through: queue)
        // Of another process, which has to count them.
        let other = try PushQueue(of: group, capacity: .init(count: 10, byteCount: 3 * size))
        for (sender, push) in [(queue, pushes[3]), (other, pushes[4])] { _ = try await sender.send(push) }
        #expect(try await queue.count() == PushQueue.Count(waiting: 2, givenUp: 1))
        #expect(try await queue.failed.contents().inOrder.map { PushRecord($0.value)?.callID } == ["3@x"])
        let told = try await Timeline(group).history().records.map(\.entry)
        #expect(told.map(\.kind) == [.pushForgotten, .pushForgotten])
        #expect(told.map(\.reason) == ["type message, “1@x”", "type message, “2@x”"])

        // A push that waits is never forgotten, and no push is forgotten for one that finds no room all the same.
        _ = try await queue.send(Push(pushes[0].callID))
        await #expect(throws: SharedCoreError.self) { try await giveUp([pushes[0], pushes[1]], through: queue) }
        #expect(try await queue.pending.count().total >= 2)
        await group.close()
    }

    @Test("As many are tried anew as push.capacity leaves room for; the others stay given up")
    func retrying() async throws {
        let group = try await space.open("a")
        let pushes = try (1...5).map { Push(try #require(CallID("\($0)@x"))) }
        try await giveUp(pushes, through: try PushQueue(of: group))
        let queue = try PushQueue(of: group, capacity: .init(count: 3))
        _ = try await queue.send(Push(try #require(CallID("waiting@x"))))
        var result = try await queue.retryFailures()
        #expect([result.count, result.left] == [2, 3])
        #expect(try await queue.count() == PushQueue.Count(waiting: 3, givenUp: 3))
        result = try await queue.retryFailures()
        #expect([result.count, result.left] == [0, 3])
        let delivery = try #require(try await queue.pending.take())
        try await queue.acknowledge(PushQueue.Taken(delivery: delivery, record: nil))
        result = try await queue.retryFailures()
        #expect([result.count, result.left] == [1, 2])
        await group.close()
    }

    @Test("The command says that it was refused, with status 69")
    func command() async throws {
        var program = try HostProgram()
        program.environment["SHAREDCORE_PUSH_CAPACITY"] = "1"
        #expect(try await program.run("push", "1@x").status == 0)
        let refused = try await program.run("push", "2@x")
        #expect(refused.status == 69 && refused.errors.contains("push.capacity is 1"), "\(refused.errors)")
        #expect(try await program.pushes()["waiting"] == .number(1))
    }

    @Test("Files of a Maildir wait until there is room")
    func maildir() async throws {
        var program = try HostProgram()
        program.environment["SHAREDCORE_PUSH_CAPACITY"] = "1"
        program.environment["SHAREDCORE_EXECUTOR_BUDGET"] = "1h"
        program.environment["SHAREDCORE_PUSH_MAILDIR"] = program.directory.path(of: "mail")
        program.environment["SHAREDCORE_EXECUTOR_COMMAND"] =
            "/bin/sh -c 'while [ ! -e \(program.directory.path(of: "go")) ]; do sleep 0.05; done'"
        for id in ["1@x", "2@x"] { try program.deliver(id, to: "mail") }
        try await ServingHost.serve(program) { host in
            try await host.running.untilErrors(contain: "push.capacity is 1")
            let pushes = try await host.program.pushes()
            #expect([pushes["waiting"], pushes["taken"]].contains(.number(1)))
            #expect(try host.events("started").count <= 1)
            try host.program.write("", to: "go")
            try await host.untilServed(2)
        }
    }

    @Test("S10: what Executors failed for is noted of the largest push in a full store, which is given up there")
    func failuresInAFullStore() async throws {
        let space = MemorySpace(limits: Limits(storeByteCount: 1 << 20))
        let group = try await space.open("a")
        let queue = try PushQueue(of: group)
        let push = try Push(
            #require(PushID.callID(String(repeating: "\"", count: PushID.maximumByteCount))),
            type: String(repeating: "t", count: Push.maximumTypeByteCount),
            account: String(repeating: "\\", count: Push.maximumAccountByteCount),
            payload: Array(repeating: 0xff, count: Push.maximumPayloadByteCount))
        _ = try await queue.send(push)
        let delivery = try #require(try await queue.pending.take())
        var number = 0
        for size in [100_000, 1_000, 10, 0] {
            do throws(SharedCoreError) {
                while true {
                    try await group.put(Key("fill\(number)"), [UInt8](repeating: 0, count: size))
                    number += 1
                }
            } catch {
                #expect(error.code == .limitExceeded)
            }
        }
        var record = try #require(PushRecord(delivery.bytes))
        let taken = PushQueue.Taken(delivery: delivery, record: record)
        for failures in 1...3 {
            record.failures = failures
            record.lastFailure = "it was killed, because it has used 4294967296 bytes, more than executor.memory"
            try await queue.note(record, for: taken)
        }
        try await queue.giveUp(record.bytes, taken)
        #expect(try await queue.count() == PushQueue.Count(givenUp: 1))
        let given = try #require(try await queue.failed.contents().inOrder.first.flatMap { PushRecord($0.value) })
        #expect(given.failures == 3 && given.push == push)
        await group.close()
    }

    @Test("A push that is given up is at every moment in one of the two queues, and the oldest of too many make room")
    func givingUp() async throws {
        let group = try await space.open("a")
        let totals = Mutex<[Int]>([])
        let inner = try PushQueue(of: group)
        let store = InterposedStore(group) { transaction throws(SharedCoreError) in
            let total = try await inner.pending.count().total + inner.failed.count().total
            totals.withLock { $0.append(total) }
            return transaction
        }
        let queue = try PushQueue(of: store, failureCapacity: 3)
        for number in 0...3 {
            _ = try await inner.send(Push(try #require(PushID.callID("\(number)@x"))))
            let delivery = try #require(try await inner.pending.take())
            try await queue.giveUp(
                delivery.bytes, PushQueue.Taken(delivery: delivery, record: PushRecord(delivery.bytes)))
        }
        #expect(totals.withLock { $0 } == [1, 2, 3, 4])
        #expect(try await queue.count() == PushQueue.Count(givenUp: 3))
        let oldest = try await queue.failed.contents().inOrder.first.flatMap { PushRecord($0.value)?.callID }
        #expect(oldest == "1@x")
        await group.close()
    }
}
