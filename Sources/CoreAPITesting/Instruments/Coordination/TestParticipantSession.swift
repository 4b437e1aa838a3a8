internal import Coordination
internal import CoreAPI
internal import Platform
internal import Synchronization

/// A participant of a group that executes text commands, in the process of the case or in another one.
///
/// A command that acts “as the core” uses the context of the last core that this participant has started. It answers
/// `written`, or the code of the store's refusal.
///
/// A Main:
///
/// - `start`, `takeOver`, `startInsisting`, `takeOverInsisting`: begins to start; `started` waits for the result, and
///   answers `owns <epoch>` or `failed <code>`
/// - `rest`: answers `rests` or `failed <code>`; `resume` ends the rest; `asleep` answers whether the Main rests
/// - `shown <call-id>`: acknowledges a message; answers whether it waited to be acknowledged
/// - `push`: waits for a push and answers its call-id; `handled` acknowledges it, and answers whether it was still this
///   Main's
/// - `ended`: waits for the end of the Main, and answers the reason
///
/// An Executor:
///
/// - `ask <number> <call-id> <milliseconds> [<sequence>]`, `insist ...`: begins to wait for a message
/// - `answer <number>`: waits for the result, and answers `message <source> <from> <to> <text>`, `invitation <source>
///   <from> <subject> <address>`, `tooLarge <source> <from> <to>`, `open <source> <lines of the content>`, `call
///   <source> <id> <state>`, `nothing <source>` or `failed <code>`
/// - `acknowledge <number>`: answers whether the message was still this Executor's; `giveBack <number>`
/// - `finish`: waits until no call waits here and no core runs
///
/// A holder:
///
/// - `hold`: begins; `holding` answers whether a Main rests here; `wake` wakes that Main
///
/// The core:
///
/// - `write <key> <text>`: puts an entry as the core
/// - `enter <milliseconds>`: enters a critical section as the core
/// - `begin <milliseconds> <id>`: begins an activity with this bound as the core; `end <id>` ends it
/// - `update <call-id> <text>`, `withdraw <call-id>`: changes a message as the core; answers the ``MessageChange`` or
///   the code
/// - `call <id> <state>`: begins a call as the core; `moving <id> <state> [bytes]` begins one that can move with a
///   baton, or with the bytes of a baton alone
/// - `callIs <id> <state>`: changes or ends a call; `callHas <id> <media> [<state>]` changes its media
/// - `obey <id> accept|refuse|nothing`: begins to take the commands for a call; `obeyed <id>` answers the taken ones
/// - `batons`: answers the outcomes of the batons that cores have given here
/// - `woken`: answers the rests and wakes of the last core; `stopped` answers why the last core was stopped, or `none`
///
/// Every participant:
///
/// - `calls`: answers the calls of the group, each as `<id>=<state>`; `acknowledgeCall <id>` answers whether there was
///   an ended one
/// - `send <number> <command> <id> <milliseconds>`: begins to send a command for a call; `sent <number>` waits, and
///   answers `done` or `failed <code>`
/// - `leave`: ends the participation; `close` also closes the handle
/// - `epoch`, `coreStarts`, `session`: answer the value
final class TestParticipantSession: Sendable {
    private enum Participant {
        case main(MainParticipant)
        case executor(ExecutorParticipant)
        case holder(HolderParticipant)
    }

    struct State {
        var start: Task<String, Never>?
        var answers: [String: Task<Answer, Never>] = [:]
        var sent: [String: Task<String, Never>] = [:]
    }

    struct Answer {
        let text: String
        let taken: TakenMessage?
    }

    let handle: any SharedGroup
    private let participant: Participant
    private let contexts = Box<[CoreContext]>([])
    private let requests = Box<[StopRequest]>([])
    private let rests = Box<[String]>([])
    private let activities = Box<[String: OpenActivity]>([:])
    let openCalls = Box<[String: OpenCall]>([:])
    let obeyed = Box<[String: [String]]>([:])
    let batons = Box<[String]>([])
    private let push = Box<TakenPush?>(nil)
    let state = Mutex(State())
    let life = SimulatedLife()

    /// Makes a session for a participant; the role of the handle decides which.
    ///
    /// - Parameter isSimulated: Whether the process is simulated: several participants of one process each count as one of
    ///   their own.
    init(
        on handle: any SharedGroup, at server: SharedServer, _ settings: TestParticipantSettings, isSimulated: Bool,
        clock: (any TimeSource)? = nil
    ) throws(SharedCoreError) {
        self.handle = handle
        var environment = CoordinationEnvironment(
            clock: clock ?? SystemClock(), processes: isSimulated ? UnseenProcesses() : LocalProcessControl(),
            witness: NotingWitness(at: server, in: life))
        // The session has no boot id, so for the group each such session is on another machine. Do not use the local
        // transport.
        if handle.session.process.bootID == BootID(high: 0, low: 0) { environment.system.batons = AfarTransport() }
        let core: @Sendable () -> any Core = { [life, contexts, requests, rests, openCalls, batons] in
            ServedCore(
                server: server, settings: settings, life: life, contexts: contexts, requests: requests, rests: rests,
                calls: openCalls, batons: batons)
        }
        if handle.session.role == Self.holder {
            participant = .holder(
                try HolderParticipant(of: handle, options: settings.options, environment: environment))
            return
        }
        participant =
            handle.session.role == .main
            ? .main(
                try MainParticipant(of: handle, options: settings.options, environment: environment, core: core))
            : .executor(
                try ExecutorParticipant(of: handle, options: settings.options, environment: environment, core: core))
    }

