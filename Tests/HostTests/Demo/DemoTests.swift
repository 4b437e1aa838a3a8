internal import CoreAPITesting
internal import Subprocess
internal import TestSupport
internal import Testing

/// Scenarios 3, 4, 5, 11, 15 and 24 as one scenario that any user can run.
@Suite("The demo", .serialized)
struct DemoTests {
    private static let fields: Set<String> = [
        "event", "backend", "pushes", "coreStarts", "delivered", "lost", "duplicates", "overlaps",
        "supersededOverlaps", "violations", "handoverMs", "takeoverMs", "ok",
    ]

    /// Makes a program with a Main that waits for long: a machine that is busy with all other tests may need longer
    /// than the usual time.
    private func patientProgram() throws -> HostProgram {
        var program = try HostProgram()
        program.environment["SHAREDCORE_HANDOVER_TIMEOUT"] = "30s"
        program.environment["SHAREDCORE_HANDOVER_MAXIMUM_TIMEOUT"] = "60s"
        return program
    }

    @Test("Nothing is lost or doubled, no two cores run, no rule is broken", arguments: ["file", "memory", "zmq"])
    func story(backend: String) async throws {
        let program = try patientProgram()
        let ended = try await program.running("--json", "--backend", backend, "demo") { _ in }
        #expect(ended.status == 0, "\(ended.output)\n\(ended.errors)")
        let lines = try ended.objects()
        let summary = try #require(lines.last)
        #expect(Set(summary.keys) == Self.fields)
        #expect(summary["event"] == .text("summary") && summary["backend"] == .text(backend))
        #expect(summary["pushes"] == .number(14) && summary["delivered"] == .number(14))
        for zero in ["lost", "duplicates", "overlaps", "violations"] {
            #expect(summary[zero] == .number(0), "\(zero): \(ended.output)")
        }
        #expect(summary["ok"] == .flag(true))
        let told = lines.compactMap(Self.timelineEvent)
        let asked = try #require(told.firstIndex(of: "asked"), "\(ended.output)")
        // The ten pushes share one core, until it stops because all that have come are served.
        let untilStopped = told[..<asked].prefix { $0 != "coreStopped" && $0 != "tookOver" }
        #expect(untilStopped.count { $0 == "coreStarted" } == 1, "\(ended.output)")
        // From then on there are the starts of Main's core, of the core after its death, and of the last push's. There
        // are more only if a process stood still long enough to be taken for frozen.
        let starts = told.count { $0 == "coreStarted" }
        let later = told[asked...].count { $0 == "coreStarted" }
        #expect(later == 3 || told[asked...].contains("tookOver"), "\(ended.output)")
        #expect(summary["coreStarts"] == .number(UInt64(starts)), "\(ended.output)")
        let executors = lines.filter { $0["event"] == .text("executor") }
        #expect(Set(executors.map { $0["callID"] }).count == 14)
        #expect(executors.allSatisfy { $0["result"] == .text("message") })
    }

    /// The event of a line from the timeline; nil when it is another line.
    private static func timelineEvent(_ line: [String: JSONField]) -> String? {
        guard case .object(let entry) = line["entry"], case .text(let event) = entry["event"] else { return nil }
        return event
    }

    @Test("It leaves no process, no group and no mail behind when interrupted", arguments: ["file", "zmq"])
    func interrupted(backend: String) async throws {
        var program = try HostProgram()
        try program.makeDirectory("tmp")
        program.environment["TMPDIR"] = program.directory.path(of: "tmp")
        let ended = try await program.running("--json", "--backend", backend, "demo") {
            try await $0.untilOutput(has: 20)
            try $0.send(.interrupt)
        }
        #expect(ended.status == 1)
        #expect(try await program.shell("ls tmp").output.isEmpty)
        // Processes of the demo have its directory in their environment.
        let left = try await program.shell("grep -l \"SHAREDCORE_[A-Z_]*=[^=]*$PWD/tmp\" /proc/[0-9]*/environ")
        #expect(left.output.isEmpty, "\(left.output)")
    }

    @Test("The hub and the participants of the demo end with it even if it is killed", arguments: ["file", "zmq"])
    func killed(backend: String) async throws {
        var program = try HostProgram()
        try program.makeDirectory("tmp")
        program.environment["TMPDIR"] = program.directory.path(of: "tmp")
        let ended = try await program.running("--json", "--backend", backend, "demo") {
            try await $0.untilOutput(has: 20)
            try $0.send(.kill)
        }
        #expect(ended.status == 128 + 9)
        // As above. The kernel kills them one after another.
        let own = program
        try await eventually("none is left", timeout: TestTimeout.long) {
            try await own.shell("grep -l \"SHAREDCORE_[A-Z_]*=[^=]*$PWD/tmp\" /proc/[0-9]*/environ").output.isEmpty
        }
    }

    @Test("The demo ends at once when its output has no reader any more, even if it has nothing to print")
    func withoutReader() async throws {
        let ended = try await patientProgram().shell(
            "(timeout 45 sharedcore --backend memory demo; echo $? >&2) | head -n 3")
        #expect(ended.errors == "0\n", "\(ended.errors)")
        #expect(ended.output.split(separator: "\n").count <= 3)
    }

    @Test("A setting of the configuration file is that of the demo's Main")
    func settings() async throws {
        let program = try HostProgram()
        try program.write("handover: {timeout: 31s, maximumTimeout: 60s}\n", to: "other.yaml")
        let ended = try await program.running("--json", "--config", "other.yaml", "demo") { _ in }
        #expect(ended.status == 0, "\(ended.output)\n\(ended.errors)")
        let bounds = try ended.objects().compactMap { line -> JSONField? in
            guard case .object(let entry) = line["entry"], entry["event"] == .text("asked") else { return nil }
            return entry["boundMs"]
        }
        #expect(!bounds.isEmpty && bounds.allSatisfy { $0 == .number(31_000) }, "\(bounds)")
    }

    @Test("A person is told the story in sentences")
    func sentences() async throws {
        let ended = try await patientProgram().running("demo") { _ in }
        #expect(ended.status == 0, "\(ended.output)\n\(ended.errors)")
        for part in ["owns the core now", "asked epoch", "SIGKILL to Main", "push 14 got", "As it should be."] {
            #expect(ended.output.contains(part))
        }
    }
}
