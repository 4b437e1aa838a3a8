internal import BenchmarkRun
internal import CoreAPI
internal import InMemoryBackend
internal import Platform

/// Processes of which one takes many samples at an order. They are started when they are first asked, and measure once
/// for nothing, so that nothing is measured for the first time.
actor BenchMeter {
    private let start: @Sendable () async throws -> [ChildProcess]
    private var running: [ChildProcess]?
    private var warmed: Set<String> = []

    /// - Parameter start: Starts the processes; the last one takes the orders.
    init(start: @escaping @Sendable () async throws -> [ChildProcess]) {
        self.start = start
    }

    /// The processes, the last of which takes the orders.
    func processes() async throws -> [ChildProcess] {
        if let running { return running }
        let started = try await start()
        running = started
        return started
    }

    /// Takes samples.
    ///
    /// - Parameters:
    ///   - scale: The divisor of the nanoseconds.
    func take(_ order: String, per scale: Double = 1000) async throws -> [Double] {
        guard let process = try await processes().last else { return [] }
        if warmed.insert(order).inserted { _ = try await process.numbers(after: order) }
        return try await process.numbers(after: order).map { $0 / scale }
    }

    func end() async {
        for process in (running ?? []).reversed() { try? await process.finish() }
        running = nil
    }
}

/// Takes samples with two participants of this process, one of which answers the other.
actor MemoryBenchMeter {
    private var opened: (taker: BenchOrders, echo: BenchOrders, handles: [MemoryGroup])?

    /// Takes samples, in microseconds.
    func take(_ order: String) async throws -> [Double] {
        if opened == nil {
            let space = MemorySpace()
            let handles = [
                try await space.open("bench", as: SessionDescription(role: .tool, name: "bench")),
                try await space.open("bench", as: SessionDescription(role: .tool, name: "echo")),
            ]
            let echo = BenchOrders(in: handles[1])
            _ = try await echo.obey("echo 1")
            opened = (BenchOrders(in: handles[0]), echo, handles)
            _ = try await opened?.taker.obey(order)
        }
        return (try await opened?.taker.obey(order) ?? []).map { $0 / 1000 }
    }

    func end() async {
        for handle in opened?.handles ?? [] { await handle.close() }
        opened = nil
    }
}