    func run(_ command: String, _ arguments: [String]) async throws(SharedCoreError) -> String {
        let first = arguments.first ?? ""
        switch command {
        case "start", "takeOver", "startInsisting", "takeOverInsisting":
            return try start(
                takingOver: command.hasPrefix("takeOver"), insisting: command.hasSuffix("Insisting"))
        case "started": return await state.withLock(\.start)?.value ?? "failed: nobody told it to start"
        case "ask", "insist": return try ask(arguments, insisting: command == "insist")
        case "answer": return try await answer(first).text
        case "acknowledge": return try await acknowledge(answer(first))
        case "giveBack": return try await giveBack(answer(first))
        case "write":
            return await written { core throws(SharedCoreError) in
                try await core.store.put(Key(first), text: arguments.dropFirst().joined(separator: " "))
            }
        case "enter":
            return await written { core throws(SharedCoreError) in
                try await core.enterCriticalSection(maximumDuration: .milliseconds(Int(first) ?? 0))
            }
        case "begin":
            let id = arguments.last ?? ""
            let kind = Activity.Kind.custom("work", bound: .milliseconds(Int(first) ?? 0))
            return await written { [activities] core throws(SharedCoreError) in
                let activity = try await core.begin(kind, id: id)
                activities.update { $0[id] = activity }
            }
        case "end":
            guard let activity = activities.value[first] else { return "failed: no such activity" }
            return await written { _ throws(SharedCoreError) in try await activity.end() }
        case "update", "withdraw":
            guard let id = CallID(first).map({ MessageID($0) }), let core = contexts.value.last else {
                return "failed: no core has started here"
            }
            let text = arguments.dropFirst().joined(separator: " ")
            let message = InboxMessage(id: id, content: .text(from: "ann", to: "bob", text: text))
            do throws(SharedCoreError) {
                let change = command == "update" ? try await core.update(message) : try await core.withdraw(id)
                return "\(change)"
            } catch {
                return error.code.description
            }
        case "shown":
            guard case .main(let main) = participant, let callID = CallID(first) else { throw Self.wrongRole("shown") }
            do throws(CoordinationError) {
                return String(try await main.acknowledge(MessageID(callID)))
            } catch {
                return "failed \(error.code)"
            }
        case "call", "moving", "batons", "callIs", "callHas", "calls", "acknowledgeCall", "obey", "obeyed", "send",
            "sent":
            return try await runCall(command, arguments)
        case "rest", "resume", "asleep", "hold", "holding", "wake": return try await runRest(command)
        case "woken": return rests.value.joined(separator: " ")
        case "push": return try await takePush()
        case "handled": return try await acknowledgePush()
        case "stopped": return requests.value.last?.reason.description ?? "none"
        case "finish":
            if case .executor(let executor) = participant { await executor.finish() }
            return ""
        case "leave":
            await leave()
            return ""
        case "close":
            await leave()
            await handle.close()
            return ""
        case "ended":
            guard case .main(let main) = participant else { return "failed: no Main" }
            return "\(await main.waitUntilEnded())"
        case "epoch": return await epoch.map(\.description) ?? "none"
        case "coreStarts": return String(await coreStarts)
        case "session": return handle.session.id.description
        default: throw SharedCoreError(.invalidArgument, "A player knows no such command.", at: command)
        }
    }

    // MARK: - Commands

    private func start(takingOver: Bool, insisting: Bool) throws(SharedCoreError) -> String {
        guard case .main(let main) = participant else { throw Self.wrongRole("start") }
        let task = Task {
            do throws(CoordinationError) {
                try await main.start(takingOver: takingOver, insisting: insisting)
                return "owns \(await main.epoch?.description ?? "no more")"
            } catch {
                return "failed \(error.code)"
            }
        }
        state.withLock { $0.start = task }
        return ""
    }

    private func ask(_ arguments: [String], insisting: Bool) throws(SharedCoreError) -> String {
        guard case .executor(let executor) = participant, arguments.count >= 3, let callID = CallID(arguments[1]),
            let id = arguments.count == 3 ? MessageID(callID) : MessageID(callID, sequence: arguments[3])
        else { throw Self.wrongRole("ask") }
        let task = Task {
            do throws(CoordinationError) {
                let answer = try await executor.message(
                    for: id, timeout: .milliseconds(Int(arguments[2]) ?? 0), insisting: insisting)
                return Self.describe(answer)
            } catch {
                return Answer(text: "failed \(error.code)", taken: nil)
            }
        }
        state.withLock { $0.answers[arguments[0]] = task }
        return ""
    }

