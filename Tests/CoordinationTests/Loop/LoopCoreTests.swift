import CoreAPI
import CoreAPITesting
import Glibc
import InMemoryBackend
import Platform
import TestSupport
import Testing

@testable import Coordination

/// A loop without a participant.
@Suite("LoopCore: the loop")
struct LoopCoreTests {
    private let notes = Box(LoopNotes())

    private func context(
        accept: @escaping @Sendable (InboxMessage) async throws(SharedCoreError) -> CoreContext.DeliveryResult = {
            _ throws(SharedCoreError) in .stored
        }
    ) async throws -> CoreContext {
        let group = try await MemorySpace().open("group", as: SessionDescription(role: .main))
        return CoreContext(
            store: group, epoch: Revision(rawValue: 7), role: .main, acceptMessage: accept,
            reportProblem: { [notes] problem in notes.update { $0.reports.append(problem) } })
    }

    private func core(_ script: NotingStack.Script = .init()) -> LoopCore {
        LoopCore { [notes] in try NotingStack(notes, script) }
    }

    private func loop() async throws -> LoopContext {
        try await eventually("it has started") { notes.value.loop != nil }
        return try #require(notes.value.loop)
    }

    private func stop(_ core: LoopCore) async {
        await core.stop(StopRequest(.closing, within: TestTimeout.long))
    }

    @Test("Each callback, each closure and each call back comes on one thread, which no other code is on")
    func oneThread() async throws {
        let pair = try SocketPair()
        var script = NotingStack.Script()
        script.poll = [LoopDescriptor(pair.inner, .readable)]
        script.onReady = { _, loop in
            #expect(pair.readInner() == "x")
            loop.wait { _ in await Task.yield() }
            pair.writeInner("y")
        }
        let core = core(script)
        try await core.start(in: try await context())
        pair.writeOuter("x")
        #expect(await pair.readOuter() == "y")
        let here = pthread_self()
        let loop = try await loop()
        loop.perform { (stack: NotingStack) in stack.note(.perform) }
        try await eventually("it was called") { notes.value.calls.contains(.perform) }
        await stop(core)

        let noted = notes.value
        #expect(Set(noted.calls) == [.make, .start, .prepare, .dispatch, .perform, .stop, .close, .free])
        #expect(noted.threads.count == 1 && !noted.threads.contains(UInt(here)))
        #expect(Array(noted.calls.prefix(3)) == [.make, .start, .prepare])
        #expect(Array(noted.calls.suffix(3)) == [.stop, .close, .free])
    }

    @Test("Readable, writable and closed descriptors are reported as what they are")
    func events() async throws {
        let pair = try SocketPair()
        let seen = Box<[LoopDescriptor]>([])
        var script = NotingStack.Script()
        script.poll = [LoopDescriptor(pair.inner, [.readable, .writable])]
        script.onReady = { [notes] ready, _ in
            seen.update { $0 += ready }
            notes.update { $0.poll = [LoopDescriptor(pair.inner, .readable)] }
            if ready.first?.events.contains(.failed) == true { notes.update { $0.poll = [] } }
            _ = pair.readInner()
        }
        let core = core(script)
        try await core.start(in: try await context())
        try await eventually("it can be written to") { seen.value == [LoopDescriptor(pair.inner, .writable)] }
        pair.writeOuter("x")
        try await eventually("it can be read") { seen.value.last == LoopDescriptor(pair.inner, .readable) }
        pair.closeOuter()
        try await eventually("it is closed") { seen.value.last?.events.contains(.failed) == true }
        await stop(core)
    }

    @Test("With descriptors and no time, nothing but what happens to them wakes the loop")
    func idle() async throws {
        let pair = try SocketPair()
        var script = NotingStack.Script()
        script.poll = [LoopDescriptor(pair.inner, .readable)]
        script.onReady = { _, _ in
            _ = pair.readInner()
            pair.writeInner("y")
        }
        let context = try await context()
        let core = core(script)
        try await core.start(in: context)
        try await eventually("it waits") { notes.value.count(of: .prepare) == 1 }
        // Enough other events for a loop that polls at an interval to poll.
        for number in 1...20 {
            for _ in 1...20 { try await context.store.put("key", [UInt8(number)]) }
            pair.writeOuter("x")
            #expect(await pair.readOuter() == "y")
            try await eventually("it waits again") { notes.value.count(of: .prepare) == number + 1 }
        }
        // No condition shows that nothing happens. A loop that wakes by itself fails here or above; a slow machine
        // never does.
        try await Task.sleep(for: .milliseconds(50))
        #expect(notes.value.count(of: .prepare) == 21 && notes.value.count(of: .dispatch) == 20)
        await stop(core)
    }

    @Test("The interval form calls again and again, with nothing that is ready")
    func interval() async throws {
        var script = NotingStack.Script()
        script.timeout = .milliseconds(1)
        let core = core(script)
        try await core.start(in: try await context())
        try await eventually("it is called") { notes.value.count(of: .dispatch) >= 5 }
        #expect(notes.value.readyCounts.allSatisfy { $0 == 0 })
        await stop(core)
    }

