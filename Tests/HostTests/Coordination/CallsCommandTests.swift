internal import Coordination
internal import CoreAPI
internal import CoreAPITesting
internal import FileNotifyBackend
internal import TestSupport
internal import Testing

/// `sharedcore calls` beside a Main that has calls (contract C23, C24).
@Suite("The commands about calls")
struct CallsCommandTests {
    /// A core that begins a call, and carries out commands.
    private struct Telephone: Core {
        let id: CallID

        func start(in context: CoreContext) async throws {}

        func iterate(in context: CoreContext) async throws {
            let call = try await context.begin(
                call: CallDescription(id, .incoming, from: "sip:ann", to: "sip:bob", media: [.audio]), in: .ringing)
            for try await received in try await call.commands() {
                switch received.command {
                case .answer: try await call.change(to: .answered)
                case .hangUp: try await call.end(.hungUp)
                default:
                    try await received.refuse(because: "no such key")
                    continue
                }
                try await received.accept()
            }
            try await Task.sleep(for: .seconds(3600))
        }

        func stop() async {}
    }

    @Test(
        "Another process lists a call, has it answered and hung up, and acknowledges it, over files and through a hub",
        arguments: HostProgram.backends)
    func commands(backend: String) async throws {
        try await HostProgram.using(backend) { program in try await commands(of: program) }
    }

    /// Tries the commands on a group with an owner at its files. A hub may serve the group as well.
    private func commands(of program: HostProgram) async throws {
        #expect(try await program.run("store", "put", "key", "value").status == 0)
        let group = try await FileGroup.open(
            directory: program.directory.path(of: "state/sharedcore/default"), as: SessionDescription(role: .main))
        let id = try #require(CallID("ring/1"))
        try await group.withMain(core: { Telephone(id: id) }) { _ in
            try await eventually("it rings") { try await !Calls(group).list().isEmpty }
            let listed = try await program.run("calls", "--json")
            let line = try #require(try listed.objects().first)
            #expect(
                Set(line.keys) == [
                    "id", "direction", "from", "to", "account", "media", "state", "reason", "text", "holder", "moving",
                    "began", "answered", "ended",
                ])
            #expect(line["id"] == .text("ring/1") && line["state"] == .text("ringing"))
            let status = try #require(try await program.run("status", "--json").objects().first)
            #expect(status["calls"] == .object(["open": .number(1), "moving": .number(0), "ended": .number(0)]))

            #expect(try await program.run("calls", "acknowledge", "ring/1").status == 1)
            let answered = try await program.run("calls", "answer", "ring/1", "--timeout", "200s", "--json")
            #expect(answered.status == 0, "\(answered.errors)")
            #expect(try answered.objects().first?["outcome"] == .text("done"))
            let refused = try await program.run("calls", "hold", "ring/1", "--timeout", "200s")
            #expect(refused.status == 1 && refused.errors.contains("no such key"), "\(refused)")
            #expect(try await program.run("calls", "hang-up", "ring/1", "--timeout", "200s").status == 0)
            let unknown = try await program.run("calls", "decline", "ring/1")
            #expect(unknown.status == 1 && unknown.errors.contains("notFound"), "\(unknown)")

            let watched = try await program.run("calls", "watch", "--count", "1", "--json")
            #expect(try watched.objects().first?["reason"] == .text("hungUp"))
            let executor = try await program.run("executor", "--call-id", "ring/1", "--timeout", "200s", "--json")
            #expect(try executor.objects().first?["event"] == .text("call"), "\(executor)")
            #expect(try executor.objects().first?["text"] == .text("hungUp"))
            // Shown and acknowledged.
            #expect(try await Calls(group).list().isEmpty)
            let again = try await program.run("executor", "--call-id", "ring/1", "--timeout", "200s", "--json")
            #expect(try again.objects().first?["event"] == .text("nothing"))
            #expect(try await program.run("calls", "acknowledge", "ring/1").status == 1)
        }
    }
}
