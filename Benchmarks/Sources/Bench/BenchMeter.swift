internal import ProgramOutput
internal import Synchronization

/// Processes of which one takes many samples at an order. They are started when they are first asked, and measure once
/// for nothing, so that nothing is measured for the first time.
actor BenchMeter {
    private let start: @Sendable () async throws -> [BenchProcess]
    private var running: [BenchProcess]?
    private var warmed: Set<String> = []

    /// - Parameter start: Starts the processes; the last one takes the orders.
    init(start: @escaping @Sendable () async throws -> [BenchProcess]) {
        self.start = start
    }

    /// The processes, the last of which takes the orders.
    func processes() async throws -> [BenchProcess] {
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

extension BenchProcess {
    /// Gives an order and waits for its numbers.
    @discardableResult
    func numbers(after order: String) async throws -> [Double] {
        try self.order(order)
        while true {
            let parts = try await line().split(separator: " ")
            if parts.first == "done" { return parts.dropFirst().compactMap { Double($0) } }
        }
    }

    /// Waits until it can take orders.
    ///
    /// - Throws: ``Figure/Absence`` when what it measures is not installed.
    func waitUntilReady() async throws {
        while true {
            let line = try await line()
            if line == "ready" { return }
            if line.hasPrefix("absent ") { throw Figure.Absence(reason: String(line.dropFirst(7))) }
        }
    }
}