    private static func describe(_ answer: MessageResult) -> Answer {
        let taken: TakenMessage
        switch answer.content {
        case .message(let message): taken = message
        case .call(let call):
            return Answer(text: "call \(answer.source) \(call.id) \(call.state.word)", taken: nil)
        case .nothingToShow: return Answer(text: "nothing \(answer.source)", taken: nil)
        }
        let content = taken.message.content
        let (from, to, text) = (content.sender, content.recipient, content.text)
        return switch content.kind {
        case .text: Answer(text: "message \(answer.source) \(from) \(to) \(text)", taken: taken)
        case .invitation: Answer(text: "invitation \(answer.source) \(from) \(text) \(to)", taken: taken)
        case .tooLarge: Answer(text: "tooLarge \(answer.source) \(from) \(to)", taken: taken)
        default: Answer(text: "open \(answer.source) \(content.lines.joined(separator: " "))", taken: taken)
        }
    }

    private func answer(_ number: String) async throws(SharedCoreError) -> Answer {
        guard let task = state.withLock({ $0.answers[number] }) else { throw Self.wrongRole("answer") }
        return await task.value
    }

    private func acknowledge(_ answer: Answer) async throws(SharedCoreError) -> String {
        guard case .executor(let executor) = participant, let taken = answer.taken else {
            throw Self.wrongRole("acknowledge")
        }
        do throws(CoordinationError) {
            return String(try await executor.acknowledge(taken))
        } catch {
            return "failed \(error.code)"
        }
    }

    private func giveBack(_ answer: Answer) async throws(SharedCoreError) -> String {
        guard case .executor(let executor) = participant, let taken = answer.taken else {
            throw Self.wrongRole("giveBack")
        }
        do throws(CoordinationError) {
            try await executor.giveBack(taken)
            return ""
        } catch {
            return "failed \(error.code)"
        }
    }

    private func takePush() async throws(SharedCoreError) -> String {
        guard case .main(let main) = participant else { throw Self.wrongRole("push") }
        do throws(CoordinationError) {
            var pushes = try await main.pushes().makeAsyncIterator()
            guard let taken = try await pushes.next() else { return "none" }
            push.update { $0 = taken }
            return taken.push.callID.text
        } catch {
            return "failed \(error.code)"
        }
    }

    private func acknowledgePush() async throws(SharedCoreError) -> String {
        guard case .main(let main) = participant, let taken = push.value else { throw Self.wrongRole("handled") }
        do throws(CoordinationError) {
            return String(try await main.acknowledge(taken))
        } catch {
            return "failed \(error.code)"
        }
    }

    func written(
        _ write: (CoreContext) async throws(SharedCoreError) -> Void
    ) async -> String {
        guard let core = contexts.value.last else { return "failed: no core has started here" }
        do throws(SharedCoreError) {
            try await write(core)
            return "written"
        } catch {
            return error.code.description
        }
    }

    /// The role of a holder.
    static let holder = SessionRole(rawValue: "holder")

    private func runRest(_ command: String) async throws(SharedCoreError) -> String {
        do throws(CoordinationError) {
            switch (command, participant) {
            case ("rest", .main(let main)):
                try await main.rest()
                return "rests"
            case ("resume", .main(let main)):
                try await main.resume()
                return "resumed"
            case ("asleep", .main(let main)): return String(await main.isAtRest)
            case ("hold", .holder(let holder)):
                try await holder.start()
                return "holds"
            case ("holding", .holder(let holder)): return String(await holder.isHolding)
            case ("wake", .holder(let holder)):
                await holder.wakeMain(for: .push)
                return "woken"
            default: break
            }
        } catch {
            return "failed \(error.code)"
        }
        throw Self.wrongRole(command)
    }

    private func leave() async {
        switch participant {
        case .holder(let holder): await holder.stop()
        case .main(let main): await main.stop()
        case .executor(let executor): await executor.close()
        }
    }

    private var epoch: Revision? {
        get async {
            switch participant {
            case .main(let main): await main.epoch
            case .executor(let executor): await executor.epoch
            case .holder: nil
            }
        }
    }

    private var coreStarts: Int {
        get async {
            switch participant {
            case .main(let main): await main.coreStarts
            case .executor(let executor): await executor.coreStarts
            case .holder: 0
            }
        }
    }

    private static func wrongRole(_ command: String) -> SharedCoreError {
        SharedCoreError(.invalidArgument, "This player cannot do that.", at: command)
    }
}

/// The processes of participants that run in one process and only claim to have their own: their state cannot be seen,
/// and they cannot be killed.
struct UnseenProcesses: ProcessControl {
    func kill(_ process: ProcessIdentity, unless doubt: @Sendable () async -> String?) async -> KillResult {
        .impossible("its process is only played")
    }
}
