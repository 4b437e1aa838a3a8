package import Coordination
internal import CoreAPI

/// A core that fetches messages from a ``SharedServer``. It delivers each message to the group, and acknowledges it to
/// the server when the delivery has returned.
struct ServedCore: Core {
    let server: SharedServer
    let settings: TestParticipantSettings
    /// The life of the simulated process in which the core runs.
    let life: SimulatedLife
    /// Collects the contexts with which cores start.
    let contexts: Box<[CoreContext]>
    /// Collects the stop request of each core.
    let requests: Box<[StopRequest]>
    /// The open calls, and the outcomes of batons here.
    let calls: Box<[String: OpenCall]>
    let batons: Box<[String]>
    /// Collects the rests and resumes of the cores.
    let rests: Box<[String]>
    private let isQuiet = Box(false)

    static let batonKind = "case/1"

    init(
        server: SharedServer, settings: TestParticipantSettings, life: SimulatedLife, contexts: Box<[CoreContext]>,
        requests: Box<[StopRequest]>, rests: Box<[String]>, calls: Box<[String: OpenCall]>, batons: Box<[String]>
    ) {
        self.server = server
        self.settings = settings
        self.life = life
        self.contexts = contexts
        self.requests = requests
        self.rests = rests
        self.calls = calls
        self.batons = batons
    }

    func rest(in context: CoreContext) async throws {
        isQuiet.update { $0 = true }
        rests.update { $0.append("rest") }
    }

    func resume(in context: CoreContext, for wake: Wake) async throws {
        rests.update { $0.append("\(wake)") }
        isQuiet.update { $0 = false }
    }

    func start(in context: CoreContext) async throws {
        contexts.update { $0.append(context) }
        try await pass(.start)
        if let baton = context.baton { try await apply(baton) }
        if settings.fails { throw PeerRefusal("the line is dead") }
        if let bound = settings.section {
            try await context.enterCriticalSection(maximumDuration: bound)
            try await server.pass("section")
            try await context.leaveCriticalSection()
        }
    }

    func iterate(in context: CoreContext) async throws {
        try await pass(.fetch)
        while true {
            for served in isQuiet.value ? [] : try server.waiting() {
                try Task.checkCancellation()
                try await context.deliver(served.message)
                try await pass(.acknowledge)
                // Stop here if the process was killed, even if that is only simulated.
                if life.isOver { throw CancellationError() }
                try server.acknowledge(served)
            }
            // The server is a directory without notifications, so the core polls it.
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    func stop(_ request: StopRequest) async {
        requests.update { $0.append(request) }
        await stop()
    }

    func stop() async {
        if let gate = settings.gates[.stop] { try? await server.pass(gate) }
    }

    private func apply(_ baton: ReceivedBaton) async throws {
        try await pass(.apply)
        do throws(SharedCoreError) {
            for call in try await baton.apply() { calls.update { $0[call.id.text] = call } }
            batons.update { $0.append("applied \(String(decoding: baton.bytes, as: UTF8.self))") }
        } catch {
            batons.update { $0.append("failed \(error.code)") }
            throw error
        }
    }

    func handOver(_ request: StopRequest) async -> Baton? {
        await stop(request)
        let given = calls.update { calls in
            defer { calls = [:] }
            return calls
        }
        return try? Baton(
            Self.batonKind, bytes: Array("line".utf8), calls: given.values.map(\.id).sorted { $0.text < $1.text })
    }

    func batonEnded(_ end: BatonEnd) async {
        if !life.isOver { batons.update { $0.append("heard \(end)") } }
    }

    private func pass(_ gate: TestParticipantSettings.Gate) async throws {
        if let name = settings.gates[gate] { try await server.pass(name) }
    }
}

/// A message as a ``SharedServer`` keeps it: lines of text.
package struct ServedMessage: Hashable, Sendable {
    /// The name of its file.
    package let name: String
    package let message: InboxMessage

    init(name: String, message: InboxMessage) {
        self.name = name
        self.message = message
    }

    /// Returns nil for a text of another form.
    init?(name: String, text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard lines.count >= 3, let callID = CallID(lines[0]), let content = InboxMessage.Content(lines: lines[2...])
        else { return nil }
        let id = lines[1].isEmpty ? MessageID(callID) : MessageID(callID, sequence: lines[1])
        guard let id else { return nil }
        self.init(name: name, message: InboxMessage(id: id, content: content))
    }

    var text: String {
        ([message.callID.text, message.id.sequence ?? ""] + message.content.lines).joined(separator: "\n")
    }
}

extension InboxMessage.Content {
    /// The content as lines: kind, sender, recipient, text; if it has more values, account, conversation, milliseconds
    /// since 1970, content type, body, and name and value of each field. A missing value is an empty line.
    var lines: [String] {
        let first = [kind.name, sender, recipient, text]
        if self == InboxMessage.Content(kind: kind, sender: sender, recipient: recipient, text: text) { return first }
        let milliseconds = time.map {
            String($0.components.seconds * 1_000 + $0.components.attoseconds / 1_000_000_000_000_000)
        }
        return first + [account ?? "", conversation ?? "", milliseconds ?? "", contentType ?? "", Base64.encode(body)]
            + fields.sorted { $0.key < $1.key }.flatMap { [$0.key, $0.value] }
    }

    /// Returns nil for lines of another form.
    init?(lines: ArraySlice<String>) {
        let lines = Array(lines)
        guard lines.count >= 4, let kind = InboxMessage.Kind(lines[0]) else { return nil }
        self.init(kind: kind, sender: lines[1], recipient: lines[2], text: lines[3])
        guard lines.count > 4 else { return }
        guard lines.count >= 9, lines.count % 2 == 1, let body = Base64.decode(lines[8]) else { return nil }
        func optional(_ line: String) -> String? { line.isEmpty ? nil : line }
        account = optional(lines[4])
        conversation = optional(lines[5])
        time = Int64(lines[6]).map { .milliseconds($0) }
        contentType = optional(lines[7])
        self.body = body
        for index in stride(from: 9, to: lines.count, by: 2) { fields[lines[index]] = lines[index + 1] }
    }
}
