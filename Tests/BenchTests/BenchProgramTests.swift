internal import CoreAPITesting
internal import Glibc
internal import Platform
internal import TestSupport
internal import Testing

/// The measurement with real processes. People evaluate the figures, on an idle machine: no test does.
@Suite("sharedcore-bench", .serialized)
struct BenchProgramTests {
    private static let fields: Set<String> = [
        "name", "unit", "p50", "p99", "samples", "limit", "limitP50", "ratio", "peer", "peerP50", "peerRatio",
        "rivals",
    ]

    /// Checks that a figure has its unit and its samples, and that its ratios are those of its own numbers.
    private func check(_ line: BenchRun.Line, _ name: String, unit: String, samples: Int) throws {
        #expect(line.name == name && line.unit == unit && line.samples == samples)
        let p50 = try #require(line.p50)
        #expect(p50 > 0 && line.p99 ?? 0 >= p50)
        for (rival, ratio) in [(line.limitP50, line.ratio), (line.peerP50, line.peerRatio)] {
            guard let rival else {
                #expect(ratio == nil)
                continue
            }
            #expect(rival > 0)
            #expect(abs((ratio ?? 0) - p50 / rival) <= p50 / rival * 1e-9)
        }
    }

    @Test(
        "A line for each figure that was asked for, with the fields that scripts rely on", arguments: ["file", "zmq"])
    func processes(backend: String) async throws {
        let run = try BenchRun(
            "--backend", backend, "handover", "executor.start", "executor.memory", "--samples", "2", "--json")
        #expect(await run.status() == .exited(0), "\(run.errors)")
        #expect(run.errors.isEmpty, "no progress is shown where standard error is no terminal")
        let lines = try run.lines()
        try #require(lines.count == 3)
        #expect(try run.fields().allSatisfy { $0 == Self.fields })
        try check(lines[0], "handover", unit: "ms", samples: 2)
        #expect(lines[0].limit != nil && lines[0].peer != nil)
        try check(lines[1], "executor.start", unit: "ms", samples: 2)
        try check(lines[2], "executor.memory", unit: "MB", samples: 2)
        #expect(lines[2].limit != nil && lines[2].peer == nil)
        #expect(run.directory.names == ["errors"], "the temporary group is gone")
    }

    @Test(
        "The store and the notifications are measured beside the limit, and beside those services that are installed",
        arguments: ["file", "zmq"])
    func services(backend: String) async throws {
        let names = ["notify.oneway", "store.get", "store.get.causal", "store.put"]
        let run = try BenchRun(["--backend", backend] + names + ["--samples", "2", "--json"])
        #expect(await run.status() == .exited(0), "\(run.errors)")
        #expect(run.errors.isEmpty, "each program ends without an error")
        let lines = try run.lines()
        try #require(lines.count == names.count)
        // A round has many samples.
        for (line, (name, samples)) in zip(lines, zip(names, [200, 100, 100, 200])) {
            try check(line, name, unit: "us", samples: samples)
            #expect(line.limit != nil)
        }
    }

    @Test("Figures that grow are measured at all sizes, each in a group of its own", arguments: ["file", "zmq"])
    func growth(backend: String) async throws {
        let run = try BenchRun(
            "--backend", backend, "growth.keys.get", "growth.processes.post", "--samples", "1", "--json")
        #expect(await run.status() == .exited(0), "\(run.errors)")
        let lines = try run.lines()
        try #require(lines.count == 2)
        for (line, sizes) in zip(lines, [["1 keys", "10 keys", "100 keys"], ["1 processes", "20 processes"]]) {
            for size in sizes { #expect(run.text.contains(size)) }
            #expect(line.limit == nil && (line.p50 ?? 0) > 0)
        }
    }

    @Test("The wake-ups of a herd's hub are counted, where there is one", .enabled(if: TestScope.isCheck))
    func herd() async throws {
        let run = try BenchRun("--backend", "zmq", "herd.wakeups.hub", "--samples", "1", "--json")
        #expect(await run.status() == .exited(0), "\(run.errors)")
        let line = try #require(try run.lines().first)
        try check(line, "herd.wakeups.hub", unit: "per commit", samples: 1)
        let refused = try BenchRun("herd.wakeups.hub")
        #expect(await refused.status() == .exited(64))
        #expect(refused.errors.contains("herd.wakeups.hub: the backend “file” gives"))
    }

    @Test("A client is measured beside a flood at its hub, at rest, and beside the same flood at another hub")
    func flood() async throws {
        let run = try BenchRun("--backend", "zmq", "flood.put", "--samples", "2", "--json")
        #expect(await run.status() == .exited(0), "\(run.errors)")
        let line = try #require(try run.lines().first)
        try check(line, "flood.put", unit: "us, p99 of a round", samples: 2)
        #expect(line.limit == "without the flood" && line.peer == "with the flood at another hub of the machine")
        #expect(line.ratio != nil && line.peerRatio != nil)
        let refused = try BenchRun("flood.put")
        #expect(await refused.status() == .exited(64))
    }

    @Test("In memory participants of one process are measured; what needs programs is refused")
    func memory() async throws {
        let run = try BenchRun("--backend", "memory", "handover", "--samples", "1", "--json")
        #expect(await run.status() == .exited(0), "\(run.errors)")
        let line = try #require(try run.lines().first)
        try check(line, "handover", unit: "ms", samples: 1)
        #expect(line.limit == nil && line.peer == nil, "those are processes")
        let refused = try BenchRun("--backend", "memory", "executor.start")
        #expect(await refused.status() == .exited(64))
        #expect(refused.errors.contains("lives in one process"))
    }

    @Test("Without --json the output is a table, with every peer")
    func table() async throws {
        let run = try BenchRun("handover", "--samples", "1")
        #expect(await run.status() == .exited(0), "\(run.errors)")
        for text in ["handover (ms)", "limit: two round trips", "peer: state flag", "peer: lease of 500 ms", "ratio"] {
            #expect(run.text.contains(text), "\(run.text)")
        }
    }

    @Test("A figure that is none is wrong usage, with what was probably meant")
    func unknown() async throws {
        let run = try BenchRun("handovers")
        #expect(await run.status() == .exited(64))
        #expect(run.errors.contains("“handovers” is no figure") && run.errors.contains("did you mean “handover”?"))
        #expect(run.errors.contains("takeover.kill"))
    }

    @Test(
        "Interrupted, it shows what was measured until then and leaves nothing behind", .timeLimit(.minutes(10)),
        arguments: ["file", "zmq"], [(SIGINT, 130), (SIGTERM, 143)] as [(Int32, Int32)])
    func interrupted(backend: String, by ending: (signal: Int32, status: Int32)) async throws {
        let run = try BenchRun(
            "--backend", backend, "executor.memory", "executor.start", "--samples", "100000", "--json")
        try await eventually("a sample was taken", timeout: TestTimeout.long) {
            // The directory of the second message: the first sample is whole.
            run.directory.names.contains { name in
                TemporaryDirectory.names(in: run.directory.path(of: name)).contains { $0.hasPrefix("memory-2.") }
            }
        }
        // To all of the group, as Control-C does.
        kill(-run.program.pid, ending.signal)
        #expect(await run.status() == .exited(ending.status), "\(run.errors)")
        let lines = try run.lines()
        #expect(lines.map(\.name) == ["executor.memory"])
        #expect((1..<100_000).contains(lines.first?.samples ?? 0))
        #expect(run.errors == "sharedcore-bench: interrupted\n")
        #expect(run.directory.names == ["errors"])
    }
}
