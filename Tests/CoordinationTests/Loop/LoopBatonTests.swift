import CoreAPI
import CoreAPITesting
import Glibc
import InMemoryBackend
import Mailboxes
import Platform
import TestSupport
import Testing

@testable import Coordination

/// A loop with a stack that gives a baton when it is told to stop (contract C25).
@Suite("LoopCore: the baton")
struct LoopBatonTests {
    private let calls = Box<[String]>([])
    private let threads = Box<Set<UInt>>([])

    private func context() async throws -> CoreContext {
        let group = try await MemorySpace().open("group", as: SessionDescription(role: .executor))
        return CoreContext(
            store: group, epoch: Revision(rawValue: 7), role: .executor,
            acceptMessage: { _ throws(SharedCoreError) in .stored }, reportProblem: { _ in })
    }

    private func request(taking takes: [String]) -> StopRequest {
        var request = StopRequest(.handover, by: "main", within: TestTimeout.long)
        request.takes = takes
        return request
    }

    private func started(
        polling descriptor: Int32? = nil, giving give: @escaping @Sendable (StopRequest) throws -> Baton?
    ) async throws -> LoopCore {
        let core = LoopCore { [calls, threads] in
            GivingStack(calls: calls, threads: threads, descriptor: descriptor, give: give)
        }
        try await core.start(in: try await context())
        return core
    }

    private func baton() throws -> Baton { try Baton("test/1", bytes: [1], calls: [.of("call-1")]) }

    @Test("C25: a stack that has given a baton is neither polled nor called until it hears what became of it")
    func gives() async throws {
        let pipe = try Pipe()
        let core = try await started(polling: pipe.output.descriptor) { request in
            try Baton("test/1", bytes: Array((request.requester ?? "").utf8), calls: [.of("call-1")])
        }
        let given = try #require(await core.handOver(request(taking: ["test/1"])))
        #expect(given.bytes == Array("main".utf8))
        let before = calls.value
        #expect(before.last == "handOver")
        // The loop would call its handler for this byte at once, again and again.
        try pipe.input.writeStream([1])
        let ended = Task { await core.batonEnded(.applied) }
        await ended.value
        #expect(Array(calls.value.dropFirst(before.count)) == ["batonEnded applied", "close"])
        #expect(!calls.value.contains("stop"))
        #expect(threads.value.count == 1)
    }

    @Test("C25: a stack that cannot move what it has is told to stop in place of that, as one that is not asked")
    func givesNone() async throws {
        for takes in [["test/1"], []] {
            calls.update { $0 = [] }
            let core = try await started { _ in nil }
            #expect(await core.handOver(request(taking: takes)) == nil)
            #expect(calls.value.filter { $0 != "prepare" } == (takes.isEmpty ? [] : ["handOver"]) + ["stop", "close"])
        }
    }

    @Test("C25: a stack that fails to give a baton is closed, and gives none")
    func fails() async throws {
        let core = try await started { _ in throw LoopFailure(call: .stop) }
        #expect(await core.handOver(request(taking: ["test/1"])) == nil)
        #expect(calls.value.filter { $0 != "prepare" } == ["handOver", "close"])
    }

    @Test("C25: a stack that has given a baton is closed when its core is given up, and hears nothing then")
    func givenUp() async throws {
        let core: LoopCore
        let context = try await context()
        let baton = try baton()
        core = LoopCore(ifStuck: .giveUp) { [calls, threads] in
            GivingStack(calls: calls, threads: threads, descriptor: nil) { _ in baton }
        }
        try await core.start(in: context)
        #expect(await core.handOver(request(taking: ["test/1"])) != nil)
        context.giveUp.call()
        try await eventually("it is closed") { calls.value.last == "close" }
        await core.batonEnded(.unknown)
        #expect(!calls.value.contains("batonEnded unknown"))
    }

    @Test("C25: a loop that has given its baton is not given up while its participant waits for the keepers")
    func givesInTime() async throws {
        let baton = try baton()
        let given = Box<CoreBaton?>(nil)
        let isStarted = Box(false)
        let keeping = AsyncEvent()
        let run = CoreRun(
            in: try await context(),
            core: { [calls, threads] in
                LoopCore(ifStuck: .giveUp) {
                    GivingStack(calls: calls, threads: threads, descriptor: nil) { _ in baton }
                }
            },
            prepare: {}, isFenced: { false }, finish: {},
            report: { report in
                switch report {
                case .started: isStarted.update { $0 = true }
                case .failed: break
                case .ended(_, let baton):
                    given.update { $0 = baton }
                    // As long as a hub does not answer.
                    await keeping.wait()
                }
            })
        try await eventually("it has started") { isStarted.value }
        run.stop(request(taking: ["test/1"]), within: TestTimeout.long)
        try await eventually("it has given its baton") { given.value != nil }
        // The time in which the core must stop is over.
        #expect(!run.context.giveUp.isAwaited)
        run.giveUp()
        let core = try #require(given.value?.core)
        await core.batonEnded(.applied)
        #expect(calls.value.suffix(2) == ["batonEnded applied", "close"])
        keeping.signal()
    }
}

/// A stack that notes its calls.
private final class GivingStack: LoopStack {
    private let calls: Box<[String]>
    private let threads: Box<Set<UInt>>
    private let descriptor: Int32?
    private let give: (StopRequest) throws -> Baton?
    private var loop: LoopContext?

    init(
        calls: Box<[String]>, threads: Box<Set<UInt>>, descriptor: Int32?,
        give: @escaping (StopRequest) throws -> Baton?
    ) {
        self.calls = calls
        self.threads = threads
        self.descriptor = descriptor
        self.give = give
    }

    private func note(_ call: String) {
        let thread = UInt(pthread_self())
        threads.update { $0.insert(thread) }
        calls.update { $0.append(call) }
    }

    func start(on loop: LoopContext) { self.loop = loop }

    func prepare() -> LoopWait {
        note("prepare")
        return LoopWait(for: descriptor.map { [LoopDescriptor($0, .readable)] } ?? [])
    }

    func dispatch(_ ready: [LoopDescriptor]) { note("dispatch") }

    func stop(_ request: StopRequest) {
        note("stop")
        loop?.end()
    }

    func handOver(_ request: StopRequest) throws -> Baton? {
        note("handOver")
        return try give(request)
    }

    func batonEnded(_ end: BatonEnd) { note("batonEnded \(end)") }

    func close() { note("close") }
}
