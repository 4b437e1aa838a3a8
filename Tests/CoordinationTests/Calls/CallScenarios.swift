import CoreAPI
import CoreAPITesting
import InMemoryBackend
import SharedCoreTesting
import TestSupport
import Testing

@testable import Coordination

/// Calls of participants (contract C23, C24).
@Suite("Calls: scenarios")
struct CallScenarios {
    private func description(_ id: String) throws -> CallDescription {
        CallDescription(try .of(id), .incoming, from: "sip:ann", to: "sip:bob")
    }

    private func moved(_ clock: ManualClock, until wait: Task<MessageResult, any Error>) async throws {
        let isOver = Box(false)
        async let over: Void = {
            _ = await wait.result
            isOver.update { $0 = true }
        }()
        // Wait no longer than the deadline: the answer is due within 50 ms of it, and a busy machine takes longer.
        let deadline = clock.now().advanced(by: .seconds(1))
        try await eventually("the wait has ended", timeout: TestTimeout.usual) {
            if clock.now() < deadline { clock.advance(by: .milliseconds(100)) }
            return isOver.value
        }
        await over
    }

    @Test("The call that an Executor's own core receives answers it, and keeps the core until it ends")
    func ownCore() async throws {
        let world = World()
        let contexts = Box<[CoreContext]>([])
        var script = ScriptedCore.Script()
        script.onStart = { context in contexts.update { $0.append(context) } }
        let executor = try await world.executor(script: script)
        let wait = executor.wait(for: "ring")
        try await eventually("its core runs") { try await world.owner()?.state == .running }
        let context = try #require(contexts.value.first)
        let call = try await context.begin(call: description("ring"), in: .ringing)
        let answer = try await wait.value
        #expect(answer.source == .core)
        guard case .call(let found) = answer.content else { return #expect(Bool(false), "\(answer)") }
        #expect(found.state == .ringing && found.holder?.epoch == context.epoch)
        let finished = Box(false)
        let finish = Task {
            await executor.participant.finish()
            finished.update { $0 = true }
        }
        try await call.change(to: .answered)
        #expect(!finished.value)
        try await call.end(.remoteHungUp)
        await finish.value
        #expect(try await Calls(world.observer()).list().map(\.state) == [.ended(.remoteHungUp)])
        await executor.participant.close()
    }

    @Test(
        "A push of type call without its call by the deadline has nothing to show; one of another type is a timeout",
        arguments: ["call", "message"])
    func silence(type: String) async throws {
        let clock = ManualClock()
        let world = World(clock: clock)
        let executor = try await world.executor(push: try Push(.of("ring"), type: type))
        let wait = Task { try await executor.participant.message(forCallID: .of("ring"), timeout: .seconds(1)) }
        try await eventually("its core runs") { try await world.owner()?.state == .running }
        try await moved(clock, until: wait)
        if type == "call" {
            #expect(try await wait.value.content == .nothingToShow)
        } else {
            let error = await #expect(throws: CoordinationError.self) { try await wait.value }
            #expect(error?.code == .timeout)
        }
        await executor.participant.close()
    }

    @Test("A push of type call whose core cannot start is no answer")
    func failed() async throws {
        let clock = ManualClock()
        let world = World(clock: clock)
        var script = ScriptedCore.Script()
        script.failure = ScriptedCore.CoreFailure(description: "the line is dead")
        let executor = try await world.executor(script: script, push: try Push(.of("ring"), type: "call"))
        let wait = Task { try await executor.participant.message(forCallID: .of("ring"), timeout: .seconds(1)) }
        try await eventually("its core has failed") {
            try await world.report().entries.contains { $0.kind == .released }
        }
        try await moved(clock, until: wait)
        let error = await #expect(throws: CoordinationError.self) { try await wait.value }
        #expect(
            error?.code == .coreFailed
                && error?.message.hasSuffix("the line is dead; no message “ring” came before the deadline") == true,
            "\(String(describing: error))")
        await executor.participant.close()
    }

