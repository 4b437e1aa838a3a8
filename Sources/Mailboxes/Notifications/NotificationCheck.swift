public import CoreAPI
internal import Synchronization

/// Tells whether anything was posted since it was asked last, without any event.
///
/// Source: contract N5; `notify_check` of notify(3).
public final class NotificationCheck: Sendable {
    /// What is checked.
    public let name: NotificationName
    private let notifier: any CrossProcessNotifier
    private let lastCount: Mutex<UInt64>

    init(of name: NotificationName, on notifier: any CrossProcessNotifier, since count: UInt64) {
        self.name = name
        self.notifier = notifier
        self.lastCount = Mutex(count)
    }

    /// Whether the name was posted since the last check, or, at the first one, since this was made.
    public func check() async throws(SharedCoreError) -> Bool {
        let count = try await notifier.state(of: name).count
        // Two checks at once are two checks: one of them comes first.
        return lastCount.withLock { last in
            defer { last = max(last, count) }
            return count > last
        }
    }

    /// What stands under the name now.
    public func state() async throws(SharedCoreError) -> NotificationState {
        try await notifier.state(of: name)
    }
}
