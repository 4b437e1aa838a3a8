internal import CoreAPI
internal import CoreAPITesting
internal import StoreEngine
internal import TestInstruments
internal import TestSupport
internal import Testing

@testable internal import LogBackend

/// A log that does not answer, or loses its answers.
@Suite("A log that is away", .timeLimit(.minutes(10)))
struct AwayLogTests {
    private let log = MemoryLog()
    private static let full = SharedCoreError(.storageFull, "There is no space.", at: "test")
    private static let away = SharedCoreError(.unavailable, "The log is away.", at: "test")

    /// Counts the calls that still have to fail, from when a test begins.
    private final class Failures: Sendable {
        private let left = Box(0)
        let times = CallTimes()

        func begin(_ count: Int) { left.update { $0 = count } }

        /// Returns true if this call is to fail.
        func take() -> Bool {
            left.update { left in
                guard left > 0 else { return false }
                left -= 1
                times.note()
                return true
            }
        }
    }

    @Test("S12: the answer to an append is lost; the commit is found, and takes effect once")
    func lostAnswer() async throws {
        let failures = Failures()
        let group = try await log.join { log in
            log.append = { view, record, position throws(SharedCoreError) in
                let isAppended = try await view.append(record, at: position)
                if failures.take() { throw Self.away }
                return isAppended
            }
        }
        let count = log.records.count
        failures.begin(1)
        let revision = try await group.post("n")
        #expect(log.records.count == count + 1)
        #expect(try await group.state(of: "n").revision == revision)
        await group.close()
    }

    @Test("S12: an append does not arrive; it is made once more")
    func lostAppend() async throws {
        let failures = Failures()
        let group = try await log.join { log in
            log.append = { view, record, position throws(SharedCoreError) in
                if failures.take() { throw Self.away }
                return try await view.append(record, at: position)
            }
        }
        failures.begin(1)
        try await group.post("n")
        #expect(try await group.state(of: "n").count == 1)
        await group.close()
    }

    @Test("S12: an append arrives after its commit was given up: `outcomeUnknown` was right")
    func lateAppend() async throws {
        let failures = Failures()
        let late = Box<[UInt8]>([])
        let group = try await log.join { log in
            log.append = { view, record, position throws(SharedCoreError) in
                if failures.take() {
                    late.update { $0 = record }
                    throw Self.away
                }
                return try await view.append(record, at: position)
            }
        }
        failures.begin(2)
        #expect(try await CoreAPITesting.code { _ = try await group.post("n") } == .outcomeUnknown)
        #expect(try await group.state(of: "n").count == 0)
        log.add(late.value)
        #expect(try await group.state(of: "n").count == 1)
        try await group.post("n")
        #expect(try await group.state(of: "n").count == 2)
        await group.close()
    }

    @Test(
        "S12: the second try is refused while the first is under way: `outcomeUnknown`, and it takes effect once",
        arguments: [nil, full])
    func refusedRetry(error: SharedCoreError?) async throws {
        let failures = Failures()
        let late = Box<[UInt8]>([])
        let group = try await log.join { log in
            log.append = { view, record, position throws(SharedCoreError) in
                guard failures.take() else { return try await view.append(record, at: position) }
                if late.value.isEmpty {
                    late.update { $0 = record }
                    throw Self.away
                }
                if let error { throw error }
                return false
            }
        }
        failures.begin(2)
        #expect(try await CoreAPITesting.code { _ = try await group.post("n") } == .outcomeUnknown)
        log.add(late.value)
        #expect(try await group.state(of: "n").count == 1)
        await group.close()
    }

    @Test("S13: a log that takes no record is asked again after growing pauses, until the task is cancelled")
    func refusingLog() async throws {
        let calls = CallTimes()
        let isRefusing = Box(false)
        let group = try await log.join { log in
            log.append = { view, record, position throws(SharedCoreError) in
                guard isRefusing.value else { return try await view.append(record, at: position) }
                calls.note()
                return false
            }
        }
        isRefusing.update { $0 = true }
        let commit = Task { try await CoreAPITesting.code { _ = try await group.put("k", [1]) } }
        try await eventually("it is asked again") { calls.count >= 4 }
        commit.cancel()
        #expect(try await withTimeout(TestTimeout.usual, "the commit ends") { try await commit.value } == .cancelled)
        #expect(calls.areApart())
        isRefusing.update { $0 = false }
        try await group.put("k", [2])
        await group.close()
    }

