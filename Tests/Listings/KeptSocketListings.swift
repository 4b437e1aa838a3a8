internal import Coordination
internal import KeptSockets
internal import NetworkMonitor

func keepConnection(
    connectToServer: () throws -> Int32, process: @escaping @Sendable (Int32, _ within: Duration) -> Void
) async throws {
    let keeper = try await KeptSockets.connect()
    let connection: Int32
    if let kept = try await keeper.recover().first(where: { $0.name == "sip" }) {
        connection = try kept.descriptor()  // with what has come on it since the last Main read
    } else {
        connection = try connectToServer()
        try await keeper.keep(connection, as: "sip")  // at once, when it is made
    }
    Task {
        for await event in keeper.events {
            switch event {
            case .wake(let budget): process(connection, budget)  // then enterBackground() again
            case .woken, .budgetEnds, .keeperLost, .keeperFound: break
            }
        }
    }
    try await keeper.enterBackground()
}

func restWithKeeper(_ main: MainParticipant, _ keeper: KeptSockets) async {
    for await event in keeper.events {
        switch event {
        case .wake: try? await main.resume(for: .data)  // the holder's wakes resume it by themselves
        case .keeperLost: try? await main.resume()  // throws where the rest was over: another process owns
        case .keeperFound: try? await main.rest()  // throws where there is a reason to be awake
        case .woken, .budgetEnds: break
        }
    }
}

func followNetworks() async throws {
    let monitor = try await NetworkMonitor.open()
    for await state in monitor.states {
        print(state)  // connected through eth0 (192.0.2.7) by 192.0.2.1
    }
}
