internal import BackendRegistry
internal import BenchmarkRun
internal import Coordination
internal import CoreAPI
internal import FileNotifyBackend
internal import Glibc
internal import Platform
internal import PluginBackend
internal import ProgramOutput

#if POSTGRES
    internal import PostgresBackend
#endif
#if ZMQ
    internal import ZMQBackend
#endif

/// One participant of a figure of `sharedcore bench`, by SharedCore or by a design that it is compared with. Started by
/// that command, not by people.
///
/// It prints `ready`; with a call-id it gets that message and prints `message` with the time. Otherwise each line
/// that it reads is an order. `own` prints `asked` and, when the core runs, `owning`, both with the time. `rest`
/// releases the ownership until the next `own`, and prints `resting`. The end of its input releases it for good. The
/// other orders are those of `BenchOrders`, each answered by a line that begins with `done`. Times are nanoseconds of
/// the machine's run.
@main
enum BenchParticipantProgram {
    static func main() {
        ProgramStart.requireResources(for: "sharedcore-bench-participant", threadCount: 4)
        // As the program does that a push starts.
        OwnProcess.shareHeap()
        try? BusErrorHandler.install()
        let arguments: BenchArguments
        do {
            arguments = try BenchArguments(OwnProcess.arguments.map { try ProgramText.text($0) })
        } catch {
            fail(error)
        }
        if arguments.isOffPool { MainThread.run { await play(arguments) } }
        Task.detached { exit(await play(arguments)) }
        while true { pause() }
    }

    private static func fail(_ error: any Error) -> Never {
        StandardError.write("sharedcore-bench-participant: \(error)")
        exit(ExitStatus.unavailable.rawValue)
    }

    private static func play(_ arguments: BenchArguments) async -> Int32 {
        do {
            switch arguments.design {
            case .sharedcore: try await run(arguments)
            case .store: try await obey(arguments)
            case .flag: follow(arguments, StateFlag(path: arguments.directory + "/state"))
            case .none: await rest()
            case .nothing: break
            case .hub: try await serve(arguments)
            case .lease: follow(arguments, RenewedLease(path: arguments.directory + "/state"))
            }
        } catch {
            fail(error)
        }
        return ExitStatus.success.rawValue
    }

    /// Joins the group, on a bundled backend or a plugin.
    private static func open(_ arguments: BenchArguments) async throws -> any SharedGroup {
        var registry = BackendRegistry.bundled()
        #if POSTGRES
            registry.register(PostgresFactory())
        #endif
        var backend = arguments.backend
        if let directory = backend.settings.removeValue(forKey: "pluginDirectory"),
            let plugin = try BackendPlugin.load(backend.backend, from: directory)
        {
            registry.register(PluginFactory(plugin))
        }
        return try await registry.open(backend, as: SessionDescription(role: arguments.role, name: "bench"))
    }

    private static func run(_ arguments: BenchArguments) async throws {
        let group = try await open(arguments)
        let participate = {
            try BenchParticipation(
                in: group,
                core: BenchCore(
                    server: arguments.server, startDelay: .milliseconds(Int64(arguments.startMilliseconds))),
                environment: CoordinationEnvironment(witness: FileWitness(path: arguments.directory + "/witness")))
        }
        var participation = try participate()
        say("ready")
        if let callID = arguments.callID.flatMap({ CallID($0) }) {
            try await participation.message(callID)
            say("message", SystemClock().now())
            await participation.finish()
        } else {
            let input = AwaitedInputLines()
            let orders = BenchOrders(in: group) { print($0) }
            while let order = await input.next() {
                switch order {
                case "own":
                    say("asked", SystemClock().now())
                    try await participation.own()
                    say("owning", SystemClock().now())
                case "rest":
                    await participation.close()
                    participation = try participate()
                    say("resting")
                default: try await answer(order, orders)
                }
            }
        }
        await participation.close()
        await group.close()
    }

    /// Has the group open, and obeys.
    private static func obey(_ arguments: BenchArguments) async throws {
        let group = try await open(arguments)
        let orders = BenchOrders(in: group) { print($0) }
        let input = AwaitedInputLines()
        say("ready")
        while let order = await input.next() { try await answer(order, orders) }
        await group.close()
    }

    /// Idles as any program in Swift: its pool has run a task, and it waits.
    private static func rest() async {
        await Task.detached {}.value
        say("ready")
        await waitForEndOfInput()
    }

    /// The hub of a group on files, until its input ends.
    private static func serve(_ arguments: BenchArguments) async throws {
        #if ZMQ
            let group = arguments.backend
            let endpoint = try HubEndpoint(group.settings["zmq.endpoint"] ?? "")
            var keys: CurveHubKeys?
            if case .tcp = endpoint { keys = try makeKeys(of: group, in: arguments.directory) }
            let hub = try await Hub.start(
                HubOptions(
                    group: group.group,
                    storage: .files(
                        directory: group.directory, FileGroupOptions(durability: group.durability ?? .process)),
                    endpoints: [endpoint], keys: keys))
            if let keys { print("at \(hub.endpoints[0]) \(keys.own.publicKey)") }
            say("ready")
            await waitForEndOfInput()
            await hub.stop()
        #else
            throw BenchArguments.Wrong(description: "this build does not have the backend zmq")
        #endif
    }

    #if ZMQ
        /// Lets in the holder of the key of the group's directory, and that of another one, `flood.key`.
        private static func makeKeys(of group: BackendConfiguration, in directory: String) throws -> CurveHubKeys {
            let (own, flood) = (try KeyFile.pair(ofGroup: group.directory, making: true), try CurveKeyPair.generate())
            try KeyFile.write(secretKeyOf: flood, to: directory + "/flood.key")
            return try CurveHubKeys(own: own, clients: [own.publicKey, flood.publicKey])
        }
    #endif

    private static func waitForEndOfInput() async {
        let input = AwaitedInputLines()
        while await input.next() != nil {}
    }

    private static func answer(_ order: String, _ orders: BenchOrders) async throws {
        guard let numbers = try await obey(order, orders) else { return }
        print((["done"] + numbers.map { "\($0)" }).joined(separator: " "))
    }

    /// On Swift's pool, as an application's tasks, and not on the main actor's thread.
    @concurrent
    private static func obey(_ order: String, _ orders: BenchOrders) async throws -> [Double]? {
        try await orders.obey(order)
    }

    private static func follow(_ arguments: BenchArguments, _ design: any PeerDesign) {
        say("ready")
        if let callID = arguments.callID {
            let core = PeerCore(
                server: arguments.server ?? arguments.directory, inbox: arguments.directory + "/inbox",
                startMilliseconds: arguments.startMilliseconds)
            design.message(callID, by: core)
            return say("message", SystemClock().now())
        }
        var input = InputLines()
        while let order = input.next() {
            guard order == "own" else { continue }
            say("asked", SystemClock().now())
            design.own(asMain: arguments.role == .main)
            say("owning", SystemClock().now())
        }
        design.release()
    }

    private static func say(_ word: String, _ instant: BootInstant? = nil) {
        print(word + (instant.map { " \($0.nanoseconds)" } ?? ""))
    }

    private static func print(_ line: String) {
        try? StandardStream.output.write(Array((line + "\n").utf8))
    }
}
