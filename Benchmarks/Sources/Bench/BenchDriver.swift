internal import CoreAPI
internal import FoundationEssentials
internal import Glibc
internal import Platform

/// A participant that is measured: a process, or one that is simulated in this process.
protocol BenchParticipant: Sendable {
    /// Has it ask for the ownership, and returns when it did.
    func ask() async throws -> BootInstant
    /// Waits for the start of its core, and returns when that was.
    func owning() async throws -> BootInstant
    /// Waits for its message, and returns when it came.
    func message() async throws -> BootInstant
    /// Kills it as SIGKILL does.
    func kill()
    /// Stops it as SIGSTOP does.
    func stop()
    /// Has it leave, and waits for its end.
    func finish() async throws
}

/// Starts the participants of one sample, which have a group and a directory of their own.
protocol BenchDriver: Sendable {
    /// A directory that is there for as long as the sample.
    var directory: String { get }
    /// Starts a participant, and waits until it has joined.
    func start(_ role: SessionRole) async throws -> any BenchParticipant
    /// Starts an Executor that waits for a message, which its core finds in a directory.
    func start(receiving callID: String, from server: String, coreStart: Duration) async throws -> any BenchParticipant
}

extension BenchDriver {
    /// The time from Main's request to own to its core's start, while an Executor owns that stops at once.
    ///
    /// - Parameter veteran: A Main that has joined before; nil for a new one.
    func handover(to veteran: (any BenchParticipant)? = nil) async throws -> Double {
        let holder = try await owner()
        let main = if let veteran { veteran } else { try await start(.main) }
        // The wait ends at a random moment of the design's period.
        try await Task.sleep(for: .milliseconds(Int.random(in: 0..<100)))
        let asked = try await main.ask()
        let owning = try await main.owning()
        try await main.finish()
        try await holder.finish()
        return asked.milliseconds(to: owning)
    }

    /// The time from SIGKILL of an owner to the start of the waiting participant's core.
    func takeoverAfterKill() async throws -> Double {
        let holder = try await owner()
        let waiting = try await start(.executor)
        _ = try await waiting.ask()
        try await Task.sleep(for: .milliseconds(Int.random(in: 50..<150)))
        let killed = SystemClock().now()
        holder.kill()
        let owning = try await waiting.owning()
        try await waiting.finish()
        return killed.milliseconds(to: owning)
    }

    /// The time from SIGSTOP of an owner to the start of the next one's core, which comes at that moment.
    func takeoverFromFrozen() async throws -> Double {
        let holder = try await owner()
        let next = try await start(.executor)
        try await Task.sleep(for: .milliseconds(Int.random(in: 0..<100)))
        let stopped = SystemClock().now()
        holder.stop()
        _ = try await next.ask()
        let owning = try await next.owning()
        holder.kill()
        try await next.finish()
        return stopped.milliseconds(to: owning)
    }

    /// From the first of many pushes to the last message, with a participant for each.
    func burst(of count: Int, coreStart: Duration) async throws -> Double {
        let server = directory + "/server"
        try FileManager.default.createDirectory(atPath: server, withIntermediateDirectories: true)
        let callIDs = (1...count).map { "\($0)-\(directory.split(separator: "/").last ?? "")" }
        for callID in callIDs { try Data("Hello, \(callID)".utf8).write(to: URL(filePath: server + "/" + callID)) }
        let begin = SystemClock().now()
        var participants: [any BenchParticipant] = []
        for callID in callIDs {
            participants.append(try await start(receiving: callID, from: server, coreStart: coreStart))
        }
        var last = begin
        for participant in participants { last = max(last, try await participant.message()) }
        for participant in participants { try await participant.finish() }
        return begin.milliseconds(to: last)
    }

    private func owner() async throws -> any BenchParticipant {
        let holder = try await start(.executor)
        _ = try await holder.ask()
        _ = try await holder.owning()
        return holder
    }
}

/// Starts participants that are processes.
struct ProcessBenchDriver: BenchDriver {
    let stage: BenchStage
    let design: BenchStage.Design
    let directory: String

    func start(_ role: SessionRole) async throws -> any BenchParticipant {
        try await stage.programs.participant(design, role, in: directory, of: stage.group)
    }

    func start(receiving callID: String, from server: String, coreStart: Duration) async throws -> any BenchParticipant
    {
        try stage.programs.start(
            design, .executor, in: directory, of: stage.group,
            ["call-id=\(callID)", "server=\(server)", "start-ms=\(coreStart.clampedNanoseconds / 1_000_000)"])
    }

    /// As ``BenchDriver/handover(to:)``, to a Main in a process that has owned before, like a long-lived one: it has
    /// done everything once.
    func handoverToVeteran() async throws -> Double {
        let main = try await stage.programs.participant(design, .main, in: directory, of: stage.group)
        _ = try await main.ask()
        _ = try await main.owning()
        try main.send("rest")
        try await main.hear("resting")
        return try await handover(to: main)
    }
}

extension ChildProcess: BenchParticipant {
    func ask() async throws -> BootInstant {
        try send("own")
        return try await hear("asked")
    }

    func owning() async throws -> BootInstant { try await hear("owning") }
    func message() async throws -> BootInstant { try await hear("message") }
    func kill() { signal(.kill) }
    func stop() { signal(.stop) }
}
