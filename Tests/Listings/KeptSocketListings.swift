internal import Coordination
internal import KeptSockets

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

func restAndSleep(_ main: MainParticipant, _ keeper: KeptSockets) async throws {
    while await !main.isAtRest {
        do throws(CoordinationError) {
            try await main.rest()  // first: the core becomes quiet, and the holder owns
        } catch {
            guard error.code == .refused else { throw error }
            try await Task.sleep(for: .seconds(1))  // there is a reason to be awake
        }
    }
    try? await keeper.enterBackground()  // second; without a keeper the next one is told
}

func restWithKeeper(
    _ main: MainParticipant, _ keeper: KeptSockets, _ connection: Int32,
    process: @escaping @Sendable (Int32, _ within: Duration) -> Void
) async throws {
    try await restAndSleep(main, keeper)
    for await event in keeper.events {
        switch event {
        case .wake(let budget):
            try? await main.resume(for: .data)  // throws where the rest was over: another process owns
            process(connection, budget)
            try await restAndSleep(main, keeper)
        case .woken:
            try? await main.resume()  // the holder's wake resumes it as well, and may come later than this event
            try await restAndSleep(main, keeper)
        case .keeperLost: try? await main.resume()
        case .keeperFound: try await restAndSleep(main, keeper)
        case .budgetEnds: break
        }
    }
}
