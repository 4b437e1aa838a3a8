internal import CoreAPI
internal import Mailboxes

func notify(_ group: any SharedGroup, reload: @escaping @MainActor @Sendable () -> Void) async throws {
    let center = SharedNotificationCenter(group)
    let token = try await center.addObserver(forName: "settings.changed", onMain: { delivery in reload() })
    try await center.post("settings.changed", state: 7)

    for try await delivery in try await center.notifications(named: "settings.changed") {
        print(delivery.state, delivery.count)  // posts may be merged; the counts add up
    }
    token.cancel()
}
