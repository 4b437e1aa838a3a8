import Coordination
import CoreAPI
import InMemoryBackend
import Lifecycle
import TelephoneServer
import Telephony
import Testing

@Suite("The table of transitions, row by row, over real sockets", .timeLimit(.minutes(5)))
struct RowTests {
    @Test(
        "What is traced is what the table says, and the server was asked for what that means",
        arguments: TransitionNumber.allCases)
    func row(number: TransitionNumber) async throws {
        let row = TransitionTable.standard[number]
        let play = RowPlay.of(number)
        let stage = try await Stage()
        try await stage.reach(play.from)
        try await play.prepare(stage)
        let epoch = try #require(await stage.telephone.main.epoch)
        let requests = stage.server.requests
        let accepted = stage.server.accepted

        let trace = try await stage.after(number) { try await play.happen(stage) }

        let first = try #require(trace.first { $0.event != nil })
        let event = try #require(first.event)
        #expect(first.number == number && row.events.contains(event.kind))
        #expect(row.from.contains(first.from) && first.from == play.from)
        #expect(first.actions.map(\.action) == row.actions, "the actions of the table, in its order")
        #expect(trace.map(\.number) == play.trace, "\(trace.map(\.description))")
        #expect(trace.allSatisfy { !$0.hasFailed }, "\(trace.map(\.description))")
        let position = await stage.life.runner.position
        #expect(position == play.to)
        #expect(Array(stage.server.requests.dropFirst(requests.count)) == play.requests)
        #expect(stage.server.accepted - accepted == play.connections)
        try await play.look(stage)
        // One core all the time, and asleep its holder owns for it (contract C26).
        #expect(await stage.telephone.main.epoch == epoch)
        #expect(await stage.telephone.main.coreStarts == 1)
        #expect(await stage.telephone.main.isAtRest == (play.to.application == .suspended))
        let owner = try #require(try await GroupOwner.current(in: stage.group))
        #expect((owner.session == stage.group.session.id) == (play.to.application != .suspended))
        await stage.life.close()
    }
}

extension ConnectivityTransition {
    var hasFailed: Bool {
        if case .failed = cause { true } else { false }
    }
}
