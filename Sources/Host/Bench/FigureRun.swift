/// Measures figures: in each round one sample of the figure, one of its limit and one of each peer, so that whatever
/// else the machine does falls on all of them.
struct FigureRun: Sendable {
    let figures: [Figure]
    let progress: BenchProgress

    /// - Parameter report: Told each result as it is complete.
    func run(report: (FigureResult) async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: (figure: Int, peer: Int, samples: Samples).self) { slow in
            for (number, figure) in figures.enumerated() {
                for (peer, rival) in figure.peers.enumerated() where rival.isSlow {
                    slow.addTask {
                        var samples = Samples()
                        for _ in 0..<min(rival.rounds, figure.rounds) { samples.add(try await rival.measure()) }
                        return (number, peer, samples)
                    }
                }
            }
            var results: [FigureResult] = []
            for figure in figures { results.append(try await measure(figure)) }
            progress.begin("the slow peers")
            for try await (figure, peer, samples) in slow { results[figure].peers[peer].samples = samples }
            progress.clear()
            for result in results { try await report(result) }
        }
    }

    private func measure(_ figure: Figure) async throws -> FigureResult {
        var result = FigureResult(name: figure.name, unit: figure.unit)
        result.limit = figure.limit.map { FigureResult.Rival(name: $0.name) }
        result.peers = figure.peers.map { FigureResult.Rival(name: $0.name) }
        progress.begin(figure.name)
        for round in 0..<figure.rounds {
            try Task.checkCancellation()
            result.own.add(try await figure.own())
            if let limit = figure.limit { result.limit?.samples.add(try await limit.measure()) }
            for (number, peer) in figure.peers.enumerated() where !peer.isSlow && round < peer.rounds {
                result.peers[number].samples.add(try await peer.measure())
            }
            progress.advance(figure.name)
        }
        return result
    }
}
