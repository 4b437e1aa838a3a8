internal import ProgramOutput
internal import Testing

@testable internal import sharedcore_bench

@Suite("The result of a figure")
struct FigureResultTests {
    @Test("Quantiles are of the samples, by nearest rank, in any order")
    func quantiles() {
        var samples = Samples()
        for value in [5.0, 1, 4, 2, 3] { samples.add(value) }
        #expect(samples.p50 == 3 && samples.p99 == 5 && samples.quantile(0.2) == 1 && samples.quantile(0) == 1)
        #expect(Samples().p50 == nil && Samples([7]).p99 == 7)
        #expect(Samples((1...200).map(Double.init)).p99 == 198)
    }

    @Test("Ratios are those of the middle samples; the peer that is told is the best one that was measured")
    func ratios() {
        var result = FigureResult(name: "handover", unit: "ms", own: Samples([2, 4, 9]))
        result.limit = FigureResult.Rival(name: "C", samples: Samples([1, 2, 3]))
        result.peers = [
            FigureResult.Rival(name: "slow", samples: Samples([80])),
            FigureResult.Rival(name: "unmeasured", absence: "not here"),
            FigureResult.Rival(name: "quick", samples: Samples([16, 8, 1])),
        ]
        #expect(
            result.json.line == #"{"name":"handover","unit":"ms","p50":4.0,"p99":9.0,"samples":3,"limit":"C","#
                + #""limitP50":2.0,"ratio":2.0,"peer":"quick","peerP50":8.0,"peerRatio":0.5,"rivals":["#
                + #"{"kind":"limit","name":"C","p50":2.0,"p99":3.0,"samples":3,"ratio":2.0,"ratioLow":2.0,"#
                + #""ratioHigh":3.0,"absent":null},{"kind":"peer","name":"slow","p50":80.0,"p99":80.0,"samples":1,"ratio":0.05,"#
                + #""ratioLow":0.025,"ratioHigh":0.025,"absent":null},{"kind":"peer","name":"unmeasured","p50":null,"#
                + #""p99":null,"samples":0,"ratio":null,"ratioLow":null,"ratioHigh":null,"absent":"not here"},"#
                + #"{"kind":"peer","name":"quick","p50":8.0,"p99":16.0,"samples":3,"ratio":0.5,"ratioLow":0.125,"#
                + #""ratioHigh":9.0,"absent":null}]}"#)
        let table = FigureTable.text(of: [result])
        for text in ["handover (ms)", "limit: C", "peer: slow", "peer: quick", "0.05", "unmeasured: not here"] {
            #expect(table.contains(text))
        }
    }

    @Test("A missing value is null, and no number is invented for it")
    func nothing() {
        let result = FigureResult(name: "takeover.frozen", unit: "ms", own: Samples([500]))
        #expect(
            result.json.line == #"{"name":"takeover.frozen","unit":"ms","p50":500.0,"p99":500.0,"samples":1,"#
                + #""limit":null,"limitP50":null,"ratio":null,"peer":null,"peerP50":null,"peerRatio":null,"#
                + #""rivals":[]}"#)
        #expect(result.ratio(to: FigureResult.Rival(name: "zero", samples: Samples([0]))) == nil)
    }

    @Test("Figure, limit and peers are measured in turns; a slow peer beside them, for as many samples as it has")
    func turns() async throws {
        let order = Order()
        @Sendable func measure(_ name: String) -> Figure.Measurement { { [await order.add(name)] } }
        let figure = Figure(
            name: "f", unit: "ms", rounds: 3, own: measure("own"), limit: .init(name: "l", measure: measure("limit")),
            peers: [
                .init(name: "once", rounds: 1, measure: measure("once")), .init(name: "peer", measure: measure("peer")),
                .init(name: "slow", rounds: 2, isSlow: true, measure: measure("slow")),
            ])
        var results: [FigureResult] = []
        try await FigureRun(figures: [figure], progress: BenchProgress(of: [figure])).run { results.append($0) }
        #expect(
            await order.names.filter { $0 != "slow" } == [
                "own", "limit", "once", "peer", "own", "limit", "peer", "own", "limit", "peer",
            ])
        let result = try #require(results.first)
        #expect(result.own.count == 3 && result.limit?.samples.count == 3)
        #expect(result.peers.map(\.samples.count) == [1, 3, 2])
        // The report has the measured values.
        #expect(result.own.values == (await order.values(of: "own")))
        #expect(result.peers[2].samples.values == (await order.values(of: "slow")))
    }

    @Test("A round counts once in the spread of the ratios, however many samples it has")
    func rounds() {
        var (own, other) = (Samples(), Samples())
        for round in [[1.0, 2, 9], [4, 4, 4], [8, 8, 80]] { own.add(round: round) }
        for round in [[1.0, 1, 1], [4, 1, 90], [1, 1, 1]] { other.add(round: round) }
        #expect(own.count == 9 && own.p50 == 4)
        let ratios = own.ratios(to: other)
        #expect(ratios?.low == 1 && ratios?.high == 8)
        #expect(own.ratios(to: Samples()) == nil)
    }

    @Test("A missing program is named once, and the run does not fail")
    func absence() async throws {
        let calls = Order()
        let figure = Figure(
            name: "f", unit: "us", rounds: 3, own: { [await calls.add("own"), 5] },
            peers: [
                .init(name: "absent") {
                    _ = await calls.add("absent")
                    throw Figure.Absence(reason: "it is not installed")
                }
            ],
            end: { _ = await calls.add("end") })
        var results: [FigureResult] = []
        try await FigureRun(figures: [figure], progress: BenchProgress(of: [figure])).run { results.append($0) }
        #expect(await calls.names == ["own", "absent", "own", "own", "end"])
        let result = try #require(results.first)
        #expect(result.own.count == 6 && result.own.rounds.count == 3)
        #expect(result.peers.first?.absence == "it is not installed" && result.bestPeer == nil)
    }

    private actor Order {
        private var calls: [String] = []
        var names: [String] { calls }

        /// Returns the number of the call as the measured value.
        func add(_ name: String) -> Double {
            calls.append(name)
            return Double(calls.count)
        }

        func values(of name: String) -> [Double] {
            calls.indices.filter { calls[$0] == name }.map { Double($0 + 1) }
        }
    }
}
