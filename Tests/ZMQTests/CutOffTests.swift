internal import Coordination
internal import CoreAPI
internal import CoreAPITesting
internal import Glibc
internal import Platform
internal import TestSupport
internal import Testing

@testable import ZMQBackend

extension ZMQTests {
    /// A core on a machine that is cut off from the hub, and the actions of another participant meanwhile.
    @Suite("C19: a core that is cut off from its hub")
    struct CutOffTests {
        /// The starts and stops of cores, by the boot clock, recorded without a store.
        private final class Notes: Sendable {
            struct Note: Hashable {
                let name: String
                let isStart: Bool
                let at: BootInstant
                let reason: StopRequest.Reason?
            }

            private let notes = Box<[Note]>([])

            func write(_ name: String, isStart: Bool, _ reason: StopRequest.Reason? = nil) {
                let note = Note(name: name, isStart: isStart, at: SystemClock().now(), reason: reason)
                notes.update { $0.append(note) }
            }

            var all: [Note] { notes.value }
            func starts(of name: String) -> [Note] { all.filter { $0.name == name && $0.isStart } }
            func stops(of name: String) -> [Note] { all.filter { $0.name == name && !$0.isStart } }

            /// The most cores that ran at once.
            var mostAtOnce: Int {
                var (now, most) = (0, 0)
                for note in all {
                    now += note.isStart ? 1 : -1
                    most = max(most, now)
                }
                return most
            }
        }

        private struct NotedCore: Core {
            let name: String
            let notes: Notes

            func start(in context: CoreContext) async throws { notes.write(name, isStart: true) }

            func iterate(in context: CoreContext) async throws {
                while true { try await Task.sleep(for: .seconds(3600)) }
            }

            func stop() async {}

            func stop(_ request: StopRequest) async { notes.write(name, isStart: false, request.reason) }
        }

        private func main(_ group: ZMQGroup, _ name: String, _ notes: Notes) throws -> MainParticipant {
            try MainParticipant(of: group) { NotedCore(name: name, notes: notes) }
        }

        @Test(
            "the core has stopped when another participant starts one, whether that waits behind it or takes over",
            arguments: [SessionRole.executor, .main])
        func longCut(role: SessionRole) async throws {
            var stage = try HubStage()
            stage.lease = .seconds(6)
            let hub = try await stage.hubAtFollowingPorts()
            let (requests, stream, endpoint) = try CuttableLine.pair(to: hub)
            let notes = Notes()
            let remote = try await stage.client(at: endpoint, as: SessionDescription(role: .main, name: "afar"))
            let afar = try main(remote, "afar", notes)
            try await afar.start()
            let local = try await stage.client(as: SessionDescription(role: role, name: "near"))
            requests.cut()
            stream.cut()

            let next: Task<Void, any Error>
            let close: @Sendable () async -> Void
            if role == .main {
                let near = try main(local, "near", notes)
                next = Task { try await near.start(takingOver: true) }
                close = { await near.stop() }
            } else {
                let near = try ExecutorParticipant(of: local) { NotedCore(name: "near", notes: notes) }
                next = Task {
                    let callID = try #require(CallID("call-1"))
                    _ = try await near.message(forCallID: callID, timeout: .seconds(3600))
                }
                close = { await near.close() }
            }
            try await eventually("the other's core runs", timeout: TestTimeout.usual) {
                !notes.starts(of: "near").isEmpty
            }

            let stop = try #require(notes.stops(of: "afar").first, "the core that is cut off runs on: \(notes.all)")
            let start = try #require(notes.starts(of: "near").first)
            #expect(stop.at < start.at, "\(notes.all)")
            #expect(stop.reason == .cutOff)
            #expect(notes.mostAtOnce == 1, "\(notes.all)")

            requests.heal()
            stream.heal()
            let end = try await withTimeout(TestTimeout.usual, "the one that was cut off hears of it") {
                await afar.waitUntilEnded()
            }
            #expect(end == .sessionEnded)
            #expect(notes.starts(of: "afar").count == 1 && notes.mostAtOnce == 1, "\(notes.all)")
            #expect(try await GroupOwner.current(in: local)?.name == "near")
            next.cancel()
            await close()
            await afar.stop()
            await remote.close()
            await local.close()
            await hub.stop()
        }

