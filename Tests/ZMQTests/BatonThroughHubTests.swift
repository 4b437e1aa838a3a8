internal import CoreAPI
internal import CoreAPITesting
internal import Platform
internal import TestSupport
internal import Testing

@testable internal import Coordination
@testable import ZMQBackend

extension ZMQTests {
    /// A call moves between two participants that share a hub and no machine (contract C25).
    @Suite("C25: a call moves through a hub", .serialized)
    struct BatonThroughHubTests {
        private static let secret = "do-not-store-this-key"
        private static let marker = Array(secret.utf8)
        private let notes = Box<[String]>([])
        /// The open call.
        private let open = Box<OpenCall?>(nil)

        /// A core with a call that moves with its bytes.
        private final class BytesCore: Core {
            let name: String
            let begins: Bool
            let needs: BatonNeed
            let descriptors: [Int32]
            let notes: Box<[String]>
            let open: Box<OpenCall?>
            /// True if it may apply a baton that it has received.
            let applies: Box<Bool>

            init(
                _ name: String, begins: Bool, needs: BatonNeed, descriptors: [Int32] = [], notes: Box<[String]>,
                open: Box<OpenCall?>, applies: Box<Bool> = Box(true)
            ) {
                self.open = open
                self.applies = applies
                self.name = name
                self.begins = begins
                self.needs = needs
                self.descriptors = descriptors
                self.notes = notes
            }

            func note(_ text: String) { notes.update { $0.append("\(name) \(text)") } }

            func start(in context: CoreContext) async throws {
                guard let baton = context.baton else {
                    guard begins, let id = CallID("call-1") else { return }
                    let call = try await context.begin(
                        call: CallDescription(id, .incoming, from: "sip:ann", to: "sip:bob"), in: .answered,
                        moves: "test/1", needs: needs)
                    open.update { $0 = call }
                    return note("began")
                }
                note("got \(baton.bytes == BatonThroughHubTests.marker)")
                while !applies.value { try await Task.sleep(for: .milliseconds(2)) }
                let call = try await baton.apply().first
                open.update { $0 = call }
                note("goes on")
            }

            func iterate(in context: CoreContext) async throws { try await Task.sleep(for: .seconds(3600)) }

            func stop() async {}

            func stop(_ request: StopRequest) async { note("stops: \(request.reason)") }

            func handOver(_ request: StopRequest) async -> Baton? {
                note("gives over \(request.batonReach)")
                guard let id = open.value?.id else {
                    await stop(request)
                    return nil
                }
                return try? Baton("test/1", bytes: BatonThroughHubTests.marker, descriptors: descriptors, calls: [id])
            }

            func batonEnded(_ end: BatonEnd) async { note("hears \(end)") }
        }

        private var options: CoordinationOptions {
            var options = CoordinationOptions(
                handoverTimeout: .seconds(10), handoverMaximumTimeout: .seconds(60), executorBudget: .seconds(600),
                coreLinger: .seconds(600), stopTimeout: .seconds(10))
            options.takesBatons = ["test/1"]
            options.batonLifetime = .seconds(20)
            return options
        }

        private func environment(_ place: @escaping @Sendable (String) -> Void) -> CoordinationEnvironment {
            var environment = CoordinationEnvironment()
            environment.system.batons = AfarTransport()
            environment.system.place = { place("\($0)") }
            return environment
        }

        /// An Executor with a call over one connection, and a Main over another.
        private struct Pair {
            let executor: ExecutorParticipant
            let main: MainParticipant
            let groups: [ZMQGroup]

            func close() async {
                await main.stop()
                await executor.close()
                for group in groups { await group.close() }
            }
        }

        private func pair(
            _ stage: HubStage, at endpoint: HubEndpoint, needs: BatonNeed = .bytes, descriptors: [Int32] = [],
            executorAt: HubEndpoint? = nil, options: CoordinationOptions? = nil, applies: Box<Bool> = Box(true),
            place: @escaping @Sendable (String) -> Void = { _ in }
        ) async throws -> Pair {
            let (near, far) = (
                try await stage.client(
                    at: executorAt ?? endpoint, as: SessionDescription(role: .executor, name: "executor")),
                try await stage.client(at: endpoint, as: SessionDescription(role: .main, name: "main"))
            )
            let options = options ?? self.options
            let (notes, open) = (notes, open)
            let executor = try ExecutorParticipant(
                of: near, options: options, environment: environment(place),
                core: {
                    BytesCore(
                        "executor", begins: true, needs: needs, descriptors: descriptors, notes: notes, open: open)
                })
            let main = try MainParticipant(
                of: far, options: options, environment: environment(place),
                core: {
                    BytesCore("main", begins: false, needs: needs, notes: notes, open: open, applies: applies)
                })
            try await executor.start()
            try await untilNoted("executor began")
            return Pair(executor: executor, main: main, groups: [near, far])
        }

