import CoreAPI
import CoreAPITesting
import Glibc
import InMemoryBackend
import Platform
import TestSupport
import Testing

@testable import Coordination

/// A loop with a stack that becomes quiet for a Main that sleeps (contract C26).
@Suite("LoopCore: the rest", .serialized)
struct LoopRestTests {
    private let notes = Box(RestNotes())

    private func context() async throws -> CoreContext {
        let group = try await MemorySpace().open("group", as: SessionDescription(role: .main))
        return CoreContext(
            store: group, epoch: Revision(rawValue: 7), role: .main,
            acceptMessage: { _ throws(SharedCoreError) in .stored }, reportProblem: { _ in })
    }

    /// The calls without those of each turn.
    private var calls: [String] { notes.value.calls.filter { $0 != "prepare" && $0 != "dispatch" } }

    private func turns(since count: Int) -> [String] {
        notes.value.calls.dropFirst(count).filter { $0 == "prepare" || $0 == "dispatch" }
    }

    private func request(taking takes: [String] = []) -> StopRequest {
        var request = StopRequest(.handover, by: "main", within: TestTimeout.long)
        request.takes = takes
        return request
    }

    private func core(_ script: RestingStack.Script) -> LoopCore {
        LoopCore { [notes] in RestingStack(notes, script) }
    }

    private func perform(_ name: String) async throws {
        let loop = try #require(notes.value.loop)
        #expect(loop.perform { (stack: RestingStack) in stack.note(name) })
        try await eventually("“\(name)” was called") { notes.value.calls.contains(name) }
    }

    @Test("C26: a stack at rest is not polled, and not called but for closures, until it resumes; all on one thread")
    func rests() async throws {
        let pipe = try Pipe()
        var script = RestingStack.Script()
        script.poll = pipe.output.descriptor
        script.onDispatch = { _ = try? pipe.output.readPart(upTo: 16) }
        let context = try await context()
        let core = core(script)
        try await core.start(in: context)
        try await eventually("it is polled") { notes.value.calls.contains("prepare") }
        try await core.rest(in: context)
        let count = notes.value.calls.count
        #expect(notes.value.calls.last == "rest")
        // A stack that does not rest would be called for this at once.
        try pipe.input.writeStream([1])
        for number in 1...20 { try await perform("perform \(number)") }
        // A second call has no effect.
        try await core.rest(in: context)
        #expect(Array(notes.value.calls.dropFirst(count)) == (1...20).map { "perform \($0)" })
        try await core.resume(in: context, for: .call)
        try await eventually("it is polled again") { notes.value.calls.contains("dispatch") }
        #expect(Array(notes.value.calls.dropFirst(count + 20).prefix(3)) == ["resume call", "prepare", "dispatch"])
        // Without a rest there is nothing to resume.
        try await core.resume(in: context, for: .call)
        await core.stop(request())
        #expect(calls.suffix(3) == ["resume call", "stop", "close"])
        #expect(notes.value.threads.count == 1)
    }

    @Test("C26: nothing wakes the thread of a stack at rest, also where it is called at an interval otherwise")
    func sleeps() async throws {
        var script = RestingStack.Script()
        script.timeout = .milliseconds(1)
        let context = try await context()
        let core = core(script)
        try await core.start(in: context)
        try await core.rest(in: context)
        let number = try #require(notes.value.number)
        let status = "/proc/self/task/\(number)/status"
        func switches() throws -> Int {
            let lines = try #require(OpenFile.text(of: status)).split(separator: "\n")
            let line = try #require(lines.first { $0.hasPrefix("voluntary_ctxt_switches:") })
            return try #require(line.split(separator: "\t").last.flatMap { Int($0) })
        }
        let before = try switches()
        let count = notes.value.calls.count
        // No condition shows that nothing happens. A loop that goes on by its interval wakes 50 times or more in this
        // time.
        try await Task.sleep(for: .milliseconds(100))
        #expect(try switches() - before <= 3)
        #expect(notes.value.calls.count == count)
        await core.stop(request())
    }

