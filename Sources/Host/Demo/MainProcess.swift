internal import CoreAPI
internal import Platform
internal import Subprocess
internal import Synchronization

/// A Main of the demo in a process of its own.
final class MainProcess: DemoMain {
    private let signal: @Sendable (Signal) throws -> Void
    private let wasKilled = Atomic(false)

    init(signal: @escaping @Sendable (Signal) throws -> Void) {
        self.signal = signal
    }

    var isKilled: Bool { wasKilled.load(ordering: .acquiring) }

    func kill() async throws -> BootInstant {
        wasKilled.store(true, ordering: .releasing)
        let now = SystemClock().now()
        try signal(.kill)
        return now
    }
}
