import CoreAPI
import Foundation
import Lifecycle
import NetworkMonitor
import TelephoneServer
import Telephony
import Testing

/// A telephone and a server, with real sockets between them. The network, the user and the system are played by the test.
final class Stage: Sendable {
    let server: TelephoneServer
    let life: TelephoneLife
    let clock = SteppingClock()
    private let network: AsyncStream<NetworkState>.Continuation

    init(grant: Int = 3600, patience: Duration = .seconds(20)) async throws {
        server = try TelephoneServer()
        server.grant(seconds: grant)
        let (states, network) = AsyncStream.makeStream(of: NetworkState.self)
        self.network = network
        life = try await TelephoneLife(
            user: "zoe", server: ServerAddress(host: server.host, port: server.port), network: states, clock: clock,
            patience: patience)
    }

    var telephone: Telephone { life.telephone }

    // MARK: What happens

    /// The server is there again, and the monitor says so.
    func gainNetwork() throws {
        try server.heal()
        network.yield(Self.connected)
    }

    /// The monitor says that there is a network, and the server is somewhere else.
    func gainNetworkOnly() {
        network.yield(Self.connected)
    }

    /// The machine is connected from these addresses.
    func tellNetwork(_ addresses: [String]) {
        network.yield(
            NetworkState(exits: [
                NetworkExit(
                    interface: "wlan0", family: .version4, gateway: nil,
                    addresses: addresses.compactMap { IPAddress($0) })
            ]))
    }

    /// Nothing reaches the server any more, and the monitor says so.
    func loseNetwork() {
        server.cut()
        network.yield(NetworkState(.carrier))
    }

    func placeCall() async throws {
        try await telephone.placeCall()
        try await eventually("the machine knows of the call") {
            await life.runner.trace.last?.event == .activeCallBegan
        }
    }

    func bring(to state: ApplicationState) async {
        await telephone.bring(to: state)
    }

    /// Ten minutes pass at once, so that the keep-alive is due.
    func passTenMinutes() {
        clock.advance(by: .seconds(600))
    }

    /// Brings the telephone to where a row begins, over the rows that lead there.
    func reach(_ position: LifePosition) async throws {
        try await after(.t2) { network.yield(Self.connected) }
        switch position.application {
        case .foreground: break
        case .background: try await after(.t8) { await bring(to: .background) }
        case .suspended:
            try await after(.t8) { await bring(to: .background) }
            try await after(.t6) { await bring(to: .suspended) }
        }
        if position.connectivity == .disconnected {
            let number: TransitionNumber =
                switch position.application {
                case .foreground: .t1
                case .background: .t5
                case .suspended: .t13
                }
            try await after(number) { loseNetwork() }
        }
        let reached = await life.runner.position
        try #require(reached == position)
        _ = server.takeRequests()
    }

    // MARK: What becomes of it

    /// Lets something happen and waits until the machine has done what it does about it; gives what it traced.
    @discardableResult
    func after(
        _ number: TransitionNumber, _ happening: () async throws -> Void
    ) async throws -> [ConnectivityTransition] {
        let before = await life.runner.trace.count
        try await happening()
        try await eventually("\(number) is traced") {
            await life.runner.trace.dropFirst(before).contains { $0.number == number && $0.event != nil }
        }
        await life.runner.settle()
        return Array(await life.runner.trace.dropFirst(before))
    }

    /// Lets something happen and waits for what it leads to.
    func happens(
        _ what: String, _ happening: () async throws -> Void, until condition: () async -> Bool
    ) async throws {
        try await happening()
        try await eventually(what, condition)
    }

    /// How many attempts have failed.
    var failures: Int {
        get async { await life.runner.trace.count { $0.hasFailed } }
    }

    /// The web server answers.
    func getsContacts() async throws {
        let contacts = try await telephone.web.get("/contacts")
        #expect(contacts == "Zoe, Max")
    }

    /// Web requests are refused.
    func getsNothing() async {
        await #expect(throws: WebRequests.Failure.resting) { try await telephone.web.get("/contacts") }
    }

    /// Waits for something that happens without the machine.
    func eventually(_ what: String, _ condition: () async -> Bool) async throws {
        let deadline = ContinuousClock.now + .seconds(30)
        while await !condition() {
            guard ContinuousClock.now < deadline else {
                throw NotSeen(what: what, trace: await life.runner.trace.map(\.description))
            }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    struct NotSeen: Error {
        let what: String
        let trace: [String]
    }

    private static let connected = NetworkState(exits: [
        NetworkExit(
            interface: "eth0", family: .version4, gateway: nil, addresses: [IPAddress("192.0.2.7")].compactMap { $0 })
    ])
}
