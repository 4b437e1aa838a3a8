internal import ArgumentParser
internal import Coordination
internal import CoreAPI
internal import ExecutorRun
internal import Platform
internal import ProgramOutput
internal import SharedCoreConfiguration

/// `push`: delivers a push to the host.
struct PushCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "push", abstract: "Deliver a push to the host.",
        usage:
            "sharedcore push [<options>] <call-id>\nsharedcore push --list | --given-up | --retry | --pause | --resume\nsharedcore push --drop <call-id>",
        discussion: HelpPage.text(
            """
            The group keeps the push until an Executor has dealt with it, also while no host (“sharedcore serve”) runs. A \
            push of a type that push.routes routes to Main is kept until a Main has dealt with it or inbox.lifetime is over.

            --list lists the pushes that wait or are in hand, with the reason why each waits. --given-up lists those that \
            were given up, each with its reason. --retry puts these among the others again, as many as push.capacity \
            leaves room for. --drop forgets those of a call-id. --pause keeps the host from starting Executors until \
            --resume, also over a restart of the host: pushes wait, and Executors that run continue.
            """,
            examples: [
                "sharedcore push 17 --type call --account me@example.org", "sharedcore push --given-up",
                "sharedcore push --drop 17",
            ]))

    @OptionGroup(visibility: GlobalOptions.visibility) var global: GlobalOptions

    @Argument(help: "The call-id that the push announced.")
    var callID: String?

    @Option(help: "Its type: 1 to 64 of a-z, 0-9, “-” and “.” (default: message).")
    var type: String?

    @Option(help: "The account that it is for, 256 bytes at most.")
    var account: String?

    @Option(
        help: ArgumentHelp(
            "A file with the payload, 4096 bytes at most; “-” is standard input.", valueName: "file"),
        completion: .file())
    var payload: String?

    @Flag(help: "List the pushes that wait or are in hand, and why they wait.")
    var list = false

    @Flag(help: "Try again the pushes that were given up.")
    var retry = false

    @Flag(name: .customLong("given-up"), help: "List the pushes that were given up.")
    var givenUp = false

    @Flag(help: "Forget the pushes of this call-id that were given up.")
    var drop = false

    @Flag(help: "Have the host start no Executors: pushes wait.")
    var pause = false

    @Flag(help: "Let the host continue.")
    var resume = false

    /// The given flags that request something other than a push.
    private var acts: [String] {
        [
            ("--list", list), ("--retry", retry), ("--given-up", givenUp), ("--drop", drop), ("--pause", pause),
            ("--resume", resume),
        ]
        .filter { $0.1 }.map { $0.0 }
    }

    func validate() throws {
        if acts.count > 1 { throw ValidationError("\(acts[0]) and \(acts[1]) exclude each other.") }
        let parts = [
            ("call-id", callID != nil && !drop), ("--type", type != nil), ("--account", account != nil),
            ("--payload", payload != nil),
        ]
        if let act = acts.first, let part = parts.first(where: { $0.1 })?.0 {
            let found = part == "call-id" ? "the call-id “\(callID ?? "")”" : part
            throw ValidationError("\(act) and \(found) exclude each other.")
        }
        if drop, callID == nil { throw ValidationError("--drop needs a call-id.") }
        if acts.isEmpty, callID == nil {
            throw ValidationError(
                "A push needs a call-id; --list, --given-up, --retry, --pause and --resume need none.")
        }
        if let callID, PushID.callID(callID) == nil {
            throw ValidationError(PushID.refusal(of: callID))
        }
        if let problem = Push.problem(
            type: type ?? Push.defaultType, account: account ?? "", payloadByteCount: 0)
        {
            throw ValidationError(problem)
        }
    }

    func run(in context: CommandContext) async throws {
        if list { return try await listPending(in: context) }
        if givenUp { return try await listGivenUp(in: context) }
        if let operation {
            let receipt = try await context.perform(operation, for: "push")
            return try await context.output.confirm(text: receipt.text, json: receipt.json)
        }
        let push = try await push()
        try await context.withGroup(for: "push") { group in
            let queue = try context.resolution.pushQueue(of: group)
            let revision = try await queue.send(push)
            let route = queue.route(of: push)
            // Tell the user if there is no host: no Executor would start, and nothing else would report that.
            let isServed = try await group.get(HostRecord.key) != nil
            try await context.output.confirm(
                text: "The push waits" + (route == .main ? " for Main" : "") + ", as revision \(revision)"
                    + (isServed ? "." : "; no host serves yet (“sharedcore serve”)."),
                json: [
                    "event": "pushed", "callID": .text(push.callID.text), "revision": .natural(revision.rawValue),
                    "route": .text(route.rawValue),
                ])
        }
    }

    /// The operation to perform in place of a push; nil for a push.
    private var operation: Operation? {
        if retry { return .retryPushes }
        if drop { return callID.flatMap(PushID.callID).map { .dropPushes($0) } }
        if pause { return .pauseHost }
        return resume ? .resumeHost : nil
    }

    private func listPending(in context: CommandContext) async throws {
        try await context.withReader(for: "push") { group in
            let queue = try context.resolution.pushQueue(of: group)
            let overview = try await PushOverview(of: queue, host: try await HostOverview(of: group))
            for row in overview.rows {
                try await context.output.emit(
                    data: overview.columns(of: row).map { ValueText.oneLine($0) }.joined(separator: "\t"),
                    json: overview.json(of: row))
            }
        }
    }

    private func listGivenUp(in context: CommandContext) async throws {
        try await context.withReader(for: "push") { group in
            for record in try await context.resolution.pushQueue(of: group).givenUp() {
                let (push, reason) = (record.push, record.lastFailure ?? "")
                let words = [push.callID.text, push.type, push.account, "\(record.failures)", reason]
                try await context.output.emit(
                    data: words.map { ValueText.oneLine($0) }.joined(separator: "\t"),
                    json: record.givenUpJSON)
            }
        }
    }

    private func push() async throws -> Push {
        // Checked already.
        guard let callID = callID.flatMap(PushID.callID) else { throw CommandFailure.usage("a push needs a call-id") }
        let payload = try await readPayload()
        do throws(SharedCoreError) {
            return try Push(
                callID, type: type ?? Push.defaultType, account: account ?? "", payload: payload)
        } catch {
            throw CommandFailure.usage(error.message)
        }
    }

    private func readPayload() async throws -> [UInt8] {
        guard let payload else { return [] }
        // One more byte than allowed, which shows that there are too many.
        let limit = Push.maximumPayloadByteCount + 1
        let bytes: [UInt8]
        do {
            bytes = try await Abandonable.run(on: SerialThread(name: "input"), grace: .zero) {
                payload == "-"
                    ? try StandardStream.input.read(upTo: limit) : try SmallFile.read(payload, upTo: limit)
            }
        } catch let error as SystemCallError {
            throw CommandFailure.usage("\(payload): the file cannot be read: \(error.sentence)")
        }
        guard bytes.count < limit else {
            let place = payload == "-" ? "standard input" : "“\(payload)”"
            throw CommandFailure.usage(
                "A payload has at most \(Push.maximumPayloadByteCount) bytes; \(place) has more.")
        }
        return bytes
    }
}
