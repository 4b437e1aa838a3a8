internal import Foundation
internal import Lifecycle
internal import NetworkMonitor
internal import TelephoneServer
internal import Telephony

/// A day of a telephone, with a real server over real sockets. Only the network is told to come and go, so that the
/// scenario can run anywhere.
struct Story {
    private let server: TelephoneServer
    private let group: OwnGroup
    private let life: TelephoneLife
    private let network: AsyncStream<NetworkState>.Continuation

    static func play() async throws {
        let story = try await Story()
        try await story.tell("The telephone is switched on", .t2) { story.network.yield(.example) }
        try await story.tell("Zoe puts it into her pocket", .t8) { await story.life.telephone.bring(to: .background) }
        try await story.tell("The system puts it to sleep", .t6) { await story.life.telephone.bring(to: .suspended) }
        try await story.tell("Max writes: the kept socket wakes it", .t11) { try story.server.send(text: "Lunch?") }
        try await story.tell("A train, a tunnel; nobody sees it", .t13) {
            story.server.cut()
            story.network.yield(NetworkState(.carrier))
        }
        try await story.tell("Daylight; still nobody sees it", .t14) {
            try story.server.heal()
            story.network.yield(.example)
        }
        try await story.tell("Zoe looks at it", .t16) { await story.life.telephone.bring(to: .foreground) }
        for line in await story.life.telephone.screen { print("on the screen: \(line)") }
        await story.life.close()
    }

    private init() async throws {
        server = try TelephoneServer()
        let (states, network) = AsyncStream.makeStream(of: NetworkState.self)
        self.network = network
        group = try await OwnGroup()
        life = try await TelephoneLife(
            user: "zoe", server: ServerAddress(host: server.host, port: server.port), sharing: group.main,
            network: states)
    }

    /// Lets an event happen, and prints the machine's reaction and the requests to the server.
    private func tell(
        _ sentence: String, _ number: TransitionNumber, _ happening: () async throws -> Void
    ) async throws {
        let before = await life.runner.trace.count
        print("\n\(sentence).")
        try await happening()
        while await !life.runner.trace.dropFirst(before).contains(where: { $0.number == number }) {
            try await Task.sleep(for: .milliseconds(5))
        }
        await life.runner.settle()
        for transition in await life.runner.trace.dropFirst(before) { print("    \(transition.line)") }
        for request in server.takeRequests() { print("    the server: \(request)") }
        print("    owns the core: \(try await group.owner)")
    }
}

extension NetworkState {
    /// A monitor's state on a machine with one cable.
    static let example = NetworkState(exits: [
        NetworkExit(
            interface: "eth0", family: .version4, gateway: IPAddress("192.0.2.1"),
            addresses: [IPAddress("192.0.2.7")].compactMap { $0 })
    ])
}
