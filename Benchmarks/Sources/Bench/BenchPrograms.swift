internal import BackendRegistry
internal import CoreAPI
internal import Glibc
internal import Platform
internal import ProgramOutput

/// The programs that figures are measured with, which stand beside this one.
struct BenchPrograms: Sendable {
    /// The design by which a participant agrees with others.
    enum Design: String, Sendable {
        case sharedcore, flag, lease
        /// By none: it has the group open.
        case store
        /// By none: it serves the group to clients over ZeroMQ.
        case hub
        /// By none, without a group: a program that has run a task and waits.
        case none
        /// By none: it has run a task and ends.
        case nothing
    }

    private static let names = [
        "sharedcore", "sharedcore-limits", "sharedcore-limits-zmq", "sharedcore-bench-services",
        "sharedcore-bench-participant", "sharedcore-executor",
    ]

    private let folder: String

    init() throws {
        folder = try OwnProgram.path.split(separator: "/").dropLast().map { "/" + $0 }.joined()
        for name in Self.names {
            guard access(path(name), X_OK) == 0 else {
                throw BenchFailure(
                    .unavailable, "\(path(name)) is missing; build it with: swift build --product \(name)")
            }
        }
    }

    private func path(_ name: String) -> String { folder + "/" + name }

    var host: String { path("sharedcore") }
    var executor: String { path("sharedcore-executor") }

    /// Starts a participant, and waits until it has joined.
    func participant(
        _ design: Design, _ role: SessionRole, in directory: String, of group: BackendConfiguration,
        _ more: [String] = []
    ) async throws -> ChildProcess {
        let process = try start(design, role, in: directory, of: group, more)
        try await process.hear("ready")
        return process
    }

    func start(
        _ design: Design, _ role: SessionRole, in directory: String, of group: BackendConfiguration,
        _ more: [String] = []
    ) throws -> ChildProcess {
        var arguments = [design.rawValue, role.rawValue, directory]
        if design == .sharedcore || design == .store || design == .hub {
            arguments += ["backend=\(group.backend)", "group=\(group.group)", "parent=\(group.stateDirectory)"]
            if let durability = group.durability { arguments.append("durability=\(durability.rawValue)") }
            arguments += group.settings.map { "\($0.key)=\($0.value)" }
        }
        return try ChildProcess(measuring: path("sharedcore-bench-participant"), arguments + more)
    }

    /// Asks the program of the limits.
    ///
    /// - Returns: The numbers that it prints.
    func limit(_ arguments: String...) async throws -> [Double] {
        let process = try ChildProcess(measuring: path("sharedcore-limits"), arguments)
        let numbers = try await process.line().split(separator: " ").compactMap { Double($0) }
        try await process.finish()
        return numbers
    }

    /// A program that takes orders: of the limits, those over ZeroMQ, or of the services.
    enum Measuring: String, Sendable {
        case limits = "sharedcore-limits"
        case messagingLimits = "sharedcore-limits-zmq"
        case services = "sharedcore-bench-services"
    }

    /// Starts a program that measures at orders.
    ///
    /// - Throws: ``Figure/Absence`` if the measured software is not installed.
    func measuring(_ program: Measuring, _ arguments: String...) async throws -> ChildProcess {
        let process = try ChildProcess(measuring: path(program.rawValue), arguments)
        try await process.waitUntilReady()
        return process
    }

    /// The program of the limits itself, which ends at once.
    var least: String { path("sharedcore-limits") }

    /// Runs a program to its end from a small one.
    func measure(_ program: String, _ arguments: [String] = []) async throws -> MeasuredRun {
        let process = try ChildProcess(measuring: path("sharedcore-limits"), ["measure", program] + arguments)
        let numbers = try await process.line().split(separator: " ").compactMap { UInt64($0) }
        try await process.finish()
        guard numbers.count == 5, numbers[4] == 0 else {
            throw BenchFailure(.unavailable, "\(program) failed while it was measured: \(numbers)")
        }
        return MeasuredRun(
            pid: Int32(numbers[0]), start: BootInstant(nanoseconds: numbers[1]),
            end: BootInstant(nanoseconds: numbers[2]),
            megabytes: Double(numbers[3]) * 1024 / 1_000_000)
    }
}

/// One run of a program, as its parent process saw it.
struct MeasuredRun: Sendable {
    let pid: Int32
    let start: BootInstant
    let end: BootInstant
    /// The most memory that it had.
    let megabytes: Double
}
