import Coordination
import CoreAPI
import Foundation
import InMemoryBackend
import Lifecycle
import NetworkMonitor
import TelephoneServer
import Telephony
import Testing

/// A telephone and a server, with real sockets between them. The network, the user and the system are simulated by the
/// test.
final class Stage: Sendable {
    let server: TelephoneServer
    /// The memory in which the telephone's group is.
    let space: MemorySpace
    /// The telephone's handle.
    let group: MemoryGroup
    /// The process that owns for the telephone while it sleeps.
    let holder: HolderParticipant?
    let holderGroup: MemoryGroup?
    let life: TelephoneLife
    let clock: StandingClock
    private let network: AsyncStream<NetworkState>.Continuation

    convenience init(
        grant: Int = 3600, patience: Duration = .seconds(60), record: String? = nil, hasHolder: Bool = true
    ) async throws {
        let server = try TelephoneServer()
        server.grant(seconds: grant)
        let space = MemorySpace()
        let handle =
            hasHolder ? try await space.open("telephone", as: SessionDescription(role: .tool, name: "holder")) : nil
        let holder = try handle.map { try HolderParticipant(of: $0) }
        try await holder?.start()
        try await self.init(server, space, (holder, handle), StandingClock(), patience: patience, record: record)
    }

    /// Another process of the same telephone, some time later.
    convenience init(following former: Stage, record: String) async throws {
        try await self.init(
            former.server, former.space, (former.holder, former.holderGroup), former.clock, patience: .seconds(60),
            record: record)
    }

    private init(
        _ server: TelephoneServer, _ space: MemorySpace, _ holder: (HolderParticipant?, MemoryGroup?),
        _ clock: StandingClock, patience: Duration, record: String?
    ) async throws {
        self.server = server
        self.space = space
        (self.holder, holderGroup) = holder
        group = try await space.open("telephone", as: SessionDescription(role: .main, name: "telephone"))
        self.clock = clock
        let (states, network) = AsyncStream.makeStream(of: NetworkState.self)
        self.network = network
        life = try await TelephoneLife(
            user: "zoe", server: ServerAddress(host: server.host, port: server.port),
            sharing: group, network: states, record: record, clock: clock, patience: patience)
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
    func reach(_ position: LifecyclePosition) async throws {
        try await after(.t2) { network.yield(Self.connected) }
        try await move(from: .foreground, to: position.application)
        if position.connectivity == .disconnected { try await after(position.application.loss) { loseNetwork() } }
        let reached = await life.runner.position
        try #require(reached == position)
        _ = server.takeRequests()
    }

    /// Brings it from one state to another, over those between.
    func move(from: ApplicationState, to: ApplicationState) async throws {
        guard from != to else { return }
        let next: ApplicationState =
            switch from {
            case .foreground: .background
            case .background: to
            case .suspended: .foreground
            }
        let before = await life.runner.trace.count
        await bring(to: next)
        try await eventually("it is in the state \(next)") {
            // A suspension is decided only when its actions are done.
            await life.runner.settle()
            let (count, position) = (await life.runner.trace.count, await life.runner.position)
            return count > before && position.application == next
        }
        await life.runner.settle()
        try await move(from: next, to: to)
    }

    // MARK: What becomes of it

    /// Lets an event happen, waits until the machine has reacted, and returns the machine's trace.
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

    /// Lets the connection end while the network stays, and returns the machine's trace.
    @discardableResult
    func afterLoss(_ happening: () async throws -> Void) async throws -> [ConnectivityTransition] {
        let before = await life.runner.trace.count
        try await happening()
        try await eventually("the loss is traced") {
            await life.runner.trace.dropFirst(before).contains { $0.event == .connectionLost }
        }
        await life.runner.settle()
        return Array(await life.runner.trace.dropFirst(before))
    }

    /// Lets an event happen, and waits for its effect.
    func happens(
        _ what: String, _ happening: () async throws -> Void, until condition: () async -> Bool
    ) async throws {
        try await happening()
        try await eventually(what, condition)
    }

    /// The number of attempts that have failed.
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
