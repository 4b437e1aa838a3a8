internal import Coordination
public import CoreAPI
public import Lifecycle
public import NetworkMonitor
public import Platform

/// Puts the parts together: a telephone, its connectivity machine, and the sources of the machine's events.
///
/// An application writes about this much.
public final class TelephoneLife: Sendable {
    public let telephone: Telephone
    public let runner: ConnectivityRunner
    private let tasks: [Task<Void, Never>]

    /// - Parameters:
    ///   - group: A handle with the role `main` of the application's group.
    ///   - network: The states of a `NetworkMonitor`.
    ///   - record: The path of the file in which the keep-alive outlives this process.
    ///   - trace: Is told of every transition.
    public init(
        user: String, server: ServerAddress, sharing group: any SharedStore, network: AsyncStream<NetworkState>,
        record path: String? = nil, clock: any TimeSource = SystemClock(), patience: Duration = .seconds(5),
        trace: @escaping @Sendable (ConnectivityTransition) -> Void = { _ in }
    ) async throws {
        let keepAlive = try RecordFile.restore(path, clock: clock)
        let telephone = try Telephone(
            user: user, server: server, sharing: group, keepAlive: keepAlive, clock: clock, patience: patience)
        let runner = ConnectivityRunner(
            ConnectivityMachine(seed: .random(in: .min ... .max)), delegate: telephone, clock: clock,
            onTransition: trace)
        self.telephone = telephone
        self.runner = runner
        // The core runs before anything happens: the client connects in the process that owns, and in no other.
        try await telephone.main.start()
        tasks = [
            Task { await telephone.follow(network) },
            Task { await telephone.followConnection() },
            Task { for await event in telephone.happenings { await runner.handle(event) } },
        ]
        // Ten minutes are the shortest interval that there is.
        try await keepAlive.add(Telephone.registration, every: .seconds(600), handler: Refresher(runner: runner))
    }

    /// Ends it; the server is not told, as when a process is killed.
    public func close() async {
        for task in tasks { task.cancel() }
        await telephone.keepAlive.close()
        await runner.close()
        await telephone.end()
        await telephone.main.stop()
    }
}
