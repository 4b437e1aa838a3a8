/// Measures figures: in each round the figure, then its limit and each peer, so that other work of the machine falls
/// on all of them.
struct FigureRun: Sendable {
    let figures: [Figure]
    let progress: BenchProgress

    /// - Parameter report: Called with each result once all figures are measured, or, after a cancellation, with the results
    ///   so far.
    func run(report: (FigureResult) async throws -> Void) async throws {
        var results = figures.map { FigureResult(of: $0) }
        do {
            try await measure(into: &results)
        } catch {
            progress.clear()
            guard Task.isCancelled else { throw error }
        }
        progress.clear()
        for result in results where result.own.count > 0 { try await report(result) }
        try Task.checkCancellation()
    }

    private func measure(into results: inout [FigureResult]) async throws {
        try await withThrowingTaskGroup(of: (figure: Int, peer: Int, samples: Samples).self) { slow in
            for (number, figure) in figures.enumerated() {
                for (peer, rival) in figure.peers.enumerated() where rival.isSlow {
                    slow.addTask { (number, peer, try await samples(of: rival, rounds: figure.rounds)) }
                }
            }
            var ending = Result<Void, any Error>.success(())
            for (number, figure) in figures.enumerated() {
                do {
                    try await measure(figure, into: &results[number])
                } catch {
                    ending = .failure(error)
                    slow.cancelAll()
                }
                await figure.end()
                if case .failure = ending { break }
            }
            if case .success = ending { progress.begin("the slow peers") }
            for try await (figure, peer, samples) in slow { results[figure].peers[peer].samples = samples }
            try ending.get()
        }
    }

    /// Takes the samples of a slow peer; those that it has, when the task is cancelled.
    private func samples(of rival: Figure.Rival, rounds: Int) async throws -> Samples {
        var samples = Samples()
        for _ in 0..<min(rival.rounds, rounds) {
            do {
                samples.add(round: try await rival.measure())
            } catch {
                guard Task.isCancelled else { throw error }
                break
            }
        }
        return samples
    }

    private func measure(_ figure: Figure, into result: inout FigureResult) async throws {
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
