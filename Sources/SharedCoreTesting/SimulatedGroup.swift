public import Coordination
public import CoreAPI
internal import InMemoryBackend
internal import Synchronization
// Exported, so that a test that imports this module can also use the clock and the waits of TestInstruments.
@_exported public import TestInstruments

/// A group of simulated processes in the memory of a test. Each has its own handle, session and executor, and the test
/// moves their clock.
///
/// ```swift
/// let group = SimulatedGroup()
/// let app = try await group.main("app")
/// try await app.start()
/// await app.freeze()
///
/// let push = try await group.executor("push")
/// let call = push.message(forCallID: "1", timeout: .seconds(20))
/// try group.server.receive("Lunch?", as: "1")
/// let answer = try await call.value
/// ```
///
/// All processes run on one thread, so the group knows when nothing runs any more, and time passes only then:
/// ``advance(by:)``, ``advance(until:timeout:_:)`` and ``SimulatedRun/value`` step from one wake-up of a process to the
/// next. Ten simulated seconds take a few milliseconds, and the speed of the machine has no influence.
///
/// Simulated time does not wait for code that waits for the real world, such as a socket or `Task.sleep`. Pass the
/// group's clock to such code as a parameter.
public final class SimulatedGroup: Sendable {
    private struct Weak {
        weak var executor: ProcessExecutor?
    }

    private struct State {
        /// In the order of their ids.
        var processes: [Weak] = []
        var observer: MemoryGroup?
    }

    /// The time of the group.
    public let clock: ManualClock
    /// The server that the group's scripted cores fetch from.
    public let server: ScriptedServer
    /// The default options of its participants.
    public let options: CoordinationOptions

    let thread = SimulationThread()
    let witness = MemoryWitness()
    private let space: MemorySpace
    private let seed: UInt64
    private let state = Mutex(State())

    /// The first process id of simulated processes. The kernel gives no id that high, so none can be mistaken for a
    /// real process.
    private static let firstID: Int32 = 5_000_000

    /// The number of processes so far, in all groups, so that no two processes are equal even if their groups are
    /// alike.
    private static let processCount = Atomic<UInt64>(0)

    /// Makes a group without processes.
    ///
    /// - Parameters:
    ///   - options: The default options of its participants.
    ///   - clock: Its clock. Give several groups the same clock only if the test moves it itself.
    ///   - seed: The seed of the participants' random choices: the same seed gives the same run.
    public init(
        options: CoordinationOptions = CoordinationOptions(), clock: ManualClock = ManualClock(), seed: UInt64 = 1
    ) {
        self.options = options
        self.clock = clock
        self.seed = seed
        server = ScriptedServer(on: thread)
        space = MemorySpace(clock: clock, executor: ProcessExecutor(on: thread))
    }

    /// Adds a process that joins the group.
    ///
    /// - Parameters:
    ///   - role: The role of the process.
    ///   - name: Its name, on the timeline too.
    public func process(_ role: SessionRole, _ name: String) async throws(SharedCoreError) -> SimulatedProcess {
        // A group in memory is removed with its last handle, and the test may want to read it after all processes have
        // ended.
        _ = try await observer()
        let number = state.withLock { state in
            state.processes.append(Weak())
            return state.processes.count
        }
        let identity = ProcessIdentity(
            bootID: clock.bootID, pid: Self.firstID + Int32(number),
            startTime: Self.processCount.add(1, ordering: .relaxed).newValue)
        let handle = try await space.open("group", as: SessionDescription(role: role, name: name), process: identity)
        let process = SimulatedProcess(name, identity, handle, in: self, seed: seed &+ UInt64(number))
        state.withLock { $0.processes[number - 1].executor = process.executor }
        return process
    }

    /// Returns the store of the group, through a handle that takes no part in the ownership, for the test to read and
    /// write.
    public func observer() async throws(SharedCoreError) -> any SharedGroup {
        if let observer = state.withLock(\.observer) { return observer }
        let opened = try await space.open("group", as: SessionDescription(role: .tool, name: "test"))
        return state.withLock { state in
            let observer = state.observer ?? opened
            state.observer = observer
            return observer
        }
    }

    /// Returns the owner of the core; nil if there is none.
    public func owner() async throws(SharedCoreError) -> GroupOwner? {
        _ = try await observer().sessions()
        return try await GroupOwner.current(in: observer())
    }

    /// Returns a process, as long as it is referenced or its code runs.
    func executor(of process: ProcessIdentity) -> ProcessExecutor? {
        let index = Int(process.pid - Self.firstID) - 1
        return state.withLock { $0.processes.indices.contains(index) ? $0.processes[index].executor : nil }
    }
}
