internal import Coordination
internal import CoreAPI
internal import FileNotifyBackend
internal import Platform
internal import Synchronization

/// A participant whose core is a contact at a registrar: `<directory> <main|executor> <name> <registrar's socket>
/// <wake bound in ms> <bound of an owner's answer in ms>`.
///
/// The core registers when it starts, by a connection that ends with the core, and delivers each call that the registrar
/// sends. At rest it stays registered and reads nothing. It prints what it does. The orders are `rest`, `wait <id>` and
/// `close`.
enum RestProgram {
    static func run(_ words: [String]) async {
        do {
            guard words.count == 6, let wakeBound = Int(words[4]), let answerBound = Int(words[5]) else {
                throw SharedCoreError(.invalidArgument, "Six arguments.", at: "arguments")
            }
            let (isMain, name, registrar) = (words[1] == "main", words[2], words[3])
            var options = CoordinationOptions(
                handoverTimeout: .seconds(60), handoverMaximumTimeout: .seconds(120),
                executorBudget: .seconds(600), coreLinger: .seconds(600), stopTimeout: .seconds(30))
            options.wakeBound = .milliseconds(wakeBound)
            options.answerBound = .milliseconds(answerBound)
            let group = try await FileGroup.open(
                directory: words[0], as: SessionDescription(role: isMain ? .main : .executor, name: name))
            var environment = CoordinationEnvironment(witness: FileWitness(besideGroup: words[0]))
            environment.system.place = { [place = environment.system.place] name in
                if name.description == "rest.offered" { hasOffered.store(true, ordering: .relaxed) }
                place(name)
            }
            let makeCore: @Sendable () -> any Core = { ContactCore(name, at: registrar) }
            if isMain {
                let main = try MainParticipant(of: group, options: options, environment: environment, core: makeCore)
                try await main.start()
                say("runs")
                await obey { order in
                    if order == "rest" { await rest(main) }
                }
                await main.stop()
            } else {
                let executor = try ExecutorParticipant(
                    of: group, options: options, environment: environment, core: makeCore)
                say("runs")
                await obey { order in
                    let parts = order.split(separator: " ")
                    if parts.count == 2, let id = CallID(String(parts[1])) { await wait(for: id, executor) }
                }
                await executor.close()
            }
            await group.close()
            say("closed")
        } catch {
            say("failed \(error)")
        }
    }

    private static let hasOffered = Atomic(false)

    /// Carries out the orders, side by side, until one says that the process is to end.
    private static func obey(_ carryOut: @escaping @Sendable (String) async -> Void) async {
        let orders = AwaitedInputLines()
        while let order = await orders.next(), order != "close" { Task { await carryOut(order) } }
    }

    /// Tries until the holder has been offered the ownership.
    private static func rest(_ main: MainParticipant) async {
        while true {
            do throws(CoordinationError) {
                try await main.rest()
                return say("rests")
            } catch {
                guard !hasOffered.load(ordering: .relaxed), [.unavailable, .refused].contains(error.code) else {
                    return say("does not rest: \(error.code)")
                }
                try? await Task.sleep(for: .milliseconds(10))
            }
        }
    }

    private static func wait(for id: CallID, _ executor: ExecutorParticipant) async {
        do throws(CoordinationError) {
            say("answer \(try await executor.message(forCallID: id, timeout: .seconds(600)).source)")
        } catch {
            say("no answer: \(error.code)")
        }
    }

    fileprivate static func say(_ line: String) { CallProgram.say(line) }
}

private final class ContactCore: Core {
    private struct State {
        var connection: MessageSocket?
        var isQuiet = false
    }

    private let name: String
    private let registrar: String
    private let state = Mutex(State())

    init(_ name: String, at registrar: String) {
        self.name = name
        self.registrar = registrar
    }

    func start(in context: CoreContext) async throws {
        let connection = try MessageSocket(connectingTo: registrar)
        try connection.send(Array("register \(name)".utf8))
        state.withLock { $0.connection = connection }
        RestProgram.say("starts")
    }

    func iterate(in context: CoreContext) async throws {
        while true {
            guard let text = nextCall(), let id = CallID(text) else {
                try await Task.sleep(for: .milliseconds(2))
                continue
            }
            try await context.deliver(
                InboxMessage(id: MessageID(id), content: .text(from: "sip:ann", to: "sip:bob", text: "hello")))
            try state.withLock { try $0.connection?.send(Array("took \(text)".utf8)) }
        }
    }

    private func nextCall() -> String? {
        state.withLock { state in
            guard !state.isQuiet, case .message(let bytes, _) = state.connection?.receive(upTo: 200) else { return nil }
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    func rest(in context: CoreContext) async throws { state.withLock { $0.isQuiet = true } }

    func resume(in context: CoreContext, for wake: Wake) async throws {
        RestProgram.say("resumes \(wake)")
        state.withLock { $0.isQuiet = false }
    }

    func stop() async { await stop(StopRequest(.closing)) }

    func stop(_ request: StopRequest) async {
        state.withLock { state in
            try? state.connection?.send(Array("leave".utf8))
            state.connection = nil
        }
        RestProgram.say("stops \(request.reason)")
    }
}