    @Test("A lost call is waited for, since it may come again; at the deadline it is the answer")
    func lost() async throws {
        let clock = ManualClock()
        let world = World(clock: clock)
        var script = ScriptedCore.Script()
        let call = try description("ring")
        script.onStart = { context in _ = try await context.begin(call: call, in: .answered) }
        let main = try await world.main(script: script)
        try await main.participant.start()
        main.process.kill()
        let executor = try await world.executor()
        let wait = Task { try await executor.participant.message(forCallID: .of("ring"), timeout: .seconds(1)) }
        try await eventually("a core runs for it") {
            let owner = try await world.owner()
            return owner?.role == .executor && owner?.state == .running
        }
        try await moved(clock, until: wait)
        guard case .call(let found) = try await wait.value.content else { return #expect(Bool(false)) }
        #expect(found.state == .ended(.lost))
        await executor.participant.close()
    }

    @Test("A core that stops with an open call has it lost, and a reader hears so")
    func stopped() async throws {
        let world = World()
        var script = ScriptedCore.Script()
        let call = try description("ring")
        script.onStart = { context in _ = try await context.begin(call: call, in: .answered) }
        let main = try await world.main(script: script)
        try await main.participant.start()
        let observer = try await world.observer()
        var changes = try await Calls(observer).changes().makeAsyncIterator()
        #expect(try await changes.next()?.map(\.state) == [.answered])
        await main.participant.stop()
        var last: [Call]? = []
        repeat { last = try await changes.next() } while last?.first?.isOpen == true
        #expect(last?.map(\.state) == [.ended(.lost)])
    }

    @Test("C24: a sender whose task is cancelled has its command removed; where 16 wait no more are sent")
    func manyCommands() async throws {
        let core = try await CallsFixture()
        let call = try await core.begin("ring")
        let path: KeyPrefix = ".sharedcore/calls/command"
        let sent = (0..<16).map { _ in Task { try await core.calls.send(.answer, to: call.id, within: .seconds(60)) } }
        try await eventually("all wait") { try await core.group.list(path).entries.count == 16 }
        let error = await #expect(throws: CoordinationError.self) {
            try await core.calls.send(.answer, to: call.id, within: .seconds(60))
        }
        #expect(error?.code == .store && error?.cause?.code == .limitExceeded)
        for task in sent { task.cancel() }
        for task in sent {
            let error = await #expect(throws: CoordinationError.self) { try await task.value }
            #expect(error?.code == .cancelled)
        }
        #expect(try await core.group.list(path).entries.isEmpty)
    }

    @Test(
        "C24: a command that was taken and is not answered is unknown at the deadline, and its late answer does no harm"
    )
    func unanswered() async throws {
        let core = try await CallsFixture()
        let call = try await core.begin("ring")
        var commands = try await call.commands().makeAsyncIterator()
        let sent = Task { try await core.calls.send(.hold, to: call.id, within: .seconds(1)) }
        let received = try #require(try await commands.next())
        #expect(received.command == .hold && received.sender == core.group.session.id)
        try await eventually("its sender waits") { core.clock.sleeperCount == 2 }
        core.clock.advance(by: .milliseconds(1_500))
        let error = await #expect(throws: CoordinationError.self) { try await sent.value }
        #expect(error?.code == .outcomeUnknown)
        try await received.accept()
        #expect(try await core.group.list(".sharedcore/calls/command").entries.isEmpty)
        try await call.end(.hungUp)
        #expect(try await commands.next() == nil)
    }

    @Test(
        "C24: a holder that ends the call as it was told, and then ends without an answer, has done it",
        arguments: [
            (CallCommand.hangUp, Call.EndReason.hungUp, true), (.decline, .declined, true), (.hangUp, .declined, false),
            (.hold, .hungUp, false), (.hangUp, .lost, false),
        ])
    func endedWithoutAnswer(command: CallCommand, reason: Call.EndReason, isDone: Bool) async throws {
        let world = World()
        let call = try description("ring")
        let taken = Box<ReceivedCallCommand?>(nil)
        var script = ScriptedCore.Script()
        script.onStart = { context in
            let open = try await context.begin(call: call, in: .answered)
            let commands = try await open.commands()
            Task {
                for try await received in commands {
                    if reason != .lost { try await open.end(reason) }
                    taken.update { $0 = received }
                }
            }
        }
        let main = try await world.main(script: script)
        try await main.participant.start()
        let calls = try await Calls(world.observer())
        let sent = Task { try await calls.send(command, to: call.id, within: .seconds(600)) }
        try await eventually("it is taken") { taken.value != nil }
        await main.participant.stop()
        let result = await sent.result
        if isDone {
            #expect(throws: Never.self) { try result.get() }
        } else {
            let error = #expect(throws: CoordinationError.self) { try result.get() }
            #expect(error?.code == .outcomeUnknown)
        }
    }

