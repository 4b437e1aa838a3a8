import CoreAPI
import CoreAPITesting
import InMemoryBackend
import Mailboxes
import SharedCoreTesting
import TestSupport
import Testing

@testable import Coordination

/// The promises that hold although the store does not answer.
@Suite(.serialized)
struct SilentStoreScenarios {
    private static let expectations: KeyPrefix = ".sharedcore/expectations"

    private func executor(
        in world: World, options: CoordinationOptions = .patient, push: Push? = nil
    ) async throws -> (executor: ExecutorParticipant, store: UncertainStore) {
        let process = world.processes.start()
        let group = try await world.space.open(
            "group", as: SessionDescription(role: .executor, name: "of a silent store"), process: process.identity)
        let store = UncertainStore(group)
        let environment = CoordinationEnvironment(
            clock: world.clock, processes: world.processes, seed: 7, push: push)
        let executor = try ExecutorParticipant(of: store, options: options, environment: environment) {
            ScriptedCore(server: world.server, gauge: world.gauge, process: process, script: .init())
        }
        return (executor, store)
    }

    @Test(
        "C7, C23: a wait ends within 100 ms of its deadline with a timeout although the store does not answer",
        arguments: ["message", "call"])
    func deadline(type: String) async throws {
        let clock = ManualClock()
        let world = World(clock: clock)
        let main = try await world.main("main of a silent store")
        try await main.participant.start()
        let (executor, store) = try await executor(in: world, push: Push(.of("call-1"), type: type))
        let observer = try await world.observer()
        let wait = Task { try await executor.message(forCallID: .of("call-1"), timeout: .seconds(1)) }
        try await eventually("it is known to wait") {
            try await !observer.list(Self.expectations).entries.isEmpty
        }
        store.setSilent(true)

        for _ in 0..<11 {
            try await eventually("somebody sleeps") { clock.sleeperCount > 0 }
            clock.advance(by: .milliseconds(100))
        }

        let error = await #expect(throws: CoordinationError.self) {
            try await withTimeout(TestTimeout.usual, "the wait ends") { try await wait.value }
        }
        #expect(error?.code == .timeout)
        store.setSilent(false)
        try await eventually("its expectation is gone") {
            try await observer.list(Self.expectations).entries.isEmpty
        }
    }

    @Test("C7: so does one that has not begun to follow the group when the store falls silent")
    func deadlineOfTheFirst() async throws {
        let clock = ManualClock()
        let world = World(clock: clock)
        let (executor, store) = try await executor(in: world)
        store.setSilent(true)
        let wait = Task { try await executor.message(forCallID: .of("call-1"), timeout: .seconds(1)) }
        try await eventually("somebody sleeps") { clock.sleeperCount > 0 }

        clock.advance(by: .milliseconds(1_100))

        let error = await #expect(throws: CoordinationError.self) {
            try await withTimeout(TestTimeout.usual, "the wait ends") { try await wait.value }
        }
        #expect(error?.code == .timeout)
        store.setSilent(false)
    }

    /// A store that reaches its group only at times.
    struct OutOfReach: ForwardingStore {
        enum Request { case watch, read, commit }

        let inner: any SharedStore
        /// The requests that are refused, and how many of the refused ones were other than a read of the ownership.
        let refused: Box<Set<Request>>
        let refusals = Box(0)

        private func pass(
            _ request: Request, _ code: SharedCoreError.Code = .unavailable, isCounted: Bool = true
        ) throws(SharedCoreError) {
            guard refused.value.contains(request) else { return }
            if isCounted { refusals.update { $0 += 1 } }
            throw SharedCoreError(code, "The group is out of reach.", at: "test")
        }

        func watch(_ prefixes: [KeyPrefix], from start: WatchStart) async throws(SharedCoreError) -> Watch {
            try pass(.watch)
            return try await inner.watch(prefixes, from: start)
        }

        func list(_ prefix: KeyPrefix, consistency: ReadConsistency) async throws(SharedCoreError) -> Snapshot {
            if consistency == .linearizable { try pass(.read, isCounted: prefix != OwnershipKey.path) }
            return try await inner.list(prefix, consistency: consistency)
        }

        func commit(_ transaction: Transaction) async throws(SharedCoreError) -> Commit {
            try pass(.commit, .outcomeUnknown)
            return try await inner.commit(transaction)
        }
    }

    /// When the group is out of reach.
    enum Outage { case beginning, looking, waiting, taking }

    @Test(
        "C7: a wait outlasts a group that is out of reach for a while, at each of its requests",
        arguments: [
            (OutOfReach.Request.watch, Outage.beginning), (.watch, .looking), (.read, .looking), (.commit, .looking),
            (.read, .waiting), (.commit, .taking),
        ])
    func outage(request: OutOfReach.Request, while outage: Outage) async throws {
        let world = World()
        let main = try await world.main("main")
        try await main.participant.start()
        let process = world.processes.start()
        let group = try await world.space.open(
            "group", as: SessionDescription(role: .executor, name: "waits"), process: process.identity)
        let store = OutOfReach(inner: group, refused: Box([]))
        let executor = try ExecutorParticipant(
            of: store, options: .patient,
            environment: CoordinationEnvironment(clock: world.clock, processes: world.processes, seed: 7, push: nil)
        ) {
            ScriptedCore(server: world.server, gauge: world.gauge, process: process, script: .init())
        }
        let observer = try await world.observer()
        if outage != .beginning {
            // The participant has joined already.
            await #expect(throws: CoordinationError.self) {
                try await executor.message(forCallID: .of("call-0"), timeout: .milliseconds(1))
            }
        }
        let isKnown = [.waiting, .taking].contains(outage)
        if !isKnown { store.refused.update { $0 = [request] } }
        let wait = Task { try await executor.message(forCallID: .of("call-1"), timeout: .seconds(3_600)) }
        if isKnown {
            try await eventually("it is known to wait") {
                try await !observer.list(Self.expectations).entries.isEmpty
            }
            store.refused.update { $0 = [request] }
        }
        let before = store.refusals.value
        if outage == .taking { world.server.receive(try .text("call-1")) }
        try await eventually("it has been refused several times") { store.refusals.value >= before + 5 }
        store.refused.update { $0 = [] }
        if outage != .taking {
            try await eventually("it is known to wait") {
                try await !observer.list(Self.expectations).entries.isEmpty
            }
            world.server.receive(try .text("call-1"))
        }
        let result = try await withTimeout(TestTimeout.usual, "the message comes") { try await wait.value }
        guard case .message(let taken) = result.content else {
            Issue.record("\(result)")
            return
        }
        let expected: CallID = try .of("call-1")
        #expect(taken.message.callID == expected)
        await executor.close()
        await main.participant.stop()
    }

    @Test("S13: a cancelled wait ends at once although the store does not answer")
    func cancellation() async throws {
        let world = World()
        let (executor, store) = try await executor(in: world)
        let wait = Task { try await executor.message(forCallID: .of("call-1"), timeout: .seconds(3600)) }
        try await eventually("its core runs") { try await world.owner()?.state == .running }
        store.setSilent(true)

        wait.cancel()

        let error = await #expect(throws: CoordinationError.self) {
            try await withTimeout(TestTimeout.usual, "the wait ends") { try await wait.value }
        }
        #expect(error?.code == .cancelled)
        store.setSilent(false)
    }

    @Test("C7, C10: a message whose take is on its way at the deadline is given back for others")
    func takeOnItsWay() async throws {
        let world = World()
        let main = try await world.main("main of a silent store")
        try await main.participant.start()
        let process = world.processes.start()
        let group = try await world.space.open(
            "group", as: SessionDescription(role: .executor, name: "of a silent store"), process: process.identity)
        let (isTaking, gate) = (Box(false), Promise<Void>())
        let store = InterposedStore(group) { transaction throws(SharedCoreError) in
            let isTake = transaction.operations.contains { operation in
                if case .put(let key, _, .session) = operation { key.text.hasPrefix(Inbox.path) } else { false }
            }
            guard isTake, !isTaking.value else { return transaction }
            isTaking.update { $0 = true }
            await gate.pass()
            return transaction
        }
        let executor = try ExecutorParticipant(of: store, options: .patient) { ScriptedCore.idle(in: world) }
        let wait = Task { try await executor.message(forCallID: .of("call-1"), timeout: .seconds(3600)) }
        world.server.receive(try .text("call-1"))
        try await eventually("it takes") { isTaking.value }
        wait.cancel()
        _ = await #expect(throws: CoordinationError.self) {
            try await withTimeout(TestTimeout.usual, "the wait ends") { try await wait.value }
        }

        gate.open()

        let other = try await world.executor("other")
        let answer = try await other.participant.message(forCallID: .of("call-1"), timeout: TestTimeout.usual)
        #expect(answer.message != nil)
    }

    @Test("C9: an expectation that is taken back does not take that of a wait that has begun since")
    func expectationOfTheNext() async throws {
        let world = World()
        let main = try await world.main("main of a silent store")
        try await main.participant.start()
        let process = world.processes.start()
        let group = try await world.space.open(
            "group", as: SessionDescription(role: .executor, name: "of a silent store"), process: process.identity)
        let (isDeleting, gate) = (Box(0), Promise<Void>())
        let looks = UncertainStore(group)
        let store = InterposedStore(looks) { transaction throws(SharedCoreError) in
            guard
                transaction.operations.contains(where: { operation in
                    if case .delete(let key) = operation { Self.expectations.contains(key) } else { false }
                })
            else { return transaction }
            let count = isDeleting.update { count in
                count += 1
                return count
            }
            if count == 1 { await gate.pass() }
            return transaction
        }
        let executor = try ExecutorParticipant(of: store, options: .patient) { ScriptedCore.idle(in: world) }
        let observer = try await world.observer()
        let first = Task { try await executor.message(forCallID: .of("call-1"), timeout: .seconds(3600)) }
        try await eventually("the first is known to wait") {
            try await !observer.list(Self.expectations).entries.isEmpty
        }
        first.cancel()
        _ = await first.result
        try await eventually("its expectation is being taken back") { isDeleting.value == 1 }

        let seen = try await observer.watch([Self.expectations], from: .now)
        let lookCount = looks.lookCount
        let second = Task { try await executor.message(forCallID: .of("call-1"), timeout: .seconds(3600)) }
        try await eventually("the second looks") { looks.lookCount > lookCount }
        // The participant continues to the expectation on the thread that answers this call.
        for _ in 0..<100 { _ = await executor.coreStarts }
        gate.open()
        try await withTimeout(TestTimeout.usual, "the first is taken back") {
            while let event = try await seen.next() {
                if case .changes(let changes) = event, changes.changes.contains(where: { $0.new == nil }) { return }
            }
        }
        // In the end the expectation of the second wait is in force.
        try await eventually("the second is known to wait") {
            try await !observer.list(Self.expectations).entries.isEmpty
        }
        world.server.receive(try .text("call-1"))
        #expect(try await second.value.message != nil)
    }

    /// Lets a participant stop at a store that falls silent, and returns the time that it takes.
    ///
    /// - Parameter turn: Waits for a turn of the participant.
    private func timeToStop(
        at store: UncertainStore, by clock: ManualClock, turn: () async -> Void,
        _ stop: @escaping @Sendable () async -> Void
    ) async throws -> Duration {
        // Idle first, so that the next request to the store belongs to the stop.
        try await eventually("it is idle") { store.waiterCount == 0 && clock.sleeperCount > 0 }
        store.setSilent(true)
        defer { store.setSilent(false) }
        let isOver = Box(false)
        let begin = clock.now()
        let task = Task {
            await stop()
            isOver.update { $0 = true }
        }
        try await eventually("the store is asked") { store.waiterCount > 0 }
        while !isOver.value, clock.now() < begin.advanced(by: .seconds(7)) {
            try await eventually("it is over, or a task sleeps") { isOver.value || clock.sleeperCount > 0 }
            clock.advance(by: .milliseconds(50))
            for _ in 0..<10 { await turn() }
        }
        let taken = begin.duration(to: clock.now())
        try await withTimeout(TestTimeout.usual, "it has stopped") { await task.value }
        return taken
    }

    /// Returns when a participant has heard that its core has stopped, which takes no time of the clock.
    private func untilCoreStopped(in participant: Participant) async {
        while await participant.coreStopped == nil, !Task.isCancelled { await Task.yield() }
    }

    /// How long a core takes to stop, and when its Main has stopped then.
    struct Stopping: Sendable {
        let ofCore: Duration?
        let ofMain: Duration
    }

    @Test(
        "S10: a Main that the store does not answer has stopped by its bound, which is shorter once its core has stopped",
        arguments: [
            Stopping(ofCore: .zero, ofMain: .seconds(2)),
            Stopping(ofCore: .milliseconds(1500), ofMain: .milliseconds(3500)),
            Stopping(ofCore: .seconds(4), ofMain: .seconds(5)), Stopping(ofCore: nil, ofMain: .seconds(5)),
        ])
    func stopIsBound(stopping: Stopping) async throws {
        let clock = ManualClock()
        let world = World(clock: clock)
        let process = world.processes.start()
        let group = try await world.space.open(
            "group", as: SessionDescription(role: .main, name: "of a silent store"),
            process: process.identity)
        let store = UncertainStore(group)
        var options = CoordinationOptions.patient
        options.stopTimeout = .seconds(5)
        #expect(options.releaseBound == .seconds(2))
        let environment = CoordinationEnvironment(clock: clock, processes: world.processes, seed: 7)
        var script = ScriptedCore.Script()
        let hang = Promise<Void>()
        if stopping.ofCore != .zero { script.stop = hang }
        let main = try MainParticipant(of: store, options: options, environment: environment) { [script] in
            ScriptedCore(server: world.server, gauge: world.gauge, process: process, script: script)
        }
        try await main.start()
        let begin = clock.now()
        let taken = try await timeToStop(
            at: store, by: clock,
            turn: {
                if let time = stopping.ofCore, begin.duration(to: clock.now()) >= time {
                    hang.open()
                    await untilCoreStopped(in: main.participant)
                }
                _ = await main.coreStarts
            }
        ) {
            await main.stop()
        }
        #expect(taken >= stopping.ofMain && taken <= stopping.ofMain + .milliseconds(500), "\(taken)")
        hang.open()
    }

    @Test("C26: a holder that the store does not answer has stopped by its bound")
    func holderIsBound() async throws {
        let clock = ManualClock()
        let world = World(clock: clock)
        let group = try await world.space.open(
            "group", as: SessionDescription(role: .tool, name: "of a silent store"),
            process: world.processes.start().identity)
        let store = UncertainStore(group)
        let options = CoordinationOptions.patient
        let environment = CoordinationEnvironment(clock: clock, processes: world.processes, seed: 7)
        let holder = try HolderParticipant(of: store, options: options, environment: environment)
        try await holder.start()
        let observer = try await world.observer()
        try await eventually("it holds") { try await observer.get(OwnershipKey.holder) != nil }
        let taken = try await timeToStop(at: store, by: clock, turn: { _ = await holder.isHolding }) {
            await holder.stop()
        }
        #expect(taken >= options.releaseBound && taken <= options.releaseBound + .milliseconds(500), "\(taken)")
    }

    @Test("S10: a Main whose look is on its way to a silent store stops its core at once")
    func stopBehindLook() async throws {
        let clock = ManualClock()
        let world = World(clock: clock)
        let process = world.processes.start()
        let group = try await world.space.open(
            "group", as: SessionDescription(role: .main, name: "of a silent store"), process: process.identity)
        let store = UncertainStore(group)
        let environment = CoordinationEnvironment(clock: clock, processes: world.processes, seed: 7)
        let main = try MainParticipant(of: store, options: .patient, environment: environment) {
            ScriptedCore(server: world.server, gauge: world.gauge, process: process, script: .init())
        }
        try await main.start()
        try await eventually("it is idle") { store.waiterCount == 0 && clock.sleeperCount > 0 }
        store.setSilent(true)
        while store.waiterCount == 0 {
            clock.advance(by: .seconds(1))
            for _ in 0..<10 { _ = await main.coreStarts }
        }

        let stop = Task { await main.stop() }
        try await eventually("its core has stopped") { world.gauge.running.isEmpty }
        store.setSilent(false)
        await stop.value
    }

    @Test("S10: an Executor whose look is on its way to a silent store is finished 2 s after its call")
    func finishBehindLook() async throws {
        let clock = ManualClock()
        let world = World(clock: clock)
        let (executor, store) = try await executor(in: world)
        let wait = Task { try await executor.message(forCallID: .of("call-1"), timeout: .seconds(6)) }
        try await eventually("its core runs") { try await world.owner()?.state == .running }
        try await eventually("it is idle") { store.waiterCount == 0 && clock.sleeperCount > 0 }
        let begin = clock.now()
        store.setSilent(true)
        let finish = Task {
            let error = await #expect(throws: CoordinationError.self) { try await wait.value }
            #expect(error?.code == .timeout)
            await executor.finish()
            return begin.duration(to: clock.now())
        }
        let isOver = Box(false)
        let end = Task {
            let taken = await finish.value
            isOver.update { $0 = true }
            return taken
        }
        while !isOver.value, clock.now() < begin.advanced(by: .seconds(30)) {
            clock.advance(by: .milliseconds(50))
            for _ in 0..<10 { _ = await executor.coreStarts }
            let time = begin.duration(to: clock.now())
            if time >= .milliseconds(6500), time < .seconds(7) {
                try await eventually("its core has stopped") { await executor.participant.coreStopped != nil }
            }
        }

        let taken = try await withTimeout(TestTimeout.usual, "it is finished") { await end.value }
        #expect(taken >= .seconds(8) && taken <= .seconds(9), "\(taken)")
        store.setSilent(false)
    }

    @Test("S10: an Executor that the store does not answer is finished by its bound")
    func finishIsBound() async throws {
        let clock = ManualClock()
        let world = World(clock: clock)
        var options = CoordinationOptions.patient
        options.stopTimeout = .seconds(5)
        options.executorBudget = .seconds(20)
        let (executor, store) = try await executor(in: world, options: options)
        world.server.receive(try .text("call-1"))
        _ = try await executor.message(forCallID: .of("call-1"), timeout: .seconds(3600))
        store.setSilent(true)
        let isOver = Box(false)
        let finish = Task {
            await executor.finish()
            isOver.update { $0 = true }
        }

        // The Executor's budget, the bound of its stop, and a little more.
        let limit = clock.now().advanced(by: .seconds(26))
        while !isOver.value, clock.now() < limit {
            clock.advance(by: .milliseconds(50))
            // The tasks that woke up run before this call is answered.
            for _ in 0..<10 { _ = await executor.coreStarts }
        }

        try await withTimeout(TestTimeout.usual, "it is finished") { await finish.value }
        store.setSilent(false)
    }
}
