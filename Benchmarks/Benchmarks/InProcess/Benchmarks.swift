internal import Benchmark
internal import CoreAPI
internal import FileNotifyBackend
internal import InMemoryBackend
internal import StoreEngine

// The in-process figures. Where the machine counts instructions they are the ones to judge by, for they do not depend on
// what else it does; calls of the system are counted everywhere.
let benchmarks: @Sendable () -> Void = {
    Benchmark.defaultConfiguration = .init(
        metrics: [.wallClock, .cpuTotal, .instructions, .readSyscalls, .writeSyscalls],
        warmupIterations: 10, scalingFactor: .kilo, maxDuration: .seconds(1), maxIterations: 200,
        // What is put also makes space in the journal now and then.
        thresholds: [.writeSyscalls: .init(relative: [.p90: 10])])
    engine()
    groups()
}

/// The state machine and the journal's records, without a backend.
private func engine() {
    Benchmark("frame.make") { benchmark in
        let payload = Journey.payload
        var chain = JournalChain(salt: 1)
        benchmark.startMeasurement()
        for _ in benchmark.scaledIterations { blackHole(chain.frame(payload)) }
    }

    Benchmark("frame.parse") { benchmark in
        var writing = JournalChain(salt: 1)
        let bytes = writing.frame(Journey.payload)
        benchmark.startMeasurement()
        for _ in benchmark.scaledIterations {
            var reading = JournalChain(salt: 1)
            blackHole(reading.read(bytes[...]))
        }
    }

    Benchmark("record.parse") { benchmark in
        let payload = Journey.payload
        benchmark.startMeasurement()
        for _ in benchmark.scaledIterations { blackHole(try JournalRecord(payload[...])) }
    }

    Benchmark("state.decide-and-apply") { benchmark in
        var (state, session) = Journey.state()
        let transaction = try Transaction(operations: [.put(Key("bench/key"), Journey.value, .persistent)])
        let now = BootInstant(nanoseconds: 2)
        benchmark.startMeasurement()
        for _ in benchmark.scaledIterations {
            if case .record(let effect, _) = try state.decide(transaction, of: session, at: now) { state.apply(effect) }
        }
    }
}

/// Groups, with one participant.
private func groups() {
    Benchmark("memory.get") { benchmark in try await measureGet(of: Journey.memory(), benchmark) }
    Benchmark("memory.put") { benchmark in try await measurePut(to: Journey.memory(), benchmark) }
    Benchmark("file.get") { benchmark in
        let place = try ScratchGroup()
        try await measureGet(of: place.open(), benchmark)
        place.remove()
    }
    Benchmark("file.put") { benchmark in
        let place = try ScratchGroup()
        try await measurePut(to: place.open(), benchmark)
        place.remove()
    }
}

private func measureGet(of group: some SharedStore, _ benchmark: Benchmark) async throws {
    let key = try Key("bench/key")
    try await group.put(key, Journey.value)
    benchmark.startMeasurement()
    for _ in benchmark.scaledIterations { blackHole(try await group.get(key)) }
    benchmark.stopMeasurement()
    await group.close()
}

private func measurePut(to group: some SharedStore, _ benchmark: Benchmark) async throws {
    let key = try Key("bench/key")
    benchmark.startMeasurement()
    for _ in benchmark.scaledIterations { try await group.put(key, Journey.value) }
    benchmark.stopMeasurement()
    await group.close()
}