    @Test("C24: an outcome that the holder has reported counts, although the command cannot be removed")
    func reportedOutcome() async throws {
        let core = try await CallsFixture()
        let isFailing = Box(false)
        let store = InterposedStore(
            try await core.window(),
            beforeCommit: { transaction throws(SharedCoreError) in
                if isFailing.value { throw SharedCoreError(.unavailable, "The store fails.", at: "test") }
                return transaction
            })
        let call = try await core.begin("ring")
        var commands = try await call.commands().makeAsyncIterator()
        let sent = Task { try await Calls(store, clock: core.clock).send(.hold, to: call.id, within: .seconds(600)) }
        let received = try #require(try await commands.next())
        isFailing.update { $0 = true }
        try await received.accept()
        try await sent.value
        try await call.end(.hungUp)
    }

    @Test("C24: a command whose group falls silent behind its take is unknown a second behind its time")
    func silentGroup() async throws {
        let core = try await CallsFixture()
        let store = UncertainStore(try await core.window())
        let call = try await core.begin("ring")
        var commands = try await call.commands().makeAsyncIterator()
        let sent = Task {
            try await Calls(store, clock: core.clock).send(.hold, to: call.id, within: .seconds(1))
        }
        let received = try #require(try await commands.next())
        try await eventually("its sender waits") { core.clock.sleeperCount == 2 }
        store.setSilent(true)
        core.clock.advance(by: .milliseconds(1_900))
        try await eventually("it asks what came of it") { store.waiterCount == 1 }
        core.clock.advance(by: .milliseconds(100))
        let error = await #expect(throws: CoordinationError.self) {
            try await withTimeout(TestTimeout.usual, "the command ends") { try await sent.value }
        }
        #expect(error?.code == .outcomeUnknown)
        store.setSilent(false)
        try await received.accept()
        try await call.end(.hungUp)
    }

    @Test("C24: a command that a silent group has not taken in is not carried out, and not written later")
    func silentFromTheBegin() async throws {
        let core = try await CallsFixture()
        let store = UncertainStore(try await core.window())
        let calls = Calls(store, clock: core.clock)
        let call = try await core.begin("ring")
        var commands = try await call.commands().makeAsyncIterator()
        store.setSilent(true)
        let sent = Task { try await calls.send(.hangUp, to: call.id, within: .seconds(1)) }
        try await eventually("it waits") { store.waiterCount == 1 && core.clock.sleeperCount == 1 }
        core.clock.advance(by: .seconds(2))
        let error = await #expect(throws: CoordinationError.self) {
            try await withTimeout(TestTimeout.usual, "the command ends") { try await sent.value }
        }
        #expect(error?.code == .timeout)
        store.setSilent(false)
        let next = Task { try await calls.send(.hold, to: call.id, within: .seconds(600)) }
        let received = try #require(try await commands.next())
        #expect(received.command == .hold)
        try await received.accept()
        try await next.value
        #expect(try await core.commands().isEmpty)
        try await call.end(.hungUp)
    }

    @Test("C24: a command that was taken is not taken by the next holder, and its sender finds that it was taken")
    func takenOnce() async throws {
        let former = try await CallsFixture()
        let window = try await former.window()
        let call = try await former.begin("ring")
        let key = try await former.leave(.answer, for: call, by: window)
        var taken = try await call.commands().makeAsyncIterator()
        #expect(try await taken.next()?.command == .answer)
        // The next core begins the same call, at the same time.
        let core = try await former.next()
        var commands = try await core.begin("ring").commands().makeAsyncIterator()
        let sent = Task { try await Calls(window).send(.decline, to: call.id, within: .seconds(600)) }
        let received = try #require(try await commands.next())
        try #require(received.command == .decline)
        try await received.accept()
        try await sent.value
        #expect(try await Calls(window).withdraw(key)?.kind == .taken)
        #expect(try await core.commands().isEmpty)
    }

    @Test("C24: a command for a call that has ended is not carried out by the next call of its id")
    func formerCall() async throws {
        let core = try await CallsFixture()
        let window = try await core.window()
        let call = try await core.begin("ring")
        let key = try await core.leave(.answer, for: call, by: window)
        try await call.end(.missed)
        core.clock.advance(by: .milliseconds(1))
        var commands = try await core.begin("ring").commands().makeAsyncIterator()
        let sent = Task { try await Calls(window).send(.decline, to: call.id, within: .seconds(600)) }
        let received = try #require(try await commands.next())
        try #require(received.command == .decline)
        try await received.accept()
        try await sent.value
        #expect(try await Calls(window).withdraw(key) == nil)
    }

    @Test(
        "C24: a command whose sender has ended is not carried out, though nothing has noticed the end before the take")
    func unnoticedEnd() async throws {
        let core = try await CallsFixture()
        let window = try await core.window()
        let call = try await core.begin("ring")
        let key = try await core.leave(.answer, for: call, by: window)
        // As over files, where a process that asks for the sessions finds the dead sessions.
        let store = InterposedStore(core.context.store, afterSessions: { await window.close() })
        let holder = OpenCall(id: call.id, key: call.key, context: core.context(through: store))
        var commands = try await holder.commands().makeAsyncIterator()
        #expect(try await core.commands() == [key])
        let sent = Task { try await core.calls.send(.decline, to: call.id, within: .seconds(600)) }
        let received = try #require(try await commands.next())
        try #require(received.command == .decline)
        try await received.accept()
        try await sent.value
        #expect(try await core.commands().isEmpty)
    }

    @Test(
        "C24: a command whose time is over is not carried out, though its sender is stopped and has not taken it back")
    func late() async throws {
        let core = try await CallsFixture()
        let call = try await core.begin("ring")
        let (stopped, distant) = (try await core.window(), try await core.window())
        let late = try await core.leave(
            .answer, for: call, by: stopped, before: core.clock.now().advanced(by: .seconds(1)))
        core.clock.advance(by: .seconds(1))
        // The clock of another machine does not count here.
        _ = try await core.leave(
            .hold, for: call, by: distant, before: BootInstant(nanoseconds: 0), in: BootID(high: 7, low: 7))
        var commands = try await call.commands().makeAsyncIterator()
        let received = try #require(try await commands.next())
        try #require(received.command == .hold)
        try await received.accept()
        #expect(try await Calls(stopped).withdraw(late) == nil, "its sender hears that it was not taken")
    }

    @Test("C24: what a holder said of a command whose sender has ended is removed")
    func leftovers() async throws {
        let core = try await CallsFixture()
        let call = try await core.begin("ring")
        var commands = try await call.commands().makeAsyncIterator()
        func receive() async throws -> (ReceivedCallCommand, MemoryGroup) {
            let window = try await core.window()
            _ = try await core.leave(.hold, for: call, by: window)
            return (try #require(try await commands.next()), window)
        }
        let (first, sender) = try await receive()
        await sender.close()
        #expect(try await core.commands().count == 1)
        try await first.accept()
        #expect(try await core.commands().isEmpty, "by its answer")

        let (second, another) = try await receive()
        try await second.accept()
        await another.close()
        #expect(try await core.commands().count == 1)
        let (third, last) = try await receive()
        #expect(try await core.commands().count == 2, "by the next take")

        try await third.accept()
        await last.close()
        let next = try await core.next()
        try await next.context.endLostCalls()
        #expect(try await next.commands().isEmpty, "by the next core")
    }

    @Test("C24: a stack with an event loop begins a call, and answers its commands on the loop's thread")
    func loop() async throws {
        let fixture = try await CallsFixture()
        let notes = Box(LoopNotes())
        let core = LoopCore { try NotingStack(notes, NotingStack.Script()) }
        try await core.start(in: fixture.context)
        try await eventually("it has started") { notes.value.loop != nil }
        let loop = try #require(notes.value.loop)
        let open = Box<OpenCall?>(nil)
        let call = try description("ring")
        loop.perform { (_: NotingStack) in
            let begun = try loop.begin(call: call, in: .ringing) { (stack: NotingStack, received) in
                stack.note(.dispatch)
                guard received.command == .answer, let call = open.value else {
                    return try loop.refuse(received, because: "not here")
                }
                try loop.change(call, to: .answered)
                try loop.accept(received)
            }
            open.update { $0 = begun }
        }
        try await eventually("it rings") { try await fixture.calls.list().first?.state == .ringing }
        try await fixture.calls.send(.answer, to: call.id, within: .seconds(60))
        #expect(try await fixture.calls.list().first?.state == .answered)
        let error = await #expect(throws: CoordinationError.self) {
            try await fixture.calls.send(.hold, to: call.id, within: .seconds(60))
        }
        #expect(error?.code == .refused)
        await core.stop(StopRequest(.closing, within: TestTimeout.long))
        #expect(notes.value.threads.count == 1 && notes.value.count(of: .dispatch) == 2)
    }
}
