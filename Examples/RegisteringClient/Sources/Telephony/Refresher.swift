internal import Lifecycle

/// What the keep-alive calls: it wakes the machine, and is done when the machine is.
struct Refresher: KeepAliveHandler {
    let runner: ConnectivityRunner

    func keepAlive(_ run: KeepAliveRun) async throws {
        await runner.handle(.keepAlive)
        await runner.settle()
    }
}
