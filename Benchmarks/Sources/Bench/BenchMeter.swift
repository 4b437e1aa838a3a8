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
    ///   - scale: What the nanoseconds are divided by.
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
