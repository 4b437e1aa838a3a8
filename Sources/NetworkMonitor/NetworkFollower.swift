internal import CoreAPI
internal import Platform
internal import Synchronization

/// The thread that waits for reports of the kernel, and the state that it shares with other threads.
final class NetworkFollower: Sendable {
    private struct Shared {
        var current: NetworkState?
        var losses = 0
        var isStopped = false
        var opening: CheckedContinuation<Result<Void, SharedCoreError>, Never>?
        var listeners: [Int: AsyncStream<NetworkState>.Continuation] = [:]
        var lastListener = 0
    }

    private let reports: any RouteReports
    private let wake: EventCounter
    private let clock = SystemClock()
    private let shared = Mutex(Shared())

    init(_ reports: any RouteReports) throws(SystemCallError) {
        self.reports = reports
        wake = try EventCounter()
    }

    /// Starts the thread; returns with the first state.
    func start() async throws(SharedCoreError) {
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Result<Void, SharedCoreError>, Never>) in
                shared.withLock { $0.opening = continuation }
                do throws(SystemCallError) {
                    try OwnedThread.start("network") { [self] in run() }
                } catch {
                    finish(failure: error)
                }
            }
        } onCancel: {
            stop()
        }
        try result.get()
    }

    var current: NetworkState { shared.withLock { $0.current } ?? NetworkState(.interface) }
    var losses: Int { shared.withLock { $0.losses } }

    func stop() {
        shared.withLock { $0.isStopped = true }
        wake.raise()
    }

    func states() -> AsyncStream<NetworkState> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: NetworkState.self, bufferingPolicy: .bufferingNewest(1))
        let number = shared.withLock { shared -> Int? in
            // No task reads the new stream yet, so nothing is resumed under the lock.
            if let current = shared.current { continuation.yield(current) }
            guard !shared.isStopped else { return nil }
            shared.lastListener += 1
            shared.listeners[shared.lastListener] = continuation
            return shared.lastListener
        }
        guard let number else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in
            self?.shared.withLock { $0.listeners[number] = nil }
        }
        return stream
    }

    private func run() {
        var tracker = NetworkTracker()
        do throws(SystemCallError) {
            try carryOut(tracker.start(at: clock.now()))
        } catch {
            return finish(failure: error)
        }
        while !shared.withLock({ $0.isStopped }) {
            do throws(SystemCallError) {
                try turn(&tracker)
            } catch {
                // Without a first answer the monitor cannot open. Later failures, such as a lack of memory, are
                // temporary: everything is read again after a pause, which keeps the thread from spinning.
                guard shared.withLock({ $0.current }) != nil else { return finish(failure: error) }
                _ = Poll.wait(for: [wake.descriptor], timeout: Self.pauseAfterFailure)
                _ = tracker.overflow(at: clock.now())
            }
        }
        finish(failure: nil)
    }

    private static let pauseAfterFailure = Duration.milliseconds(200)

    private func turn(_ tracker: inout NetworkTracker) throws(SystemCallError) {
        let now = clock.now()
        let ready = Poll.wait(
            for: [reports.descriptor, wake.descriptor], timeout: tracker.deadline.map { now.duration(to: $0) })
        if ready[0] { try receive(&tracker) }
        try carryOut(tracker.timePassed(at: clock.now()))
    }

    private func receive(_ tracker: inout NetworkTracker) throws(SystemCallError) {
        // Read a limited number of datagrams, so that the thread also does its other work during a flood of reports.
        for _ in 0..<64 {
            guard let taken = try reports.take() else { return }
            switch taken {
            case .overflow: try carryOut(tracker.overflow(at: clock.now()))
            case .messages(let bytes):
                for message in RouteMessage.read(bytes) {
                    try carryOut(tracker.receive(message, at: clock.now()))
                }
            }
            let losses = tracker.losses
            shared.withLock { $0.losses = losses }
        }
    }

    private func carryOut(_ directives: [NetworkTracker.Directive]) throws(SystemCallError) {
        for directive in directives {
            switch directive {
            case .ask(let kind, let sequence): try reports.ask(for: kind, sequence: sequence)
            case .tell(let state): tell(state)
            case .giveUp(let number): throw SystemCallError("rtnetlink", number: number, at: "network monitor")
            }
        }
    }

    private func tell(_ state: NetworkState) {
        let (listeners, opening) = shared.withLock { shared in
            shared.current = state
            defer { shared.opening = nil }
            return (Array(shared.listeners.values), shared.opening)
        }
        for listener in listeners { listener.yield(state) }
        opening?.resume(returning: .success(()))
    }

    private func finish(failure: SystemCallError?) {
        let (listeners, opening) = shared.withLock { shared in
            shared.isStopped = true
            defer {
                shared.listeners = [:]
                shared.opening = nil
            }
            return (Array(shared.listeners.values), shared.opening)
        }
        for listener in listeners { listener.finish() }
        // The caller has no monitor yet, so the thread was stopped because the caller's task was cancelled.
        opening?.resume(returning: .failure(failure.map(SharedCoreError.init) ?? .cancelled("network monitor")))
    }
}
