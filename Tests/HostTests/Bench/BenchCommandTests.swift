internal import Testing

/// The measurement with real processes. What the figures are is for people to judge, on an idle machine: no test does.
@Suite("bench", .serialized)
struct BenchCommandTests {
    private static let fields: Set<String> = [
        "name", "unit", "p50", "p99", "samples", "limit", "limitP50", "ratio", "peer", "peerP50", "peerRatio",
        "rivals",
    ]

    /// Checks that a figure has its fields and that its ratios are those of its own numbers.
    private func check(_ line: [String: JSONField], _ name: String, unit: String, samples: UInt64) throws {
        #expect(Set(line.keys) == Self.fields)
        #expect(line["name"] == .text(name) && line["unit"] == .text(unit) && line["samples"] == .number(samples))
        let p50 = try #require(line["p50"]?.value)
        #expect(p50 > 0 && line["p99"]?.value ?? 0 >= p50)
        for (rival, ratio) in [("limitP50", "ratio"), ("peerP50", "peerRatio")] {
            guard let other = line[rival]?.value else {
                #expect(line[ratio] == .null)
                continue
            }
            #expect(other > 0)
            #expect(abs((line[ratio]?.value ?? 0) - p50 / other) <= p50 / other * 1e-9)
        }
    }

    @Test(
        "A line for each figure that was asked for, with the fields that scripts rely on", arguments: ["file", "zmq"])
    func processes(backend: String) async throws {
        let program = try HostProgram()
        let ended = try await program.run(
            "--backend", backend, "bench", "handover", "executor.start", "executor.memory", "--samples", "2", "--json")
        #expect(ended.status == 0, "\(ended.errors)")
        #expect(ended.errors.isEmpty, "no progress where nobody watches")
        let lines = try ended.objects()
        try #require(lines.count == 3)
        try check(lines[0], "handover", unit: "ms", samples: 2)
        #expect(lines[0]["limit"] != .null && lines[0]["peer"] != .null)
        try check(lines[1], "executor.start", unit: "ms", samples: 2)
        try check(lines[2], "executor.memory", unit: "MB", samples: 2)
        #expect(lines[2]["limit"] != .null && lines[2]["peer"] == .null)
        // The user's own group was left alone.
        #expect(try await program.run("--backend", "file", "timeline").output.isEmpty)
    }

    @Test(
        "The store and the notifications are measured beside the limit, and beside those services that are installed",
        arguments: ["file", "zmq"])
    func services(backend: String) async throws {
        let names = ["notify.oneway", "store.get", "store.get.causal", "store.put"]
        let ended = try await HostProgram().run(
            ["--backend", backend, "bench"] + names + ["--samples", "2", "--json"])
        #expect(ended.status == 0, "\(ended.errors)")
        #expect(ended.errors.isEmpty, "whoever measures leaves in order")
        let lines = try ended.objects()
        try #require(lines.count == names.count)
        // A round has many samples.
        for (line, (name, samples)) in zip(lines, zip(names, [200, 100, 100, 200] as [UInt64])) {
            try check(line, name, unit: "us", samples: samples)
            #expect(line["limit"] != .null)
        }
    }

    @Test("What grows is measured at all sizes, each in a group of its own", arguments: ["file", "zmq"])
    func growth(backend: String) async throws {
        let ended = try await HostProgram().run(
            "--backend", backend, "bench", "growth.keys.get", "growth.processes.post", "--samples", "1", "--json")
        #expect(ended.status == 0, "\(ended.errors)")
        let lines = try ended.objects()
        try #require(lines.count == 2)
        for (line, sizes) in zip(lines, [["1 keys", "10 keys", "100 keys"], ["1 processes", "20 processes"]]) {
            for size in sizes { #expect(ended.output.contains(size)) }
            #expect(line["limit"] == .null && (line["p50"]?.value ?? 0) > 0)
        }
    }

    @Test("The wake-ups of a herd's hub are counted, where there is one")
    func herd() async throws {
        let program = try HostProgram()
        let ended = try await program.run(
            "--backend", "zmq", "bench", "herd.wakeups.hub", "--samples", "1", "--json")
        #expect(ended.status == 0, "\(ended.errors)")
        let line = try #require(try ended.objects().first)
        try check(line, "herd.wakeups.hub", unit: "per commit", samples: 1)
        #expect(line["p50"]?.value ?? 0 >= 1, "each commit comes alone")
        let refused = try await program.run("bench", "herd.wakeups.hub")
        #expect(refused.status == 64 && refused.errors.contains("herd.wakeups.hub: the backend “file” gives"))
    }

    @Test("In memory participants of one process are measured; what needs programs is refused")
    func memory() async throws {
        let program = try HostProgram()
        let ended = try await program.run("--backend", "memory", "bench", "handover", "--samples", "1", "--json")
        #expect(ended.status == 0, "\(ended.errors)")
        let line = try #require(try ended.objects().first)
        try check(line, "handover", unit: "ms", samples: 1)
        #expect(line["limit"] == .null && line["peer"] == .null, "those are processes")
        let refused = try await program.run("--backend", "memory", "bench", "executor.start")
        #expect(refused.status == 64 && refused.errors.contains("lives in one process"))
    }

    @Test("People get a table, with every peer")
    func table() async throws {
        let ended = try await HostProgram().run("bench", "handover", "--samples", "1")
        #expect(ended.status == 0, "\(ended.errors)")
        for text in ["handover (ms)", "limit: two round trips", "peer: state flag", "peer: lease of 500 ms", "ratio"] {
            #expect(ended.output.contains(text), "\(ended.output)")
        }
    }

    @Test("A figure that is none is wrong usage, with what was probably meant")
    func unknown() async throws {
        let ended = try await HostProgram().run("bench", "handovers")
        #expect(ended.status == 64 && ended.errors.contains("“handovers” is no figure"))
        #expect(ended.errors.contains("takeover.kill"))
    }
}

extension JSONField {
    /// A number, whichever way it was written.
    fileprivate var value: Double? {
        switch self {
        case .number(let value): Double(value)
        case .fraction(let value): value
        default: nil
        }
    }
}