    @Test("C26: a stack that is told to stop at rest does so in place of the resume, and is polled for it")
    func stops() async throws {
        let pipe = try Pipe()
        var script = RestingStack.Script()
        script.poll = pipe.output.descriptor
        script.endsAtStop = false
        // The server's answer to its unregistering.
        script.onStop = { try? pipe.input.writeStream([1]) }
        script.onDispatch = { [notes] in notes.value.loop?.end() }
        let context = try await context()
        let core = core(script)
        try await core.start(in: context)
        try await core.rest(in: context)
        await core.stop(request())
        #expect(calls.suffix(3) == ["rest", "stop", "close"])
        #expect(notes.value.calls.suffix(4) == ["stop", "prepare", "dispatch", "close"])
        // Both calls come too late.
        try await core.resume(in: context, for: .user)
        await #expect(throws: SharedCoreError.self) { try await core.rest(in: context) }
        #expect(notes.value.calls.last == "close")
    }

    @Test("C26: a stack at rest that is asked for a baton gives it, or stops")
    func handsOver() async throws {
        for gives in [true, false] {
            notes.update { $0 = RestNotes() }
            var script = RestingStack.Script()
            let baton = try Baton("test/1", bytes: [1], calls: [.of("call-1")])
            script.give = { gives ? baton : nil }
            let context = try await context()
            let core = core(script)
            try await core.start(in: context)
            try await core.rest(in: context)
            let given = await core.handOver(request(taking: ["test/1"]))
            #expect((given != nil) == gives)
            if gives { await core.batonEnded(.applied) }
            #expect(calls.suffix(4) == ["rest", "handOver", gives ? "batonEnded" : "stop", "close"])
        }
    }

    @Test("C26: a stack that cannot be quiet goes on as before, and so does one without a rest of its own")
    func goesOn() async throws {
        let context = try await context()
        var script = RestingStack.Script()
        script.timeout = .milliseconds(1)
        script.onRest = { throw LoopFailure(call: .dispatch) }
        let loud = core(script)
        try await loud.start(in: context)
        await #expect(throws: LoopFailure.self) { try await loud.rest(in: context) }
        let count = notes.value.calls.count
        try await eventually("it is called") { turns(since: count).contains("dispatch") }
        await loud.stop(request())
        #expect(calls.suffix(3) == ["rest", "stop", "close"])

        let other = try await self.context()
        let dispatches = Box(0)
        let plain = LoopCore { PlainStack(dispatches) }
        try await plain.start(in: other)
        let error = await #expect(throws: SharedCoreError.self) { try await plain.rest(in: other) }
        #expect(error?.code == .unsupported)
        let before = dispatches.value
        try await eventually("it is called") { dispatches.value > before + 1 }
        await plain.stop(request())
    }

    @Test("C26: a stack that cannot resume ends its core")
    func cannotResume() async throws {
        var script = RestingStack.Script()
        script.onResume = { throw LoopFailure(call: .start) }
        let context = try await context()
        let core = core(script)
        try await core.start(in: context)
        try await core.rest(in: context)
        await #expect(throws: LoopFailure.self) { try await core.resume(in: context, for: .data) }
        await #expect(throws: LoopFailure.self) { try await core.iterate(in: context) }
        #expect(calls.suffix(3) == ["rest", "resume data", "close"])
    }

    @Test("C26: a core that is given up at rest ends its loop")
    func givenUp() async throws {
        let context = try await context()
        let core = LoopCore(ifStuck: .giveUp) { [notes] in RestingStack(notes, .init()) }
        try await core.start(in: context)
        try await core.rest(in: context)
        context.giveUp.call()
        try await eventually("it is closed") { calls.last == "close" }
        try await core.iterate(in: context)
        #expect(calls.suffix(2) == ["rest", "close"])
    }

    @Test("C26: a rest that the loop has not come to is taken back with its task")
    func takenBack() async throws {
        let context = try await context()
        let core = core(.init())
        try await core.start(in: context)
        let loop = try #require(notes.value.loop)
        let gate = try EventCounter()
        let isInside = Box(false)
        loop.perform { (_: RestingStack) in
            isInside.update { $0 = true }
            _ = Poll.wait(for: [gate.descriptor], timeout: nil)
        }
        try await eventually("the loop is busy") { isInside.value }
        let rest = Task { try await core.rest(in: context) }
        rest.cancel()
        await #expect(throws: CancellationError.self) { try await rest.value }
        gate.raise()
        try await perform("perform")
        #expect(!notes.value.calls.contains("rest"))
        await core.stop(request())
    }

