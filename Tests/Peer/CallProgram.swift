internal import Coordination
internal import CoreAPI
internal import FileNotifyBackend
internal import Glibc
internal import Platform
internal import Synchronization

#if ZMQ
    internal import ZMQBackend
#endif

/// A participant with a core that has a call over a datagram socket:
/// `<directory> <main|executor> <name> <port> <handover timeout in ms> <bound of an owner's answer in ms> [<hub's endpoint>
/// <secret key> <hub's public key>]`.
///
/// The directory is the group, or beside a hub the witness's. Through a hub the call moves with its bytes alone, and the
/// next owner opens a socket of its own.
///
/// While the call is its own, it sends its name to the port every 2 ms, and “BYE” when it ends the call over the
/// network. An Executor begins the call; both roles take it over. It prints what its core does, and ends with the
/// order `close`.
enum CallProgram {
    /// This key must not be stored anywhere.
    static let marker = "do-not-store-this-key"
    static let kind = "test-call/1"

    static func run(_ words: [String]) async {
        do {
            guard [6, 9].contains(words.count), let port = UInt16(words[3]), let timeout = Int(words[4]),
                let answerBound = Int(words[5])
            else {
                throw SharedCoreError(.invalidArgument, "Six arguments or nine.", at: "arguments")
            }
            let isMain = words[1] == "main"
            let name = words[2]
            var options = CoordinationOptions(
                handoverTimeout: .milliseconds(timeout), handoverMaximumTimeout: .seconds(120),
                executorBudget: .seconds(600), coreLinger: .seconds(600), stopTimeout: .seconds(30))
            options.takesBatons = [kind]
            options.batonLifetime = .seconds(60)
            options.answerBound = .milliseconds(answerBound)
            let needs = words.count == 6 ? BatonNeed.descriptors : .bytes
            // Within the margin of a short lease.
            if needs == .bytes { options.stopTimeout = .seconds(1) }
            let description = SessionDescription(role: isMain ? .main : .executor, name: name)
            let group = try await open(words, as: description)
            var environment = CoordinationEnvironment()
            environment.witness = FileWitness(path: words[0] + "/witness")
            // A test process may be scheduled late.
            environment.system.batons = LocalBatonTransport(hostBound: .seconds(3), bound: .seconds(6))
            if needs == .bytes { environment.system.batons = AfarTransport() }
            let makeCore: @Sendable () -> any Core = { LineCore(name, port: port, begins: !isMain, needs: needs) }
            let close: () async -> Void
            if isMain {
                let main = try MainParticipant(of: group, options: options, environment: environment, core: makeCore)
                try await main.start()
                close = { await main.stop() }
            } else {
                let executor = try ExecutorParticipant(
                    of: group, options: options, environment: environment, core: makeCore)
                try await executor.start()
                close = { await executor.close() }
            }
            say("runs")
            let orders = AwaitedInputLines()
            while let order = await orders.next(), order != "close" {}
            await close()
            await group.close()
            say("closed")
        } catch {
            say("failed \(error)")
        }
    }

    private static func open(
        _ words: [String], as description: SessionDescription
    ) async throws -> any SharedGroup {
        guard words.count == 9 else { return try await FileGroup.open(directory: words[0], as: description) }
        #if ZMQ
            var options = ZMQGroupOptions(openTimeout: .seconds(30))
            options.keys = try CurveClientKeys(own: CurveKeyPair(secretKey: words[7]), hub: words[8])
            return try await ZMQGroup.open(
                try HubEndpoint(words[6]), group: "group", as: description, options: options)
        #else
            throw SharedCoreError(.unsupported, "It is built without ZMQ.", at: words[6])
        #endif
    }

    static func say(_ line: String) {
        print(line)
        fflush(nil)
    }
}

/// Keeps batons as usual, and reaches no other keeper, as if the others were on another machine.
private struct AfarTransport: BatonTransport {
    func keep(_ baton: Baton, of epoch: Revision) throws(SharedCoreError) -> any BatonKeeping {
        try LocalBatonTransport().keep(baton, of: epoch)
    }

    func fetch(_ record: BatonRecord) async -> Result<FetchedBaton, BatonProblem> {
        var unreached = record
        unreached.keepers = []
        return await LocalBatonTransport().fetch(unreached)
    }
}

private final class LineCore: Core {
    private struct State {
        var socket: Int32 = -1
        var isSending = false
    }

    private let name: String
    /// The port of the other side.
    private let port: UInt16
    /// True if it begins the call, false if it waits for a baton.
    private let begins: Bool
    private let needs: BatonNeed
    private let state = Mutex(State())

    init(_ name: String, port: UInt16, begins: Bool, needs: BatonNeed) {
        self.name = name
        self.port = port
        self.begins = begins
        self.needs = needs
    }

    func start(in context: CoreContext) async throws {
        if let baton = context.baton {
            guard baton.bytes == Array(CallProgram.marker.utf8) else { return }
            let socket = needs == .bytes ? Self.connected(to: port) : try baton.takeDescriptors().first ?? -1
            state.withLock { $0 = State(socket: socket) }
            let calls = try await baton.apply()
            state.withLock { $0.isSending = !calls.isEmpty }
            CallProgram.say("goes on")
            return
        }
        // The core begins the call once, and does not begin a lost call anew.
        guard begins, !Self.hasBegun.exchange(true, ordering: .relaxed), let id = CallID("call-1") else { return }
        let socket = Self.connected(to: port)
        _ = try await context.begin(
            call: CallDescription(id, .incoming, from: "sip:ann", to: "sip:bob"), in: .answered,
            moves: CallProgram.kind, needs: needs)
        state.withLock { $0 = State(socket: socket, isSending: true) }
        var status = stat()
        fstat(socket, &status)
        CallProgram.say("began \(status.st_ino)")
    }

    private static let hasBegun = Atomic(false)

    private static func connected(to port: UInt16) -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        return descriptor
    }

    func iterate(in context: CoreContext) async throws {
        while true {
            sendName()
            try await Task.sleep(for: .milliseconds(2))
        }
    }

    private func sendName() {
        state.withLock { state in
            if state.isSending { Self.send(name, through: state.socket) }
        }
    }

    private static func send(_ text: String, through socket: Int32) {
        let bytes = Array(text.utf8)
        _ = Glibc.send(socket, bytes, bytes.count, Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
    }

    private func close(saying bye: Bool) {
        let (socket, isSending) = state.withLock { state in
            defer { state = State() }
            return (state.socket, state.isSending)
        }
        guard socket >= 0 else { return }
        if bye || isSending { Self.send("BYE", through: socket) }
        Glibc.close(socket)
    }

    func stop() async { await stop(StopRequest(.closing)) }

    func stop(_ request: StopRequest) async {
        // A superseded core has no call left to end.
        if request.reason == .superseded { state.withLock { $0.isSending = false } }
        close(saying: false)
        CallProgram.say("stops \(request.reason)")
    }

    func handOver(_ request: StopRequest) async -> Baton? {
        let socket = state.withLock { state in
            defer { state.isSending = false }
            return state.isSending ? state.socket : -1
        }
        guard socket >= 0, let id = CallID("call-1") else { return nil }
        CallProgram.say("gives")
        return try? Baton(
            CallProgram.kind, bytes: Array(CallProgram.marker.utf8), descriptors: needs == .bytes ? [] : [socket],
            calls: [id])
    }

    func batonEnded(_ end: BatonEnd) async {
        close(saying: end.isOwn)
        CallProgram.say("hears \(end)")
    }
}
