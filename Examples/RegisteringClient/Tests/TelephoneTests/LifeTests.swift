import Lifecycle
import TelephoneServer
import Telephony
import Testing

@Suite("Between the rows of the table", .timeLimit(.minutes(5)))
struct LifeTests {
    private let foreground = LifePosition(.foreground, .connected)
    private let background = LifePosition(.background, .connected)
    private let asleep = LifePosition(.suspended, .connected)
    private let everything = [
        "REGISTER", "SUBSCRIBE reg", "SUBSCRIBE dialog", "SUBSCRIBE message-summary", "SUBSCRIBE presence",
        "PUBLISH open",
    ]

    @Test("A registration of five minutes cannot survive ten: it stays awake and says why")
    func tooShort() async throws {
        let stage = try await Stage(grant: 300)
        try await stage.reach(background)
        let trace = try await stage.after(.t6) { await stage.bring(to: .suspended) }
        #expect(await stage.life.runner.position == background)
        #expect(trace.last?.actions.map(\.action).first.map { if case .stayAwake = $0 { true } else { false } } == true)
        #expect(
            await stage.telephone.screen.last?.hasPrefix("stays awake: the registration “registration” is valid")
                == true)
        await stage.life.close()
    }

    @Test("A call keeps it awake: it sleeps when the call is over")
    func callKeepsAwake() async throws {
        let stage = try await Stage()
        try await stage.reach(background)
        try await stage.placeCall()
        try await stage.after(.t6) { await stage.bring(to: .suspended) }
        #expect(await stage.life.runner.position == background)
        try await stage.after(.t6) { try await stage.telephone.hangUp() }
        try await stage.eventually("it sleeps") { await stage.life.runner.position == asleep }
        await stage.life.close()
    }

    @Test("After a cellular call it offers to resume, and media flows again only when the user wants it")
    func cellularCall() async throws {
        let stage = try await Stage()
        try await stage.reach(foreground)
        try await stage.placeCall()
        try await stage.after(.t17) { await stage.life.runner.handle(.cellularCallBegan) }
        try await stage.after(.t17) { await stage.life.runner.handle(.cellularCallEnded) }
        #expect(await stage.telephone.screen.last == "resume the call?")
        #expect(await stage.telephone.call?.hasMedia == false)
        try await stage.telephone.resumeCall()
        #expect(await stage.telephone.call == Telephone.Call())
        #expect(stage.server.takeRequests() == ["INVITE talk", "INVITE hold", "INVITE talk"])
        await stage.life.close()
    }

    @Test("Lost in the sleep and back before the user looks: everything is made anew")
    func lostInSleep() async throws {
        let stage = try await Stage()
        try await stage.reach(LifePosition(.suspended, .disconnected))
        try await stage.after(.t14) { try stage.gainNetwork() }
        #expect(stage.server.takeRequests() == [])
        try await stage.after(.t16) { await stage.bring(to: .foreground) }
        #expect(await stage.life.runner.position == foreground)
        #expect(stage.server.takeRequests() == everything)
        await stage.life.close()
    }

    @Test("A server that is not there yet is tried again in the foreground, after a while each time")
    func backOff() async throws {
        let stage = try await Stage()
        try await stage.reach(LifePosition(.foreground, .disconnected))
        // The network is there and the server is not.
        stage.server.close()
        try await stage.eventually("the connection has ended") { await !stage.telephone.client.isConnected }
        try await stage.after(.t2) { stage.gainNetworkOnly() }
        for _ in 0..<3 {
            let failures = await stage.failures
            stage.clock.advance(by: .seconds(300))
            try await stage.eventually("another attempt fails") { await stage.failures > failures }
        }
        try stage.server.heal()
        stage.clock.advance(by: .seconds(300))
        try await stage.eventually("it is registered") { await stage.life.runner.isRegistered }
        await stage.life.runner.settle()
        #expect(stage.server.takeRequests() == everything)
        await stage.life.close()
    }

    @Test("In the background there is one attempt, and no other")
    func noBackOffInBackground() async throws {
        let stage = try await Stage()
        try await stage.reach(LifePosition(.background, .disconnected))
        // The network is there and the server is not.
        try await stage.after(.t4) { stage.gainNetworkOnly() }
        #expect(await stage.failures == 1)
        let trace = await stage.life.runner.trace.count
        stage.clock.advance(by: .seconds(500))
        // What comes next is what happens next: nothing was tried in between.
        try await stage.after(.t9) { await stage.bring(to: .foreground) }
        #expect(await stage.life.runner.trace[trace].number == .t9)
        await stage.life.close()
    }

    @Test("A keep-alive without a network finds none, and goes back to sleep")
    func keepAliveWithoutNetwork() async throws {
        let stage = try await Stage()
        try await stage.reach(LifePosition(.suspended, .disconnected))
        try await stage.after(.t15) { stage.passTenMinutes() }
        #expect(await stage.life.runner.position == LifePosition(.suspended, .disconnected))
        try stage.server.heal()
        try await stage.after(.t15) { stage.passTenMinutes() }
        #expect(await stage.life.runner.position == asleep)
        #expect(stage.server.takeRequests() == ["REGISTER"])
        await stage.life.close()
    }

    @Test("A wake that takes longer than ten seconds is over, and what came is there at the next one")
    func budget() async throws {
        let stage = try await Stage()
        try await stage.reach(asleep)
        stage.server.setMute(true)
        try await stage.happens("T11 begins") {
            try stage.server.send(text: "Lunch?")
        } until: {
            await stage.life.runner.position == background
        }
        stage.clock.advance(by: .seconds(10))
        try await stage.eventually("it sleeps again") { await stage.life.runner.position == asleep }
        await stage.life.runner.settle()
        #expect(await stage.life.runner.trace.last?.actions.map(\.action).first == .stopWork)
        #expect(await !stage.telephone.screen.contains("alert: Lunch?"))
        stage.server.setMute(false)
        try await stage.after(.t11) { try stage.server.send(text: "Well?") }
        #expect(await stage.telephone.screen.suffix(2).contains("alert: Well?"))
        #expect(await stage.telephone.screen.contains("alert: Lunch?"))
        await stage.life.close()
    }

    @Test("A web request that waits is finished in the background, and fails with the network")
    func webRequests() async throws {
        let stage = try await Stage()
        try await stage.reach(foreground)
        let first = Task { try await stage.telephone.web.get("/slow") }
        try await stage.eventually("it waits") { stage.server.requests.contains("GET /slow") }
        try await stage.after(.t8) { await stage.bring(to: .background) }
        await stage.getsNothing()
        stage.server.answerSlowRequests()
        let answer = try await first.value
        #expect(answer == "at last")

        try await stage.after(.t9) { await stage.bring(to: .foreground) }
        _ = stage.server.takeRequests()
        let second = Task { try await stage.telephone.web.get("/slow") }
        try await stage.eventually("it waits") { stage.server.requests.contains("GET /slow") }
        try await stage.after(.t8) { await stage.bring(to: .background) }
        try await stage.after(.t5) { stage.loseNetwork() }
        await #expect(throws: WebRequests.Failure.ended) { try await second.value }
        await stage.life.close()
    }

    @Test("Connected before and after, but from another address: the connection is made anew")
    func otherAddress() async throws {
        let stage = try await Stage()
        try await stage.reach(foreground)
        // As if the connection left from an address of the cable.
        stage.tellNetwork(["127.0.0.1"])
        _ = stage.server.takeRequests()
        try await stage.after(.t2) { stage.tellNetwork(["192.0.2.8"]) }
        #expect(stage.server.takeRequests() == everything)
        #expect(await stage.life.runner.trace.suffix(2).map(\.number) == [.t1, .t2])
        #expect(await stage.life.runner.position == foreground)
        await stage.life.close()
    }
}