    @Test("C26: a Main whose core is a loop rests by its holder, and resumes")
    func participant() async throws {
        let space = MemorySpace()
        let holder = try HolderParticipant(
            of: await space.open("group", as: SessionDescription(role: .tool, name: "holder")), options: .patient)
        try await holder.start()
        let group = try await space.open("group", as: SessionDescription(role: .main, name: "main"))
        let main = try MainParticipant(of: group, options: .patient) { [notes] in
            LoopCore { RestingStack(notes, .init()) }
        }
        try await main.start()
        let epoch = await main.epoch
        try await eventually("Main may rest") {
            guard try await GroupOwner.current(in: group)?.state == .running else { return false }
            return try await group.get(OwnershipKey.holder) != nil
        }
        try await main.rest()
        #expect(await main.isAtRest)
        #expect(calls.last == "rest")
        try await main.resume()
        #expect(await main.epoch == epoch)
        try await eventually("the stack has gone on") { calls.last == "resume user" }
        await main.stop()
        #expect(calls.suffix(2) == ["stop", "close"])
        await holder.stop()
    }
}

private struct RestNotes {
    var calls: [String] = []
    var threads: Set<UInt> = []
    var loop: LoopContext?
    /// The number of the loop's thread.
    var number: Int?
}

/// A stack that can rest, and notes its calls.
private final class RestingStack: LoopStack {
    struct Script: Sendable {
        var poll: Int32?
        var timeout: Duration?
        var endsAtStop = true
        var give: @Sendable () -> Baton? = { nil }
        var onRest: @Sendable () throws -> Void = {}
        var onResume: @Sendable () throws -> Void = {}
        var onDispatch: @Sendable () -> Void = {}
        var onStop: @Sendable () -> Void = {}
    }

    private let notes: Box<RestNotes>
    private let script: Script
    private var loop: LoopContext?

    init(_ notes: Box<RestNotes>, _ script: Script) {
        self.notes = notes
        self.script = script
    }

    func note(_ call: String) {
        let thread = UInt(pthread_self())
        notes.update {
            $0.threads.insert(thread)
            $0.calls.append(call)
        }
    }

    func start(on loop: LoopContext) {
        self.loop = loop
        notes.update { $0.loop = loop }
        note("start")
    }

    func prepare() -> LoopWait {
        note("prepare")
        return LoopWait(for: script.poll.map { [LoopDescriptor($0, .readable)] } ?? [], atMost: script.timeout)
    }

    func dispatch(_ ready: [LoopDescriptor]) {
        note("dispatch")
        script.onDispatch()
    }

    func rest(in context: LoopContext) throws {
        note("rest")
        let lines = OpenFile.text(of: "/proc/thread-self/status")?.split(separator: "\n") ?? []
        let number = lines.first { $0.hasPrefix("Pid:") }?.split(separator: "\t").last.flatMap { Int($0) }
        notes.update { $0.number = number }
        try script.onRest()
    }

    func resume(in context: LoopContext, for wake: Wake) throws {
        note("resume \(wake)")
        try script.onResume()
    }

    func handOver(_ request: StopRequest) -> Baton? {
        note("handOver")
        return script.give()
    }

    func batonEnded(_ end: BatonEnd) { note("batonEnded") }

    func stop(_ request: StopRequest) {
        note("stop")
        script.onStop()
        if script.endsAtStop { loop?.end() }
    }

    func close() { note("close") }
}

/// A stack with the calls that each has.
private final class PlainStack: LoopStack {
    private let dispatches: Box<Int>
    private var loop: LoopContext?

    init(_ dispatches: Box<Int>) {
        self.dispatches = dispatches
    }

    func start(on loop: LoopContext) { self.loop = loop }
    func prepare() -> LoopWait { .every(.milliseconds(1)) }
    func dispatch(_ ready: [LoopDescriptor]) { dispatches.update { $0 += 1 } }
    func stop(_ request: StopRequest) { loop?.end() }
    func close() {}
}
