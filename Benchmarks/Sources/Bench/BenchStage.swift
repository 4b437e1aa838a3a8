internal import BackendRegistry
internal import Coordination
internal import CoreAPI
internal import FoundationEssentials
internal import Glibc
internal import Platform
internal import Synchronization

/// Where figures are measured with real processes: one group for SharedCore, and a directory of its own for each sample
/// of a peer.
struct BenchStage: Sendable {
    let programs: BenchPrograms
    let group: BackendConfiguration
    /// A directory that is there for as long as the measurement.
    let directory: String
    private static let number = Atomic(0)

    typealias Design = BenchPrograms.Design

    var isBehindHub: Bool { group.backend == "zmq" }

    /// A fresh directory.
    func place(_ name: String) throws -> String {
        let path = directory + "/\(name)-\(Self.number.add(1, ordering: .relaxed).newValue)"
        try FileManager.default.createDirectory(atPath: path + "/inbox", withIntermediateDirectories: true)
        return path
    }

    /// From Main's wish to own to its core's start, while an Executor owns that stops at once.
    ///
    /// - Parameter hasOwned: Whether Main's process has owned before, as one has that lives long: it has done everything once.
    func handover(_ design: Design, hasOwned: Bool = false) async throws -> Double {
        let place = try place("handover")
        var veteran: ChildProcess?
        if hasOwned {
            let main = try await programs.participant(design, .main, in: place, of: group)
            try main.send("own")
            try await main.hear("owning")
            try main.send("rest")
            try await main.hear("resting")
            veteran = main
        }
        let holder = try await programs.participant(design, .executor, in: place, of: group)
        try holder.send("own")
        try await holder.hear("owning")
        let main: ChildProcess
        if let veteran {
            main = veteran
        } else {
            main = try await programs.participant(design, .main, in: place, of: group)
        }
        // At any moment of whatever period a design has.
        try await Task.sleep(for: .milliseconds(Int.random(in: 0..<100)))
        try main.send("own")
        let asked = try await main.hear("asked")
        let owning = try await main.hear("owning")
        try await main.finish()
        try await holder.finish()
        return asked.milliseconds(to: owning)
    }

    /// From SIGKILL of an owner to the start of the core of the one who waited.
    func takeoverAfterKill(_ design: Design) async throws -> Double {
        let place = try place("kill")
        let holder = try await programs.participant(design, .executor, in: place, of: group)
        try holder.send("own")
        try await holder.hear("owning")
        let waiting = try await programs.participant(design, .executor, in: place, of: group)
        try waiting.send("own")
        try await waiting.hear("asked")
        try await Task.sleep(for: .milliseconds(Int.random(in: 50..<150)))
        let killed = SystemClock().now()
        holder.signal(SIGKILL)
        let owning = try await waiting.hear("owning")
        try await waiting.finish()
        return killed.milliseconds(to: owning)
    }

    /// From SIGSTOP of an owner to the start of the core of the next one, who comes at that moment.
    func takeoverFromFrozen(_ design: Design) async throws -> Double {
        let place = try place("frozen")
        let holder = try await programs.participant(design, .executor, in: place, of: group)
        try holder.send("own")
        try await holder.hear("owning")
        let next = try await programs.participant(design, .executor, in: place, of: group)
        try await Task.sleep(for: .milliseconds(Int.random(in: 0..<100)))
        let stopped = SystemClock().now()
        holder.signal(SIGSTOP)
        try next.send("own")
        let owning = try await next.hear("owning")
        holder.signal(SIGKILL)
        try await next.finish()
        return stopped.milliseconds(to: owning)
    }

    /// From the first of many pushes to the last message, with a process for each.
    func burst(_ design: Design, of count: Int, coreStart: Duration) async throws -> Double {
        let place = try place("burst")
        let server = place + "/server"
        try FileManager.default.createDirectory(atPath: server, withIntermediateDirectories: true)
        let callIDs = (1...count).map { "\($0)-\(place.split(separator: "/").last ?? "")" }
        for callID in callIDs { try Data("Hello, \(callID)".utf8).write(to: URL(filePath: server + "/" + callID)) }
        let begin = SystemClock().now()
        let processes = try callIDs.map {
            try programs.start(
                design, .executor, in: place, of: group,
                ["call-id=\($0)", "server=\(server)", "start-ms=\(coreStart.clampedNanoseconds / 1_000_000)"])
        }
        var last = begin
        for process in processes { last = max(last, try await process.hear("message")) }
        for process in processes { try await process.finish() }
        return begin.milliseconds(to: last)
    }

    /// From the start of the first of many programs that do nothing to the end of the last.
    func starts(of count: Int) async throws -> Double {
        let begin = SystemClock().now()
        let processes = try (0..<count).map { _ in try programs.start(.nothing, .executor, in: directory, of: group) }
        for process in processes { try await process.finish() }
        return begin.milliseconds(to: SystemClock().now())
    }

    /// How long an idle participant is watched, and how many such times a minute has.
    private static let idleTime = (duration: Duration.seconds(20), perMinute: 3.0)

    /// How often a minute the threads of a participant wake that has nothing to do: by SharedCore one that waits for
    /// news, by a peer one that owns, by none a program that has run a task.
    func idleWakeUps(_ design: Design, isOnPool: Bool = false) async throws -> Double {
        let place = try place("idle")
        let participant = try await programs.participant(
            design, .executor, in: place, of: isolated("idle"), ["off-pool=\(isOnPool ? "no" : "yes")"])
        switch design {
        case .none: break
        case .sharedcore: try await participant.numbers(after: "observe 1")
        default:
            try participant.send("own")
            try await participant.hear("owning")
        }
        // What it does at its start is over, and the threads that it needed for that have ended.
        try await Task.sleep(for: .seconds(6))
        let before = try ThreadSwitches(of: [participant.pid])
        try await Task.sleep(for: Self.idleTime.duration)
        let count = try ThreadSwitches(of: [participant.pid]).count(since: before)
        try await participant.finish()
        return Double(count) * Self.idleTime.perMinute
    }

    /// The same in such a group.
    func alone(_ name: String) -> BenchStage {
        BenchStage(programs: programs, group: isolated(name), directory: directory)
    }

    /// A group that nobody else uses, with the process that serves it where one has to.
    func served(_ name: String) async throws -> (group: BackendConfiguration, hub: ChildProcess?) {
        guard isBehindHub else { return (isolated(name), nil) }
        var own = group
        own.stateDirectory = try Directory.makeTemporary("hub", in: directory)
        own.settings["zmq.endpoint"] = "ipc://\(own.stateDirectory)/hub"
        return (own, try await programs.participant(.hub, .tool, in: own.stateDirectory, of: own))
    }

    /// A group that nobody else uses, where a backend can have several at one place.
    func isolated(_ name: String) -> BackendConfiguration {
        guard group.backend == "file" else { return group }
        var own = group
        own.group += "-" + name
        return own
    }
}

extension BootInstant {
    func milliseconds(to other: BootInstant) -> Double {
        Double(duration(to: other).clampedNanoseconds) / 1_000_000
    }
}
