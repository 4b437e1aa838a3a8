import Coordination
import CoreAPI
import InMemoryBackend
import Synchronization

// A Main that opens a group in memory and takes ownership, where neither `Platform` nor C is built: Scripts/build-without-c.

/// A clock that advances only for waiting tasks: to the earliest instant that one of them waits for.
final class GivenClock: TimeSource {
    let bootID = BootID(high: 1, low: 2)
    private let time = Mutex(BootInstant(nanoseconds: 1))

    func now() -> BootInstant { time.withLock { $0 } }

    func sleep(until instant: BootInstant) async throws(CancellationError) {
        do {
            try await Task.sleep(for: now().duration(to: instant))
        } catch {
            throw CancellationError()
        }
        time.withLock { $0 = max($0, instant) }
    }
}

/// No process can be reached.
struct NoProcesses: ProcessControl {
    func kill(_ process: ProcessIdentity, unless doubt: @Sendable () async -> String?) async -> KillResult {
        .impossible("no process can be reached")
    }
}

/// A core that says when it runs.
struct SpeakingCore: Core {
    let hasStarted: AsyncStream<Revision>.Continuation

    func start(in context: CoreContext) async throws { hasStarted.yield(context.epoch) }
    func iterate(in context: CoreContext) async throws { try await Task.sleep(for: .seconds(3600)) }
    func stop() async {}
}

let clock = GivenClock()
let process = ProcessIdentity(bootID: clock.bootID, pid: 1, startTime: 1)
let space = MemorySpace(clock: clock, process: process)
let group = try await space.open("without-c", as: SessionDescription(role: .main))
let (starts, hasStarted) = AsyncStream.makeStream(of: Revision.self)
let main = try MainParticipant(
    of: group, environment: CoordinationEnvironment(withoutSystem: clock, processes: NoProcesses())
) { SpeakingCore(hasStarted: hasStarted) }
try await main.start()
for await epoch in starts {
    print("owns under epoch \(epoch)")
    break
}
await main.stop()
await group.close()
