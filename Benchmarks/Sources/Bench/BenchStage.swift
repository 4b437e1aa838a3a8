internal import BackendRegistry
internal import Coordination
internal import CoreAPI
internal import FoundationEssentials
internal import Glibc
internal import Platform
internal import Synchronization

/// The place of measurements with real processes: one group for SharedCore, and a directory of its own for each sample
/// of a peer.
struct BenchStage: Sendable {
    let programs: BenchPrograms
    let group: BackendConfiguration
    /// A directory that is there for as long as the measurement.
    let directory: String
    private static let number = Atomic(0)

    typealias Design = BenchPrograms.Design

    var isBehindHub: Bool { group.backend == "zmq" }
    /// True if the group is kept by a server or a cluster that is not SharedCore's.
    ///
    /// The shortest time that one machine needs by itself is no lower limit there. The peer is the same service, used without
    /// SharedCore.
    var isOnServer: Bool { !["memory", "file", "zmq"].contains(group.backend) }

    /// A fresh directory.
    func place(_ name: String) throws -> String {
        let path = directory + "/\(name)-\(Self.number.add(1, ordering: .relaxed).newValue)"
        try FileManager.default.createDirectory(atPath: path + "/inbox", withIntermediateDirectories: true)
        return path
    }

    /// Starts the participants of one sample, of a design, as processes.
    func driver(_ design: Design, _ name: String) throws -> ProcessBenchDriver {
        ProcessBenchDriver(stage: self, design: design, directory: try place(name))
    }

    /// From the start of the first of many programs that do nothing to the end of the last.
    func starts(of count: Int) async throws -> Double {
        let begin = SystemClock().now()
        let processes = try (0..<count).map { _ in try programs.start(.nothing, .executor, in: directory, of: group) }
        for process in processes { try await process.finish() }
        return begin.milliseconds(to: SystemClock().now())
    }

    /// The time for which an idle participant is watched, and the number of such times in a minute.
    private static let idleTime = (duration: Duration.seconds(20), perMinute: 3.0)

    /// Measures the wake-ups a minute of the threads of an idle participant.
    ///
    /// With SharedCore the participant waits for updates; with a peer it owns. With neither, it is a program that has
    /// run a task.
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
        // The work of its start is over, and the threads for it have ended.
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

    /// A group that no other figure uses, with its hub where the backend has one.
    func served(_ name: String) async throws -> (group: BackendConfiguration, hub: ChildProcess?) {
        guard isBehindHub else { return (isolated(name), nil) }
        var own = group
        own.stateDirectory = try Directory.makeTemporary("hub", in: directory)
        own.settings["zmq.endpoint"] = "ipc://\(own.stateDirectory)/hub"
        return (own, try await programs.participant(.hub, .tool, in: own.stateDirectory, of: own))
    }

    /// A group that no other figure uses, where a backend can have several at one place.
    func isolated(_ name: String) -> BackendConfiguration {
        guard !["memory", "zmq", "etcd"].contains(group.backend) else { return group }
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
