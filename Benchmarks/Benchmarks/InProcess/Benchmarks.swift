internal import Benchmark
internal import Figures

// The in-process figures. Their time depends on the other work of the machine. The numbers of system calls and
// instructions do not. `Counted` serves to count instructions where the machine cannot.
let benchmarks: @Sendable () -> Void = {
    Benchmark.defaultConfiguration = .init(
        metrics: [.wallClock, .cpuTotal, .instructions, .readSyscalls, .writeSyscalls],
        warmupIterations: 10, scalingFactor: .kilo, maxDuration: .seconds(1), maxIterations: 200,
        // A put also makes space in the journal now and then.
        thresholds: [.writeSyscalls: .init(relative: [.p90: 10])])
    for figure in InProcessFigure.all {
        Benchmark(figure.name) { benchmark in
            try await figure.run(
                benchmark.scaledIterations.count,
                .init(begin: { benchmark.startMeasurement() }, end: { benchmark.stopMeasurement() }))
        }
    }
}
