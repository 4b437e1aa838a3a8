import Coordination
import Foundation
import SharedCoreTesting
import Testing

@testable import messenger

/// The server refuses a second client, so a core that started beside another one would fail, and its test with it.
@Suite("The messenger's core, with its processes played in memory")
struct CoreTests {
    private let group = SimulatedGroup()

    private func withServer(
        _ body: (MessengerServer, @escaping @Sendable () -> MessengerCore) async throws -> Void
    ) async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "messenger-\(UUID())")
        defer { try? FileManager.default.removeItem(at: directory) }
        let server = try MessengerServer(directory: directory)
        try await body(server) { [clock = group.clock] in MessengerCore(server: server, clock: clock) }
    }

    @Test("A push runs the core itself, and shows its message once")
    func push() async throws {
        try await withServer { server, core in
            try server.send("Lunch?", from: "Max", as: "1")
            let push = try await group.executor("push", core: core)
            let answer = try await push.message(forCallID: "1", timeout: .seconds(20)).value
            #expect(answer.text == "Lunch?")
            #expect(answer.source == .core)
            try await push.acknowledge(answer)
            try await push.finish()
            #expect(try server.waiting().isEmpty)
            let again = try await group.executor("again", core: core)
            #expect(try await again.message(forCallID: "1", timeout: .seconds(20)).value.text == nil)
        }
    }

    @Test("Of ten pushes at once one runs the core, and all show their messages")
    func burst() async throws {
        try await withServer { server, core in
            var calls: [SimulatedRun<MessageResult>] = []
            for number in 1...10 {
                let push = try await group.executor("push \(number)", core: core)
                calls.append(push.message(forCallID: "\(number)", timeout: .seconds(20)))
            }
            try await group.advance(by: .seconds(1))
            for number in 1...10 { try server.send("number \(number)", from: "Max", as: "\(number)") }
            for (number, call) in zip(1...10, calls) { #expect(try await call.value.text == "number \(number)") }
            let timeline = try await group.timeline()
            #expect(timeline.entries.count { $0.kind == .coreStarted } == 1, "\(timeline)")
            try timeline.expectRulesHold()
        }
    }

    @Test("Main takes the core over from a push that waits, and answers it")
    func handover() async throws {
        try await withServer { server, core in
            let push = try await group.executor("push", core: core)
            let call = push.message(forCallID: "1", timeout: .seconds(20))
            try await group.advance(until: "its core runs") { try await group.owner()?.state == .running }
            let app = try await group.main("messenger", core: core)
            try await app.start()
            try server.send("Lunch?", from: "Max", as: "1")
            let answer = try await call.value
            #expect(answer.text == "Lunch?")
            #expect(answer.source == .inbox)
            let timeline = try await group.timeline()
            try timeline.expect(
                ("push", .acquired), ("messenger", .asked), ("push", .released), ("messenger", .acquired))
            try timeline.expectRulesHold()
        }
    }
}
