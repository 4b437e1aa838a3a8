/// Measures figures: in each round the figure, then its limit and each peer, so that whatever else the machine does falls
/// on all of them.
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
                        for _ in 0..<min(rival.rounds, figure.rounds) { samples.add(round: try await rival.measure()) }
                        return (number, peer, samples)
                    }
                }
            }
            var results: [FigureResult] = []
            for figure in figures {
                do {
                    results.append(try await measure(figure))
                } catch {
                    await figure.end()
                    throw error
                }
                await figure.end()
            }
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
        result.beside = figure.beside.map { FigureResult.Rival(name: $0.name) }
        progress.begin(figure.name)
        for round in 0..<figure.rounds {
            try Task.checkCancellation()
            result.own.add(round: try await figure.own())
            if let limit = figure.limit, var measured = result.limit {
                try await measure(limit, in: round, for: &measured)
                result.limit = measured
            }
            for (number, peer) in figure.peers.enumerated() where !peer.isSlow {
                try await measure(peer, in: round, for: &result.peers[number])
            }
            for (number, other) in figure.beside.enumerated() {
                try await measure(other, in: round, for: &result.beside[number])
            }
            progress.advance(figure.name)
        }
        return result
    }

    private func measure(
        _ rival: Figure.Rival, in round: Int, for result: inout FigureResult.Rival
    ) async throws {
        guard round < rival.rounds, result.absence == nil else { return }
        do {
            result.samples.add(round: try await rival.measure())
        } catch let absence as Figure.Absence {
            result.absence = absence.reason
        }
    }
}