        private func untilNoted(_ note: String) async throws {
            try await eventually("noted: \(note)", timeout: TestTimeout.usual) { notes.value.contains(note) }
        }

        private func tcp() -> HubEndpoint { .tcp(host: "127.0.0.1", port: 0) }

        private func states(_ group: ZMQGroup) async throws -> [Call.State] {
            try await Calls(group).list().map(\.state)
        }

        private func kinds(_ group: ZMQGroup) async throws -> [TimelineEntry.Kind] {
            try await Timeline(group).history().records.map(\.entry.kind).filter {
                [.batonOffered, .batonApplied, .batonFailed, .batonExpired].contains($0)
            }
        }

        @Test("C25: a call that needs the bytes alone moves between two clients of a hub", arguments: [false, true])
        func moves(overSocket: Bool) async throws {
            let stage = try HubStage()
            let refusals = Box<[String]>([])
            let hub = try await stage.hub(at: [tcp(), stage.endpoint]) { error in
                refusals.update { $0.append("\(error)") }
            }
            let listener = try HubListener(at: stage.endpoint)
            let applies = Box(false)
            let pair = try await pair(
                stage, at: hub.endpoints[0], executorAt: overSocket ? stage.endpoint : hub.endpoints[0],
                applies: applies)
            let start = Task { try await pair.main.start() }
            try await untilNoted("main got true")
            // The hub has the bytes.
            try await listener.ask()
            let reader = try await ZMQGroup.openToRead(stage.endpoint, group: "group")
            try await expectNoSecrets(in: reader)
            await reader.close()
            applies.update { $0 = true }
            try await start.value
            try await eventually("the old core hears of it", timeout: TestTimeout.usual) {
                notes.value.contains { $0.hasPrefix("executor hears") }
            }
            let problems = try await Timeline(pair.groups[1]).history().records.map(\.entry)
                .filter { $0.kind == .problem }.map(\.reason)
            #expect(problems == [])
            #expect(notes.value.suffix(2).contains("executor hears applied"), "\(notes.value)")
            #expect(notes.value.contains("executor gives over bytes"))
            #expect(notes.value.contains("main got true"))
            let group = pair.groups[1]
            #expect(try await states(group) == [.answered])
            #expect(try await Calls(group).list().map { $0.holder?.name } == ["main"])
            #expect(try await kinds(group) == [.batonOffered, .batonApplied])
            let activity = try #require(try await Activity.current(in: group).first)
            #expect(activity.moves == "test/1" && activity.needs == .bytes)
            #expect(try await group.get(OwnershipKey.baton) == nil)
            try await expectNoSecrets(in: group)
            await pair.close()
            await hub.stop()
            listener.listen()
            func hasText(_ text: String) -> Bool {
                listener.frames.contains { !$0.isEmpty && String(decoding: $0, as: UTF8.self).contains(text) }
            }
            // The listener has received the public parts: the call, the baton's record, and its end.
            for text in ["call-1", "test/1", "sip:ann"] { #expect(hasText(text), "\(text)") }
            #expect(!hasText(Self.secret))
            #expect(try FilesWithText.find(Self.secret, below: stage.directory.path) == [])
            #expect(try FilesWithText.find("call-1", below: stage.directory.path) != [])
            #expect(!refusals.value.contains { $0.contains(Self.secret) })
        }

        /// Expects that no entry, no line of the timeline and no report has the bytes of the baton.
        private func expectNoSecrets(in group: any SharedStore) async throws {
            for entry in try await group.list("").entries {
                #expect(!String(decoding: entry.value, as: UTF8.self).contains(Self.secret), "\(entry.key)")
            }
            let history = try await Timeline(group).history()
            let report = TimelineChecker.check(history)
            #expect(!"\(history.records) \(report) \(report.describe())".contains(Self.secret))
        }

        @Test("C25: a call that needs descriptors does not move through a hub: the Main waits for its end")
        func needsDescriptors() async throws {
            let stage = try HubStage()
            let hub = try await stage.hub(at: [tcp()])
            try await waits(try await pair(stage, at: hub.endpoints[0], needs: .descriptors))
            await hub.stop()
        }

        @Test("C25: a hub of an earlier release keeps no batons and is asked for none: the Main waits for the call")
        func olderHub() async throws {
            let stage = try HubStage()
            let armed = FailPoint.arm("hub.batonBytes:fail*")
            defer { armed.disarm() }
            let hub = try await stage.hub(at: [tcp()])
            let pair = try await pair(stage, at: hub.endpoints[0])
            #expect(!pair.groups[0].capabilities.features.contains(.batonBytes))
            let refused = await #expect(throws: SharedCoreError.self) {
                try await pair.groups[0].keepBaton([1], of: Revision(rawValue: 1), for: .seconds(1))
            }
            #expect(refused?.code == .unsupported)
            try await waits(pair)
            await hub.stop()
        }