        @Test("a cut that ends before the session does: the participant has its session, and a core of a new epoch")
        func healedInDoubt() async throws {
            var stage = try HubStage()
            stage.lease = .seconds(12)
            let hub = try await stage.hubAtFollowingPorts()
            let (requests, stream, endpoint) = try CuttableLine.pair(to: hub)
            let notes = Notes()
            let remote = try await stage.client(at: endpoint, as: SessionDescription(role: .main, name: "afar"))
            let afar = try main(remote, "afar", notes)
            try await afar.start()
            let epoch = try #require(await afar.epoch)
            requests.cut()
            stream.cut()
            try await eventually("its core stops") { !notes.stops(of: "afar").isEmpty }
            requests.heal()
            stream.heal()
            try await eventually("another core of it runs") { notes.starts(of: "afar").count == 2 }
            #expect(try #require(await afar.epoch) > epoch)
            #expect(notes.mostAtOnce == 1)
            let local = try await stage.client()
            let history = try await Timeline(local).history()
            #expect(TimelineChecker.check(history).isClean)
            #expect(
                history.records.map(\.entry).contains { $0.kind == .coreStopped && $0.reason.contains("cut off") })
            await afar.stop()
            await remote.close()
            await local.close()
            await hub.stop()
        }

        @Test("L5, C19: a hub that is stopped for a while, or killed and started again, stops no core")
        func hubAway() async throws {
            var stage = try HubStage()
            stage.lease = .seconds(60)
            // Below the ports that the kernel assigns to connections, because the second hub needs the same port.
            let port = UInt16.random(in: 10_000..<16_000) * 2
            var hub = try await stage.hubProcess(at: .tcp(host: "127.0.0.1", port: port))
            let notes = Notes()
            let remote = try await stage.client(at: hub.endpoint, as: SessionDescription(role: .main, name: "afar"))
            let afar = try main(remote, "afar", notes)
            try await afar.start()
            let confirmed = try #require(remote.lease?.confirmedAt)
            #expect(remote.lease?.duration == .seconds(60))

            hub.process.signal(.stop)
            let silent = SystemClock().now()
            try await eventually("it is not answered for a while") {
                silent.duration(to: SystemClock().now()) > .seconds(3)
            }
            hub.process.signal(.continue)
            try await remote.sync()
            #expect(try #require(remote.lease?.confirmedAt) > confirmed)

            hub.process.signal(.kill)
            try await eventually("it is gone") { hub.process.hasEnded }
            let killed = SystemClock().now()
            hub = try await stage.hubProcess(at: hub.endpoint)
            try await remote.sync()
            #expect(try #require(remote.lease?.confirmedAt) > killed)
            #expect(notes.starts(of: "afar").count == 1 && notes.stops(of: "afar").isEmpty, "\(notes.all)")
            await afar.stop()
            await remote.close()
        }

        @Test(
            "L5: what is silent is not confirmed, and each answer confirms: a keep-alive, a read, and the hello of a new connection"
        )
        func confirmations() async throws {
            var stage = try HubStage()
            stage.lease = .seconds(6)
            let hub = try await stage.hubAtFollowingPorts()
            let (requests, stream, endpoint) = try CuttableLine.pair(to: hub)
            let remote = try await stage.client(at: endpoint)
            let opened = try #require(remote.lease)
            #expect(opened.duration == .seconds(6) && opened.confirmedAt <= SystemClock().now())
            try await eventually("a keep-alive is answered") {
                remote.lease.map { $0.confirmedAt > opened.confirmedAt } ?? false
            }
            let asked = SystemClock().now()
            try await remote.sync()
            #expect(try #require(remote.lease?.confirmedAt) >= asked)
            requests.cut()
            let cut = SystemClock().now()
            try await eventually("what was on its way has come") { cut.duration(to: SystemClock().now()) > .seconds(1) }
            let last = remote.lease
            // Two keep-alives are due meanwhile.
            try await eventually("it is silent") { cut.duration(to: SystemClock().now()) > .milliseconds(3_500) }
            #expect(remote.lease == last)
            requests.heal()
            try await eventually("it is confirmed again") { remote.lease != last }
            let local = try await stage.client()
            #expect(local.lease == nil, "the hub sees the end of this one")
            withExtendedLifetime(stream) {}
            await remote.close()
            await local.close()
            await hub.stop()
        }

        @Test("L5: a session keeps its lease behind a hub that gives a shorter one to others")
        func keptLease() async throws {
            var stage = try HubStage()
            stage.lease = .seconds(600)
            let port = UInt16.random(in: 10_000..<16_000) * 2
            let endpoint = HubEndpoint.tcp(host: "127.0.0.1", port: port)
            let first = try await stage.hub(at: [endpoint])
            let remote = try await stage.client(at: endpoint)
            #expect(remote.lease?.duration == .seconds(600))
            await first.stop()
            stage.lease = .seconds(1)
            let second = try await stage.hub(at: [endpoint, stage.endpoint])
            try await remote.sync()
            #expect(remote.lease?.duration == .seconds(600))
            let other = try await stage.client(at: endpoint)
            #expect(other.lease?.duration == .seconds(1))
            await other.close()
            await remote.close()
            await second.stop()
        }
    }
}
