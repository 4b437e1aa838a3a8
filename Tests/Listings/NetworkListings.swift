internal import NetworkMonitor

func followNetworks() async throws {
    let monitor = try await NetworkMonitor.open()
    for await state in monitor.states {
        print(state)  // connected through eth0 (192.0.2.7) by 192.0.2.1
    }
}