    @Test(
        "A callback that throws ends the core with its error, and the stack is closed",
        arguments: [LoopCall.make, .start, .prepare, .dispatch, .perform])
    func throwing(call: LoopCall) async throws {
        var script = NotingStack.Script()
        script.timeout = .milliseconds(1)
        script.throwing = call
        let core = core(script)
        let context = try await context()
        await #expect(throws: LoopFailure(call: call)) {
            try await core.start(in: context)
            let loop = try await self.loop()
            if call == .perform { loop.perform { (stack: NotingStack) in try stack.enter(.perform) } }
            try await core.iterate(in: context)
        }
        await core.stop(StopRequest(.failed))
        #expect(notes.value.count(of: .close) == (call == .make ? 0 : 1))
        #expect(notes.value.count(of: .stop) == 0)
    }

    @Test("A stop that throws closes the stack, too")
    func throwingStop() async throws {
        var script = NotingStack.Script()
        script.throwing = .stop
        let core = core(script)
        try await core.start(in: try await context())
        await stop(core)
        #expect(Array(notes.value.calls.suffix(3)) == [.stop, .close, .free])
    }

    @Test("A stack that ends by itself ends the core without an error")
    func endsByItself() async throws {
        var script = NotingStack.Script()
        script.timeout = .zero
        script.onReady = { _, loop in loop.end() }
        let core = core(script)
        let context = try await context()
        try await core.start(in: context)
        try await core.iterate(in: context)
        await core.stop(StopRequest(.failed))
        #expect(Array(notes.value.calls.suffix(3)) == [.dispatch, .close, .free])
    }

    @Test("A stack that hears no answer to its stop is closed in three quarters of its time, and the timeline is told")
    func unansweredStop() async throws {
        var script = NotingStack.Script()
        script.endsAtStop = false
        let core = core(script)
        try await core.start(in: try await context())
        await core.stop(StopRequest(.closing, within: .milliseconds(400)))
        #expect(Array(notes.value.calls.suffix(2)) == [.close, .free])
        #expect(notes.value.reports.count == 1)
    }

    @Test("C18: a stop cancels what the loop waits for then; what it waits for later is stored")
    func interruptedDelivery() async throws {
        let (first, second) = (try InboxMessage.text("first"), try InboxMessage.text("second"))
        let isWaiting = Box(false)
        let outcomes = Box<[String]>([])
        var script = NotingStack.Script()
        script.timeout = .zero
        script.onReady = { _, loop in
            do throws(SharedCoreError) {
                try loop.deliver(first)
                outcomes.update { $0.append("stored") }
            } catch {
                outcomes.update { $0.append("\(error.code)") }
            }
        }
        script.onStop = { loop in
            let result = try loop.deliver(second)
            outcomes.update { $0.append("\(result)") }
        }
        let context = try await context { message throws(SharedCoreError) in
            guard message.callID.text == "first" else { return .stored }
            isWaiting.update { $0 = true }
            do {
                try await untilCancelled()
            } catch {
                throw SharedCoreError(.cancelled, "It was cancelled.", at: "test")
            }
            return .stored
        }
        let core = core(script)
        try await core.start(in: context)
        try await eventually("it delivers") { isWaiting.value }
        await stop(core)
        #expect(outcomes.value == ["cancelled", "stored"])
    }

    @Test("Closures come in the order of their calls, and none behind the end")
    func performing() async throws {
        let core = core()
        try await core.start(in: try await context())
        let loop = try await loop()
        let order = Box<[Int]>([])
        for number in 1...100 {
            #expect(loop.perform { (_: NotingStack) in order.update { $0.append(number) } })
        }
        let others = Box(0)
        await withTaskGroup(of: Void.self) { tasks in
            for _ in 1...8 {
                tasks.addTask {
                    for _ in 1...100 { loop.perform { (_: NotingStack) in others.update { $0 += 1 } } }
                }
            }
        }
        try await eventually("all came") { order.value == Array(1...100) && others.value == 800 }
        await stop(core)
        #expect(!loop.perform { (_: NotingStack) in Issue.record("It is over.") })
    }

    @Test("A closure for another type of stack fails the core")
    func otherStack() async throws {
        let core = core()
        let context = try await context()
        try await core.start(in: context)
        try await loop().perform { (_: OtherStack) in }
        let error = await #expect(throws: SharedCoreError.self) { try await core.iterate(in: context) }
        #expect(error?.code == .invalidArgument)
        await core.stop(StopRequest(.failed))
    }

    @Test("A descriptor that is not open fails the core, which says its number")
    func closedDescriptor() async throws {
        var script = NotingStack.Script()
        script.poll = [LoopDescriptor(987, .readable)]
        let core = core(script)
        let context = try await context()
        let error = await #expect(throws: SharedCoreError.self) {
            try await core.start(in: context)
            try await core.iterate(in: context)
        }
        #expect(error?.code == .invalidArgument && error?.message.contains("987") == true)
        await core.stop(StopRequest(.failed))
    }

    @Test("A core that has stopped leaves nothing behind")
    func leavesNothing() async throws {
        weak var canary: Canary?
        do {
            let group = try await MemorySpace().open("group", as: SessionDescription(role: .main))
            let object = Canary()
            canary = object
            let context = CoreContext(
                store: group, epoch: Revision(rawValue: 7), role: .main,
                acceptMessage: { _ throws(SharedCoreError) in .stored },
                reportProblem: { _ in withExtendedLifetime(object) {} })
            let core = LoopCore { OtherStack() }
            try await core.start(in: context)
            await core.stop(StopRequest(.closing, within: .milliseconds(1)))
        }
        try await eventually("the context is gone") { canary == nil }
    }

    @Test("A core is for one ownership, and a task that is cancelled starts no thread")
    func once() async throws {
        let core = core()
        let context = try await context()
        try await core.start(in: context)
        await #expect(throws: SharedCoreError.self) { try await core.start(in: context) }
        await stop(core)

        let second = self.core()
        let gate = Promise<Void>()
        let task = Task {
            await gate.pass()
            try await second.start(in: context)
        }
        task.cancel()
        gate.open()
        await #expect(throws: CancellationError.self) { try await task.value }
        await second.stop(StopRequest(.closing))
        #expect(notes.value.count(of: .make) == 1)
    }
}

