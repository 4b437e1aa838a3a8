internal import BenchmarkRun
internal import CoreAPI
internal import InMemoryBackend

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
