internal import Coordination
internal import CoreAPI
internal import FileNotifyBackend
internal import Platform
internal import Synchronization
internal import TestSupport

/// A participant with a contact at a registrar as its core: `<directory> <main|executor|push> <name>
/// <registrar's socket> <wake bound in ms> <bound of an owner's answer in ms>`. `push` is the Executor of a host: it
/// takes the message of its push, acknowledges it and ends.
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
            } else if words[1] == "push" {
                let executor = try ExecutorParticipant(
                    of: group, options: options, environment: environment, core: makeCore)
                let isServed = await servePush(executor)
                await executor.close()
                await group.close()
                guard isServed else { OwnProcess.exit(69) }
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

    /// Carries out the orders at the same time, until one says that the process must end.
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

    private static func servePush(_ executor: ExecutorParticipant) async -> Bool {
        guard let id = OwnProcess.text("SHAREDCORE_CALL_ID").flatMap({ CallID($0) }),
            let answer = try? await executor.message(forCallID: id, timeout: .seconds(600)),
            case .message(let message) = answer.content
        else { return false }
        return (try? await executor.acknowledge(message)) == true
    }

    fileprivate static func say(_ line: String) { CallProgram.say(line) }
}

private final class ContactCore: Core {
    private let name: String
    private let registrar: String
    private let contact = Mutex<Contact?>(nil)
    private let isQuiet = Atomic(false)

    init(_ name: String, at registrar: String) {
        self.name = name
        self.registrar = registrar
    }

    func start(in context: CoreContext) async throws {
        let new = try Contact(name, at: registrar)
        contact.withLock { $0 = new }
        RestProgram.say("starts")
    }

    func iterate(in context: CoreContext) async throws {
        guard let contact = contact.withLock({ $0 }) else { return }
        while true {
            guard !isQuiet.load(ordering: .relaxed), let text = contact.nextCall(), let id = CallID(text) else {
                try await Task.sleep(for: .milliseconds(2))
                continue
            }
            try await context.deliver(
                InboxMessage(id: MessageID(id), content: .text(from: "sip:ann", to: "sip:bob", text: "hello")))
            try contact.tookCall(text)
        }
    }

    func rest(in context: CoreContext) async throws { isQuiet.store(true, ordering: .relaxed) }

    func resume(in context: CoreContext, for wake: Wake) async throws {
        RestProgram.say("resumes \(wake)")
        isQuiet.store(false, ordering: .relaxed)
    }

    func stop() async { await stop(StopRequest(.closing)) }

    func stop(_ request: StopRequest) async {
        contact.withLock { $0 }?.leave()
        RestProgram.say("stops \(request.reason)")
    }
}
