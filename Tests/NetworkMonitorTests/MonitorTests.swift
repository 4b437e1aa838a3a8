internal import CoreAPI
internal import CoreAPITesting
internal import NetworkMonitor
internal import Testing

/// In the network that the tests run in, of any kind.
@Suite("A monitor of this machine", .timeLimit(.minutes(10)), .serialized)
struct MonitorTests {
    @Test("It knows the state when it is open, and a stream begins with it")
    func opened() async throws {
        let monitor = try await NetworkMonitor.open()
        var states = monitor.states.makeAsyncIterator()
        let first = await states.next()
        #expect(first != nil)
        monitor.close()
        while await states.next() != nil {}
    }

    @Test("Streams end with the monitor, whether it is closed or forgotten, and later ones have the last state")
    func closed() async throws {
        let monitor = try await NetworkMonitor.open()
        let states = (0..<3).map { _ in monitor.states }
        monitor.close()
        monitor.close()
        for state in states { for await _ in state {} }
        let last = monitor.current
        var late: [NetworkState] = []
        for await state in monitor.states { late.append(state) }
        #expect(late == [last])

        var forgotten: NetworkMonitor? = try await NetworkMonitor.open()
        let stream = forgotten?.states
        forgotten = nil
        for await _ in try #require(stream) {}
    }

    @Test("Cancelling one listener does not affect the others")
    func cancelled() async throws {
        let monitor = try await NetworkMonitor.open()
        let states = monitor.states
        let task = Task { for await _ in states {} }
        task.cancel()
        await task.value
        var other = monitor.states.makeAsyncIterator()
        #expect(await other.next() == monitor.current)
    }

    @Test("If the kernel gives no answer from the start, no monitor is opened, and the error says why")
    func refused() async throws {
        let reports = try FailingReports()
        reports.failNext(1)
        await #expect {
            _ = try await NetworkMonitor.open(reports)
        } throws: { error in
            (error as? SharedCoreError)?.code == .system
        }
    }

    @Test("Calls that fail for a while end nothing: everything is read again after them")
    func failures() async throws {
        let reports = try FailingReports()
        let monitor = try await NetworkMonitor.open(reports)
        var states = monitor.states.makeAsyncIterator()
        #expect(await states.next() == monitor.current)
        reports.failNext(3)
        try reports.provoke()
        try await eventually("the failures are over") { reports.remaining == 0 }
        let calls = reports.callCount
        try await eventually("it goes on to ask") { reports.callCount > calls + 3 }
        monitor.close()
        while await states.next() != nil {}
    }

    @Test("A cancelled task opens none")
    func cancelledOpening() async throws {
        let task = Task { () -> SharedCoreError.Code? in
            withUnsafeCurrentTask { $0?.cancel() }
            do throws(SharedCoreError) {
                _ = try await NetworkMonitor.open()
                return nil
            } catch {
                return error.code
            }
        }
        #expect(await task.value == .cancelled)
    }

    @Test("A monitor gives everything back: its descriptors and its thread")
    func resources() async throws {
        let before = (OwnResources.descriptorCount, OwnResources.threadCount)
        for _ in 0..<100 {
            let monitor = try await NetworkMonitor.open()
            _ = monitor.states
            monitor.close()
        }
        // Other tests run beside this one and have descriptors of their own. A hundred monitors would have two hundred.
        try await eventually("the descriptors are closed") { OwnResources.descriptorCount < before.0 + 80 }
        try await eventually("the threads have ended") { OwnResources.threadCount < before.1 + 80 }
    }
}
