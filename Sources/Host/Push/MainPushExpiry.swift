internal import Coordination
internal import CoreAPI
internal import Logging
internal import Mailboxes
internal import Platform
internal import ProgramOutput

/// Removes the pushes that no Main has taken within `inbox.lifetime` (contract P13).
struct MainPushExpiry: Sendable {
    private let queue: MainPushQueue
    private let lifetime: Duration
    private let logger: Logger
    private let clock: any TimeSource

    /// The pause before the next attempt if the group cannot be used.
    private static let trouble = Duration.seconds(5)

    init(_ queue: MainPushQueue, lifetime: Duration, logger: Logger, clock: any TimeSource = SystemClock()) {
        self.queue = queue
        self.lifetime = lifetime
        self.logger = logger
        self.clock = clock
    }

    /// Runs until the task is cancelled or the session has ended. A problem is logged once, until it changes.
    func run() async {
        var told: String?
        while !Task.isCancelled {
            do {
                try await follow()
                return
            } catch let error as SharedCoreError {
                // These errors mean that the session has ended. The host then ends and reports it.
                guard error.code != .sessionEnded, error.code != .closed, error.code != .cancelled else { return }
                if told != error.sentence {
                    logger.warning("pushes that no Main takes do not end in time: \(error.sentence)")
                }
                told = error.sentence
                try? await Task.sleep(for: Self.trouble)
            } catch {
                return
            }
        }
    }

    private func follow() async throws {
        let watch = try await queue.mailbox.watch()
        defer { watch.cancel() }
        var pushes = UntakenPushes(of: queue, lifetime: lifetime, in: clock.bootID)
        try await withThrowingTaskGroup(of: Happening.self) { group in
            defer { group.cancelAll() }
            group.addTask { .changed(try await watch.next()) }
            var alarm: BootInstant?
            while let happening = try await group.next() {
                switch happening {
                case .changed(nil): return
                case .changed(let event?):
                    pushes.apply(event, at: clock.now())
                    group.addTask { .changed(try await watch.next()) }
                case .due(let instant): if alarm == instant { alarm = nil }
                }
                let now = clock.now()
                if let sentence = try await queue.end(pushes.overdue(at: now)) {
                    logger.warning("no Main has taken in time: \(ValueText.oneLine(sentence))")
                }
                // If the next end is not in the future, its push was taken or removed meanwhile, and the watch will
                // report that.
                guard let next = pushes.nextEnd, next > now, alarm.map({ next < $0 }) ?? true else { continue }
                alarm = next
                group.addTask {
                    try await clock.sleep(until: next)
                    return .due(next)
                }
            }
        }
    }

    private enum Happening: Sendable {
        case changed(WatchEvent?)
        case due(BootInstant)
    }
}