/// An object that a test holds weakly, to see when it is freed.
private final class Canary: Sendable {}

/// The calls of a loop to its stack, its making and its freeing.
enum LoopCall: Hashable, Sendable {
    case make, start, prepare, dispatch, perform, stop, close, free
}

/// The calls that a stack has received, with their threads.
struct LoopNotes: Sendable {
    var calls: [LoopCall] = []
    var threads: Set<UInt> = []
    var readyCounts: [Int] = []
    var loop: LoopContext?
    var poll: [LoopDescriptor]?
    var reports: [String] = []

    func count(of call: LoopCall) -> Int { calls.count { $0 == call } }
}

struct LoopFailure: Error, Equatable {
    let call: LoopCall
}

/// A stack that notes each call and its thread.
final class NotingStack: LoopStack {
    struct Script: Sendable {
        var poll: [LoopDescriptor] = []
        var timeout: Duration?
        var throwing: LoopCall?
        var endsAtStop = true
        var onReady: (@Sendable ([LoopDescriptor], LoopContext) throws -> Void)?
        var onStop: (@Sendable (LoopContext) throws -> Void)?
    }

    private let notes: Box<LoopNotes>
    private let script: Script
    private var loop: LoopContext?

    init(_ notes: Box<LoopNotes>, _ script: Script) throws {
        self.notes = notes
        self.script = script
        try enter(.make)
    }

    deinit {
        note(.free)
    }

    func note(_ call: LoopCall) {
        let thread = UInt(pthread_self())
        notes.update {
            $0.calls.append(call)
            $0.threads.insert(thread)
        }
    }

    func enter(_ call: LoopCall) throws {
        note(call)
        if script.throwing == call { throw LoopFailure(call: call) }
    }

    func start(on loop: LoopContext) throws {
        self.loop = loop
        notes.update { $0.loop = loop }
        try enter(.start)
    }

    func prepare() throws -> LoopWait {
        try enter(.prepare)
        return LoopWait(for: notes.value.poll ?? script.poll, atMost: script.timeout)
    }

    func dispatch(_ ready: [LoopDescriptor]) throws {
        notes.update { $0.readyCounts.append(ready.count) }
        try enter(.dispatch)
        if let loop { try script.onReady?(ready, loop) }
    }

    func stop(_ request: StopRequest) throws {
        try enter(.stop)
        if let loop { try script.onStop?(loop) }
        if script.endsAtStop { loop?.end() }
    }

    func close() {
        note(.close)
    }
}

private final class OtherStack: LoopStack {
    func start(on loop: LoopContext) {}
    func prepare() -> LoopWait { .every(.seconds(1)) }
    func dispatch(_ ready: [LoopDescriptor]) {}
    func stop(_ request: StopRequest) {}
    func close() {}
}

/// Two connected sockets: one for a stack, one for the test.
private final class SocketPair: Sendable {
    let inner: Int32
    private let outer: Int32

    init() throws {
        var ends: [Int32] = [0, 0]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0 else {
            throw SystemCallError("socketpair", number: errno, at: "test")
        }
        (inner, outer) = (ends[0], ends[1])
    }

    deinit {
        close(inner)
        close(outer)
    }

    func writeInner(_ text: String) { Self.write(text, to: inner) }
    func writeOuter(_ text: String) { Self.write(text, to: outer) }
    func closeOuter() { shutdown(outer, Int32(SHUT_RDWR)) }

    /// Reads the bytes that have arrived; nil if there are none.
    func readInner() -> String? { Self.read(from: inner) }

    /// Waits until something has come.
    func readOuter() async -> String? {
        try? await eventually("something came") { Poll.wait(for: [outer], timeout: .zero) == [true] }
        return Self.read(from: outer)
    }

    private static func write(_ text: String, to descriptor: Int32) {
        let bytes = Array(text.utf8)
        _ = send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    private static func read(from descriptor: Int32) -> String? {
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
        return count > 0 ? String(decoding: bytes[..<count], as: UTF8.self) : nil
    }
}
