internal import CoreAPI
@testable internal import CoreAPITesting
internal import TestSupport
internal import Testing

@Suite("S4: recorded histories of concurrent calls are linearizable", .timeLimit(.minutes(10)))
struct LinearizabilityTests {
    @Test(
        "S4, S6: reads, writes, deletions and exchanges of one key by 8 handles", arguments: Backend.all,
        Seed.several(3))
    func historiesAreLinearizable(backend: Backend, seed: Seed) async throws {
        try await backend.withGroup { group in
            let handles = try await group.open(count: 8)
            let recorder = HistoryRecorder(of: "register")
            var checker = LinearizabilityChecker()
            var random = SplitMix64(seed)
            for window in 0..<60 {
                let generators = handles.map { _ in random.split() }
                let calls = try await together(8) { number in
                    var random = generators[number]
                    var known: Entry?
                    var calls: [RegisterOperation] = []
                    for _ in 0..<6 {
                        calls.append(try await recorder.call(handles[number], known: &known, using: &random))
                    }
                    return calls
                }
                let flat = calls.flatMap { $0 }
                guard checker.check(flat) else {
                    Issue.record("window \(window) is not linearizable: \(flat.sorted { $0.began < $1.began })")
                    return
                }
            }
        }
    }
}