        private func waits(_ pair: Pair) async throws {
            let start = Task { try await pair.main.start() }
            let group = pair.groups[0]
            try await eventually("Main has asked") { try await group.get(OwnershipKey.handover) != nil }
            // The Executor is still busy: its core is not asked for a baton.
            #expect(!notes.value.contains { $0.hasPrefix("executor gives") })
            let call = try #require(open.value)
            open.update { $0 = nil }
            try await call.end(.hungUp)
            try await start.value
            #expect(notes.value.contains("executor stops: handover"))
            await pair.close()
        }

        @Test("C25: a baton with descriptors is not given to a hub: the core ends the call")
        func descriptorsRefused() async throws {
            let stage = try HubStage()
            let hub = try await stage.hub(at: [tcp()])
            let pipe = try Pipe()
            let pair = try await pair(
                stage, at: hub.endpoints[0], descriptors: [pipe.input.descriptor])
            try await pair.main.start()
            try await untilNoted("executor hears refused")
            #expect(try await kinds(pair.groups[1]) == [])
            #expect(try await states(pair.groups[1]) == [.ended(.lost)])
            await pair.close()
            await hub.stop()
        }

        /// The fault of the hub, and the step at which it comes.
        struct Fault: Sendable, CustomTestStringConvertible {
            let place: String
            let isKilled: Bool
            /// True if the hub is stopped for longer than the baton's lifetime.
            var isLong = false

            var testDescription: String {
                "the hub is \(isKilled ? "killed" : isLong ? "stopped for more than a lifetime" : "stopped for 3 s") at \(place)"
            }
        }

        private static let faults =
            ["baton.given", "baton.kept", "baton.taken", "baton.prepared"].flatMap { place in
                [true, false].map { Fault(place: place, isKilled: $0) }
            }
            + [
                "handover.asked", "baton.given", "baton.kept", "baton.offered", "baton.taken", "baton.prepared",
                "baton.applied",
            ].map { Fault(place: $0, isKilled: false, isLong: true) }

        @Test(
            "C25: a hub that is killed or stopped at a step: one core has the call or it ends, once", arguments: faults)
        func hubFails(fault: Fault) async throws {
            var stage = try HubStage()
            stage.lease = .seconds(30)
            let port = UInt16.random(in: 10_000..<16_000) * 2
            let endpoint = HubEndpoint.tcp(host: "127.0.0.1", port: port)
            let hub = try await stage.hubProcess(at: endpoint)
            let isDone = Box(false)
            let process = hub.process
            var options = options
            if fault.isLong { options.batonLifetime = .seconds(4) }
            let pair = try await pair(stage, at: hub.endpoint, options: options) { place in
                guard place == fault.place,
                    isDone.update({ done in
                        defer { done = true }; return !done
                    })
                else { return }
                process.signal(fault.isKilled ? .kill : .stop)
            }
            let start = Task { try? await pair.main.start() }
            // On a busy machine the lifetime may pass before the last steps, which ends the call.
            try await eventually("the step is reached") {
                isDone.value || fault.isLong && notes.value.contains { $0.hasPrefix("executor hears") }
            }
            var next: HubChild?
            if fault.isKilled {
                _ = await process.end()
                next = try await stage.hubProcess(at: endpoint)
            } else {
                let since = SystemClock().now()
                try await eventually("it is silent for a while") {
                    since.duration(to: SystemClock().now()) > .seconds(fault.isLong ? 5 : 3)
                }
                process.signal(.continue)
            }
            _ = await start.value
            try await eventually("the old core hears of it", timeout: TestTimeout.usual) {
                notes.value.contains { $0.hasPrefix("executor hears") }
            }
            let group = try await stage.client(at: endpoint)
            try await eventually("it is known what became of the call", timeout: TestTimeout.usual) {
                try await group.get(OwnershipKey.baton) == nil
            }
            let goesOn = notes.value.contains("main goes on")
            let heard = try #require(notes.value.first { $0.hasPrefix("executor hears") })
            // Either Main has the call, and the old core sends nothing; or the old core ends it, and Main does not have
            // it.
            #expect(goesOn == ["executor hears applied", "executor hears unknown"].contains(heard), "\(notes.value)")
            #expect(try await states(group) == [goesOn ? .answered : .ended(.lost)], "\(notes.value)")
            // After the fetch the bytes need no hub.
            if fault.place == "baton.prepared", !fault.isLong { #expect(goesOn, "\(notes.value)") }
            if fault.place == "baton.kept", fault.isKilled {
                #expect(heard == "executor hears failed", "\(notes.value)")
            }
            await pair.close()
            await group.close()
            (next?.process ?? process).signal(.kill)
            _ = await (next?.process ?? process).end()
        }
    }
}
