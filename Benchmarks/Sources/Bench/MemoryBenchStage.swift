internal import BenchmarkRun
internal import Coordination
internal import CoreAPI
internal import FoundationEssentials
internal import InMemoryBackend
internal import Platform
internal import Synchronization

/// Where figures of the memory backend are measured: participants of this process, whose deaths and stops are simulated.
struct MemoryBenchStage: Sendable {
    /// A directory that is there for as long as the measurement.
    let directory: String

    func handover() async throws -> Double {
        try await play { open in
            let (holder, _) = try await open(.executor)
            try await holder.own()
            let (main, _) = try await open(.main)
            return try await Self.time { try await main.own() }
        }
    }

    func takeoverAfterKill() async throws -> Double {
        try await play { open in
            let (holder, handle) = try await open(.executor)
            try await holder.own()
            let (waiting, _) = try await open(.executor)
            async let owning: Void = waiting.own()
            try await Task.sleep(for: .milliseconds(Int.random(in: 50..<150)))
            let killed = SystemClock().now()
            handle.simulateKill()
            try await owning
            return killed.milliseconds(to: SystemClock().now())
        }
    }

    func takeoverFromFrozen() async throws -> Double {
        try await play(processes: StoppedProcesses()) { open in
            let (holder, handle) = try await open(.executor)
            try await holder.own()
            let (next, _) = try await open(.executor)
            let elapsed = try await Self.time {
                handle.simulateStop()
                try await next.own()
            }
            handle.simulateKill()
            return elapsed
        }
    }

    func burst(of count: Int, coreStart: Duration) async throws -> Double {
        let server = directory + "/memory-server"
        try FileManager.default.createDirectory(atPath: server, withIntermediateDirectories: true)
        let names = (1...count).map { "\($0)-memory" }
        for name in names { try Data("Hello, \(name)".utf8).write(to: URL(filePath: server + "/" + name)) }
        let core = BenchCore(server: server, startDelay: coreStart)
        return try await play(core) { open in
            try await Self.time {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for name in names {
                        guard let callID = CallID(name) else { continue }
                        let (participation, _) = try await open(.executor)
                        group.addTask { try await participation.message(callID) }
                    }
                    try await group.waitForAll()
                }
            }
        }
    }

    private static func time(_ body: () async throws -> Void) async throws -> Double {
        let begin = SystemClock().now()
        try await body()
        return begin.milliseconds(to: SystemClock().now())
    }

    /// Plays in a group of its own, and closes all who took part.
    private func play(
        _ core: BenchCore = BenchCore(), processes: any ProcessControl = LocalProcessControl(),
        _ body: ((SessionRole) async throws -> (BenchParticipation, MemoryGroup)) async throws -> Double
    ) async throws -> Double {
        let space = MemorySpace()
        let witness = MemoryWitness()
        let opened = Mutex<[(BenchParticipation, MemoryGroup)]>([])
        let result: Result<Double, any Error>
        do {
            result = .success(
                try await body { role in
                    let handle = try await space.open("bench", as: SessionDescription(role: role, name: "bench"))
                    let participation = try BenchParticipation(
                        in: handle, core: core,
                        environment: CoordinationEnvironment(processes: processes, witness: witness))
                    opened.withLock { $0.append((participation, handle)) }
                    return (participation, handle)
                })
        } catch {
            result = .failure(error)
        }
        for (participation, handle) in opened.withLock({ $0 }) {
            await participation.close()
            await handle.close()
        }
        return try result.get()
    }
}

/// The system as it would be seen if the process of whoever does not answer were stopped.
private struct StoppedProcesses: ProcessControl {
    func kill(_ process: ProcessIdentity, unless doubt: @Sendable () async -> String?) async -> KillResult {
        .impossible("it lives in this process")
    }

    func isStopped(_ process: ProcessIdentity) async -> Bool? { true }
}