    @Test("S13: a log that refuses every record and shows no other makes the commit fail, which had no effect")
    func refusingForever() async throws {
        let isRefusing = Box(false)
        let group = try await log.join { log in
            log.append = { view, record, position throws(SharedCoreError) in
                guard isRefusing.value else { return try await view.append(record, at: position) }
                return false
            }
        }
        isRefusing.update { $0 = true }
        let code = try await withTimeout(TestTimeout.usual, "the commit ends") {
            try await CoreAPITesting.code { _ = try await group.put("k", [1]) }
        }
        #expect(code == .unavailable)
        isRefusing.update { $0 = false }
        #expect(try await group.get("k") == nil)
        await group.close()
    }

    @Test("A log whose waits end at once is read after growing pauses")
    func restlessLog() async throws {
        let calls = CallTimes()
        let group = try await log.join { log in
            log.wait = { _, _ throws(SharedCoreError) in calls.note() }
        }
        try await eventually("it waits again") { calls.count >= 5 }
        // Once it may have been for an end.
        #expect(calls.areApart(from: 1))
        await group.close()
    }

    @Test("A log that fails is asked again after growing pauses; then changes arrive")
    func failingLog() async throws {
        let failures = Failures()
        failures.begin(4)
        let reader = try await log.join { log in
            log.wait = { view, position throws(SharedCoreError) in
                if failures.take() { throw Self.away }
                try await view.wait(after: position)
            }
        }
        let watch = try await reader.watch(.all, from: .now)
        let writer = try await log.join()
        try await writer.put("k", [1])
        let event = try await withTimeout(TestTimeout.usual, "the change arrives") { try await watch.next() }
        guard case .changes(let changes)? = event else {
            Issue.record("\(String(describing: event))")
            return
        }
        #expect(changes.changes.map(\.key) == ["k"])
        try await eventually("it asks again") { failures.times.count == 4 }
        #expect(failures.times.areApart())
        await reader.close()
        await writer.close()
    }

    @Test("Changes arrive also from a log that cannot be waited for")
    func unwaitableLog() async throws {
        let reader = try await log.join { log in
            log.wait = { _, _ throws(SharedCoreError) in throw Self.away }
        }
        let watch = try await reader.watch(.all, from: .now)
        let writer = try await log.join()
        for number in 1...2 {
            try await writer.put("k", [UInt8(number)])
            let event = try await withTimeout(TestTimeout.usual, "the change arrives") { try await watch.next() }
            guard case .changes(let changes)? = event else {
                Issue.record("\(String(describing: event))")
                return
            }
            #expect(changes.changes.map(\.key) == ["k"])
        }
        await reader.close()
        await writer.close()
    }

    @Test("S8: an expiry that the log does not take is recorded later, after growing pauses")
    func failingExpiry() async throws {
        let failures = Failures()
        let clock = ManualClock()
        let group = try await log.join(clock: clock) { log in
            log.append = { view, record, position throws(SharedCoreError) in
                if failures.take() { throw Self.full }
                return try await view.append(record, at: position)
            }
        }
        try await group.put("k", [1], lifetime: .expiring(after: .seconds(10)))
        failures.begin(3)
        for pause in [Duration.seconds(10), .milliseconds(50), .milliseconds(100), .milliseconds(200)] {
            let due = clock.now().advanced(by: pause)
            try await eventually("it waits for \(pause)") { clock.nextWake == due }
            clock.advance(by: pause)
        }
        try await eventually("it is recorded") {
            try log.effects().contains { if case .expired = $0.body { true } else { false } }
        }
        #expect(failures.times.count == 3)
        await group.close()
    }

    @Test("S13: `close()` ends although the log answers no append and does not close")
    func hangingLog() async throws {
        let hangs = Box(false)
        let group = try await log.join { log in
            log.append = { view, record, position throws(SharedCoreError) in
                while hangs.value { try? await LogOrder.pause(.milliseconds(100)) }
                return try await view.append(record, at: position)
            }
            log.close = { _ in while hangs.value { try? await LogOrder.pause(.milliseconds(100)) } }
        }
        hangs.update { $0 = true }
        let commit = Task { try await CoreAPITesting.code { _ = try await group.put("k", [1]) } }
        try await withTimeout(.seconds(60), "it closes") { await group.close() }
        #expect(try await CoreAPITesting.code { _ = try await group.get("k") } == .closed)
        hangs.update { $0 = false }
        _ = try await withTimeout(TestTimeout.usual, "the commit ends") { try await commit.value }
    }
}
